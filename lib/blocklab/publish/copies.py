"""Copies of the lessons to work in, so that a learner's answers never touch the built notebooks."""

import json
from collections.abc import Callable

from blocklab.language import LANGUAGES

from .project import Project

VIEW = "application/vnd.jupyter.widget-view+json"


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
                copy.write_bytes(without_widgets(lesson.read_bytes()))
                added += 1
    say(f"my/: {added} copied, {there} left as they are")


def without_widgets(lesson: bytes) -> bytes:
    """A notebook whose panels are pictures, until a kernel runs their cells.

    A front end that trusts a notebook looks for its widgets first, and where no kernel has made them it says so and
    shows no picture. What is no notebook is left as it is.
    """
    try:
        notebook = json.loads(lesson)
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
        views = [output["data"].pop(VIEW) for output in outputs if VIEW in output.get("data", {})]
        pictures = json.dumps(notebook, indent=1, ensure_ascii=False).encode() + b"\n"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return lesson
    return pictures if views else lesson
