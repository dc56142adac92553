"""How far a learner has come: `progress_page()` in lesson 00, or `python -m blocklab.progress` in a terminal."""

from blocklab.lessons.learners_folder import learners_folder

from .page import ProgressPage
from .reading import read

__all__ = ["progress_page"]


def progress_page() -> ProgressPage:
    """What the learner's own folder tells: exercises passed, guesses, kept blocks, mistakes to look at again.

    And five questions from lessons already done. Outside of a learner's folder the page says how it will fill.
    """
    folder = learners_folder()
    return ProgressPage(folder and read(folder))
