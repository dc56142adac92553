"""Copies that bear an earlier number of their lesson, which is known by its name: `11_transformer_layers` is 12 today."""

import os
import re
from collections.abc import Collection
from pathlib import Path

_FILE = re.compile(r"\d\d_(\w+\.ipynb)")


def renumbered(folder: Path, lessons: Collection[str]) -> dict[str, str]:
    """By file name what lies in a folder under an earlier number of a lesson, and what the lesson's file is called today.

    lessons: the file names of all lessons of today.
    """
    today = {file[1]: lesson for lesson in lessons if (file := _FILE.fullmatch(lesson))}
    others = (_FILE.fullmatch(name) for name in sorted(_names(folder)) if name not in lessons)
    return {file[0]: today[file[1]] for file in others if file and file[1] in today}


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # no folder, or one that cannot be opened: there are no copies in it
        return []
