"""The learner's folder, `my/`: where it is, and the names of the files in it."""

import os
import sys
from pathlib import Path

from blocklab_course.i18n import LANGUAGES

FOLDER_NAME = "my"
PREDICTIONS_FILE = "predictions.jsonl"
SOLUTIONS_FOLDER = "blocks"


def workspace_folder() -> Path | None:
    """The learner's folder; None if the notebook that runs is not a learner's copy of a lesson.

    A copy is in `my/en` or `my/zh`. On a JupyterHub, `notebooks/` counts too, because each student has a repository of
    their own. On Colab it is `my/` in the session's folder, which may not exist yet. Built lessons, tests and other
    notebooks have no such folder, and so leave no files behind.
    """
    try:
        here = Path.cwd()  # a Jupyter kernel starts in the folder of its notebook
    except OSError:  # the folder was deleted
        return None
    if on_colab():
        return here / FOLDER_NAME
    names = (FOLDER_NAME, "notebooks") if on_hub() else (FOLDER_NAME,)
    return here.parent if here.name in LANGUAGES and here.parent.name in names else None


def on_colab() -> bool:
    """Whether this is Colab, which deletes all files when the session ends."""
    return "google.colab" in sys.modules


def on_hub() -> bool:
    """Whether this is a student's server on a JupyterHub."""
    return "JUPYTERHUB_USER" in os.environ


def is_beside_notebooks(file: str) -> bool:
    """Whether a file is in the folder of the learner's notebooks or below it."""
    here = Path.cwd()
    return Path(file).resolve().is_relative_to((here.parent if here.name in LANGUAGES else here).resolve())
