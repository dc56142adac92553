"""A learner's progress: `progress_page()` in lesson 00, or `python -m blocklab_course.progress` in a terminal."""

from blocklab_course.workspace.folder import workspace_folder

from .collect import collect
from .page import ProgressPage

__all__ = ["progress_page"]


def progress_page() -> ProgressPage:
    """The progress recorded in the learner's folder, and five questions from lessons already completed.

    Outside of a learner's folder, the page explains what it will show.
    """
    folder = workspace_folder()
    return ProgressPage(folder and collect(folder))
