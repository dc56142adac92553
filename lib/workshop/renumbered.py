"""Copies that bear an earlier number of their lesson. Its name says which it is: `11_transformer_layers` is 12 now."""

import os
import re
from collections.abc import Collection
from pathlib import Path

_FILE = re.compile(r"\d\d_(\w+\.ipynb)")


def renumbered(folder: Path, lessons: Collection[str]) -> dict[str, str]:
    """What lies in a folder under an earlier number of a lesson, by file name, and what the lesson is called today.

    lessons: the file names of all of today's.
    """
    today = {file[1]: lesson for lesson in lessons if (file := _FILE.fullmatch(lesson))}
    others = (_FILE.fullmatch(name) for name in sorted(_names(folder)) if name not in lessons)
    return {file[0]: today[file[1]] for file in others if file and file[1] in today}


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # no folder, or one that cannot be opened: there are no copies in it
        return []
