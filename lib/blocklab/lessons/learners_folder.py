"""Where what a learner does is kept."""

import sys
from pathlib import Path

from blocklab.language import LANGUAGES

NAME = "my"


def learners_folder() -> Path | None:
    """The folder `my/` around the learner's copy of a lesson; on Colab one in the session's folder, made when needed.

    None elsewhere: the lessons as they are built, tests and other people's notebooks leave nothing behind.
    """
    try:
        here = Path.cwd()  # a kernel starts beside its notebook: in my/en or my/zh
    except OSError:  # that folder is gone
        return None
    if "google.colab" in sys.modules:
        return here / NAME
    return here.parent if here.name in LANGUAGES and here.parent.name == NAME else None
