"""How far a learner has come: `progress_page()` in lesson 00, or `python -m blocklab_course.progress` in a terminal."""

from blocklab_course.workspace.folder import workspace_folder

from .collect import collect
from .page import ProgressPage

__all__ = ["progress_page"]


def progress_page() -> ProgressPage:
    """What the learner's own folder tells: exercises passed, guesses, kept blocks, mistakes to look at again.

    And five questions from lessons already done. Outside of a learner's folder the page says how it will fill.
    """
    folder = workspace_folder()
    return ProgressPage(folder and collect(folder))
