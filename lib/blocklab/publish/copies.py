"""Copies of the lessons to work in, so that a learner's answers never touch the built notebooks."""

import shutil
from collections.abc import Callable

from blocklab.language import LANGUAGES

from .project import Project


def copy_lessons(project: Project, fresh: bool = False, say: Callable[[str], None] = print) -> None:
    """Copy notebooks/en and notebooks/zh to my/. A file that is there is never touched; new lessons are added.

    `fresh` keeps the old folder as my-before-1, -2, … and copies anew.
    """
    mine = project.root / "my"
    if fresh and mine.exists():
        kept = next(path for n in range(1, 10_000) if not (path := project.root / f"my-before-{n}").exists())
        mine.rename(kept)
        say(f"kept your old copies in {kept.name}/")
    added, there = 0, 0
    for language in LANGUAGES:
        folder = mine / language
        folder.mkdir(parents=True, exist_ok=True)
        for lesson in sorted((project.root / "notebooks" / language).glob("*.ipynb")):
            copy = folder / lesson.name
            if copy.exists():
                there += 1
            else:
                shutil.copyfile(lesson, copy)  # not copy(): a copy of a read-only lesson can be written
                added += 1
    say(f"my/: {added} copied, {there} left as they are")
