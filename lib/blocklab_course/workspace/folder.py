"""Where what a learner does is kept."""

import os
import sys
from pathlib import Path

from blocklab_course.i18n import LANGUAGES

NAME = "my"
BUILT = "notebooks"


def workspace_folder() -> Path | None:
    """The folder `my/` around the learner's copy of a lesson; on Colab one in the session's folder, made when needed.

    On a JupyterHub `notebooks/` too, for there each student has the whole repository to themselves. None elsewhere: the
    lessons as they are built, tests and other people's notebooks leave nothing behind.
    """
    try:
        here = Path.cwd()  # a kernel starts beside its notebook: in my/en or my/zh
    except OSError:  # that folder is gone
        return None
    if on_colab():
        return here / NAME
    own = (NAME, BUILT) if on_hub() else (NAME,)
    return here.parent if here.name in LANGUAGES and here.parent.name in own else None


def on_colab() -> bool:
    """Whether this is Colab, which forgets what lies in its session's folder."""
    return "google.colab" in sys.modules


def on_hub() -> bool:
    """Whether this is a student's server on a JupyterHub."""
    return "JUPYTERHUB_USER" in os.environ


def is_beside_notebooks(file: str) -> bool:
    """Whether a file lies where the learner's notebooks do, or below."""
    here = Path.cwd()
    return Path(file).resolve().is_relative_to((here.parent if here.name in LANGUAGES else here).resolve())
