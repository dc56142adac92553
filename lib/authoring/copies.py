"""Copies of the lessons to work in, so that a learner's answers never touch the built notebooks."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from blocklab_course.i18n import LANGUAGES, Text
from blocklab_course.workspace.files import atomic_write
from blocklab_course.workspace.folder import PREDICTIONS_FILE, SOLUTIONS_FOLDER

from .answers import as_bytes, carry_over
from .hidden_outputs import remove_hidden
from .problem import BuildError
from .project import Project

VIEW = "application/vnd.jupyter.widget-view+json"

KEPT = Text(en="kept your old copies in {kept}/", zh="原来的副本保留在 {kept}/")
COPIED = Text(en="my/: {added} copied, {there} left as they are", zh="my/：新复制 {added} 份，{there} 份保持原样")
CARRIED = Text(en="{new}: answers taken over: {carried}", zh="{new}：带过来 {carried} 个答案")
LEFT = Text(
    en="{old}: answers to exercises that have changed stay here: {left}",
    zh="{old}：这些练习已经改了，答案留在原处：{left}",
)
UNREAD = Text(en="{old}: cannot be read; its answers stay here", zh="{old}：无法读取；里面的答案留在原处")


def copy_lessons(project: Project, fresh: bool = False, say: Callable[[str], None] = print) -> None:
    """Copy notebooks/en and notebooks/zh to my/. A file that is there is never touched; new lessons are added.

    `fresh` keeps the old folder as my-before-1, -2, … and copies anew, with the learner's answers, guesses and blocks.
    """
    mine = project.root / "my"
    if fresh and mine.exists():
        _renew(project, mine, say)
    else:
        added, there = _copy_missing(project, mine)
        say(COPIED.format(added=added, there=there))


def _copy_missing(project: Project, mine: Path) -> tuple[int, int]:
    """How many lessons were copied, and how many were there."""
    added = there = 0
    for language in LANGUAGES:
        (mine / language).mkdir(parents=True, exist_ok=True)
        lessons = sorted(project.notebooks(language).glob("*.ipynb"))
        if not lessons:
            raise BuildError(f"{project.show(project.notebooks(language))}: there are no lessons")
        for lesson in lessons:
            copy = mine / language / lesson.name
            if copy.exists():
                there += 1
            else:
                atomic_write(copy, prepare_copy(lesson.read_bytes()))
                added += 1
    return added, there


def _renew(project: Project, mine: Path, say: Callable[[str], None]) -> None:
    """Put new copies in place of the old ones, once all are made: until then nothing that is there is moved."""
    kept = next(path for n in range(1, 10_000) if not (path := mine.with_name(f"my-before-{n}")).exists())
    with TemporaryDirectory(prefix="my-new-", dir=project.root) as temporary:
        new = Path(temporary) / mine.name
        added, _ = _copy_missing(project, new)
        said = [KEPT.format(kept=kept.name)]
        for copy in sorted(new.glob("*/*.ipynb")):
            inside = copy.relative_to(new)
            if (mine / inside).exists():
                shown = (f"{folder.name}/{inside.as_posix()}" for folder in (mine, kept))
                said += _carry(mine / inside, copy, *shown)
        if (mine / PREDICTIONS_FILE).exists():
            shutil.copy(mine / PREDICTIONS_FILE, new)
        if (mine / SOLUTIONS_FOLDER).exists():
            shutil.copytree(mine / SOLUTIONS_FOLDER, new / SOLUTIONS_FOLDER)
        mine.rename(kept)
        new.rename(mine)
    for line in (*said, COPIED.format(added=added, there=0)):
        say(line)


def _carry(old: Path, new: Path, shown: str, kept: str) -> list[str]:
    """Carry the answers of an old copy over into the new one; what is to be said of them."""
    lesson = json.loads(new.read_bytes())
    try:
        carried, left = carry_over(json.loads(old.read_bytes()), lesson)
    except (ValueError, LookupError, TypeError, AttributeError):
        return [UNREAD.format(old=kept)]
    if carried:
        atomic_write(new, as_bytes(lesson))
    said = [CARRIED.format(new=shown, carried=carried)] * bool(carried)
    return said + [LEFT.format(old=kept, left=", ".join(left))] * bool(left)


def prepare_copy(lesson: bytes) -> bytes:
    """A notebook whose panels are pictures, and which holds no answer to a prediction, until a kernel runs the cells.

    A front end that trusts a notebook looks for its widgets first, and where no kernel has made them it says so and
    shows no picture.
    """
    notebook = json.loads(lesson)
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    left_out = [output["data"].pop(VIEW) for output in outputs if VIEW in output.get("data", {})]
    left_out += remove_hidden(notebook)
    return as_bytes(notebook) if left_out else lesson
