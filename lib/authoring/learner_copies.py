"""Copy the built lessons to `my/`, where a learner works, and carry the learner's answers over into newer lessons."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from blocklab_course.gradebook.submissions import submitted_exercises
from blocklab_course.i18n import LANGUAGES, Text
from blocklab_course.workspace.files import atomic_write
from blocklab_course.workspace.folder import PREDICTIONS_FILE, SOLUTIONS_FOLDER

from .hidden_outputs import METADATA_KEY, remove_hidden
from .lab_workspace import name_kernel, to_bytes, trust, write_workspace
from .problem import BuildError
from .project import Project, number_of

VIEW, PNG, HTML = "application/vnd.jupyter.widget-view+json", "image/png", "text/html"

KEPT = Text(en="kept your old copies in {kept}/", zh="原来的副本保留在 {kept}/")
COPIED = Text(en="my/: {added} copied, {there} left as they are", zh="my/：新复制 {added} 份，{there} 份保持原样")
RENAMED = Text(en="{old}: renamed to {new}, its new number", zh="{old}：已改名为 {new}，因为课的编号变了")
CARRIED = Text(en="{new}: answers taken over: {carried}", zh="{new}：带过来 {carried} 个答案")
LEFT = Text(
    en="{old}: answers to exercises that have changed stay here: {left}",
    zh="{old}：这些练习已经改了，答案留在原处：{left}",
)
UNREAD = Text(en="{old}: cannot be read; its answers stay here", zh="{old}：无法读取；里面的答案留在原处")


def copy_lessons(project: Project, fresh: bool = False, say: Callable[[str], None] = print) -> None:
    """Copy notebooks/en and notebooks/zh to my/, except lessons that are already there.

    `fresh` renames the old folder to my-before-1, -2, … and copies every lesson again, with the learner's answers,
    predictions and saved solutions.
    """
    mine = project.root / "my"
    if mine.exists():
        _follow_new_numbers(project, mine, say)
    if fresh and mine.exists():
        _renew(project, mine, say)
    else:
        added, there = _copy_missing(project, mine)
        trust(added)
        say(COPIED.format(added=len(added), there=there))


def _follow_new_numbers(project: Project, mine: Path, say: Callable[[str], None]) -> None:
    """Rename copies of lessons that have a new number, so that links lead to them."""
    for language in LANGUAGES:
        for lesson in sorted(project.notebooks(language).glob("*.ipynb")):
            copy = mine / language / lesson.name
            old = [file for file in copy.parent.glob(f"[0-9][0-9]{lesson.name[2:]}") if number_of(lesson.stem)]
            if len(old) == 1 and not copy.exists():
                old[0].rename(copy)
                say(RENAMED.format(old=f"my/{language}/{old[0].name}", new=copy.name))


def _copy_missing(project: Project, mine: Path) -> tuple[list[Path], int]:
    """Copy the lessons that are missing. Return the new copies, and how many were there."""
    added, there = [], 0
    for language in LANGUAGES:
        (mine / language).mkdir(parents=True, exist_ok=True)
        lessons = sorted(project.notebooks(language).glob("*.ipynb"))
        if not lessons:
            raise BuildError(f"{project.show(project.notebooks(language))}: no lessons found")
        for lesson in lessons:
            copy = mine / language / lesson.name
            if copy.exists():
                there += 1
            else:
                atomic_write(copy, name_kernel(prepare_copy(lesson.read_bytes())))
                added.append(copy)
    write_workspace(mine)
    return added, there


def _renew(project: Project, mine: Path, say: Callable[[str], None]) -> None:
    """Replace the copies by new ones. Nothing moves before all new copies are written."""
    backup = next(path for n in range(1, 10_000) if not (path := mine.with_name(f"my-before-{n}")).exists())
    with TemporaryDirectory(prefix="my-new-", dir=project.root) as temporary:
        new = Path(temporary) / mine.name
        added, _ = _copy_missing(project, new)
        messages = [KEPT.format(kept=backup.name)]
        for copy in sorted(new.glob("*/*.ipynb")):
            name = copy.relative_to(new)
            if (mine / name).exists():
                labels = (f"{folder.name}/{name.as_posix()}" for folder in (mine, backup))
                messages += _carry_file(mine / name, copy, *labels)
        if (mine / PREDICTIONS_FILE).exists():
            shutil.copy(mine / PREDICTIONS_FILE, new)
        if (mine / SOLUTIONS_FOLDER).exists():
            shutil.copytree(mine / SOLUTIONS_FOLDER, new / SOLUTIONS_FOLDER)
        trust(added)
        mine.rename(backup)
        new.rename(mine)
    for message in (*messages, COPIED.format(added=len(added), there=0)):
        say(message)


def _carry_file(old: Path, new: Path, new_label: str, old_label: str) -> list[str]:
    """Carry the answers in one file over into another. Return the messages for the learner."""
    lesson = json.loads(new.read_bytes())
    try:
        carried, left = carry_over(json.loads(old.read_bytes()), lesson)
    except (ValueError, LookupError, TypeError, AttributeError):
        return [UNREAD.format(old=old_label)]
    if carried:
        atomic_write(new, to_bytes(lesson))
    messages = [CARRIED.format(new=new_label, carried=carried)] * bool(carried)
    return messages + [LEFT.format(old=old_label, left=", ".join(left))] * bool(left)


def carry_over(old: dict, new: dict) -> tuple[int, list[str]]:
    """Put the answers of an old notebook into the new one, to the same exercises; without a name, to the same cell.

    Return how many were carried over, and the exercises whose answers no longer have a cell.
    """
    cells = _exercise_cells(new)
    carried, left = 0, []
    for answer in _exercise_cells(old):
        cell = next((cell for cell in cells if _is_answer_to(cell, answer)), None)
        if cell is None:
            left += sorted(submitted_exercises("".join(answer["source"])))
        elif "".join(answer["source"]) != "".join(cell["source"]):
            cell.update(source=answer["source"], outputs=[], execution_count=None)
            carried += 1
    return carried, left


def _is_answer_to(cell: dict, answer: dict) -> bool:
    """Whether an old cell answers a new one. Exercises keep their names when a lesson is rewritten."""
    asked, handed_in = (submitted_exercises("".join(one["source"])) for one in (cell, answer))
    return asked <= handed_in if asked else cell["id"] == answer.get("id")


def _exercise_cells(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if "exercise" in cell["metadata"].get("tags", ())]


def prepare_copy(lesson: bytes) -> bytes:
    """The notebook as if it had never run, except for pictures and questions, which say how to bring them to life."""
    notebook = json.loads(lesson)
    remove_hidden(notebook)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
            cell["outputs"] = [part for output in cell["outputs"] for part in _unrun(output)]
    return to_bytes(notebook)


def _unrun(output: dict) -> list[dict]:
    """The picture in an output, between what stands above and below it, or its question; nothing for any other output.

    They are separate outputs, because JupyterLab removes pictures from the HTML of a notebook that is not trusted. A
    widget that no kernel has made would show an error in place of the picture.
    """
    kinds = output.get("data", {}).keys()
    if not (PNG in kinds or {VIEW, HTML} <= kinds):
        return []
    picture = {kind: data for kind, data in output["data"].items() if kind != VIEW}
    around = output["metadata"].pop(METADATA_KEY, {})
    parts = [around.get("above"), picture, around.get("below")]
    shown = [{HTML: part} if isinstance(part, str) else part for part in parts if part]
    metadata = [output["metadata"] if part is picture else {} for part in shown]
    return [
        {"output_type": "display_data", "data": data, "metadata": own}
        for data, own in zip(shown, metadata, strict=True)
    ]
