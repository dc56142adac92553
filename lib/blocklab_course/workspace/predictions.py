"""The learner's predictions: one line of JSON each, in a file in the learner's folder."""

import json
from contextlib import suppress
from pathlib import Path

from .files import Unreadable, append, read_at_most
from .folder import PREDICTIONS_FILE, workspace_folder

MAX_BYTES = 10_000_000  # a thousand times the predictions of all lessons
LESSONS_PACKAGE, WITHOUT_FIGURE = "blocklab_course.lessons.", "predict."


def record(asker: str, chose: str | None, right: bool | None) -> None:
    """Save the answer to a prediction in a lesson, unless one is saved already: only the first answer counts.

    asker: the module of the figure that asks, or "predict." and the name of a question without one; the same in both
    languages. chose: the chosen option in English, or the number; it and `right` are None if the learner skipped the
    question. Without a learner's folder, or if it cannot be written to, nothing is saved.
    """
    folder = workspace_folder()
    if folder is None or not asker.startswith((LESSONS_PACKAGE, WITHOUT_FIGURE)):
        return
    if asker.startswith(WITHOUT_FIGURE):  # its name is unique in the course, so the lesson stays empty
        lesson, panel = "", asker.removeprefix(WITHOUT_FIGURE)
    else:
        lesson, _, panel = asker.removeprefix(LESSONS_PACKAGE).partition(".")
    with suppress(OSError, Unreadable):
        if (lesson, panel) not in _read_answers(folder / PREDICTIONS_FILE):
            folder.mkdir(exist_ok=True)
            _append(folder / PREDICTIONS_FILE, {"lesson": lesson, "panel": panel, "chose": chose, "right": right})


def count_predictions(folder: Path | None = None) -> tuple[int, int]:
    """The number of predictions that a learner made, without skipped ones, and how many of them were right.

    folder: the learner's folder; by default that of the running notebook.
    """
    folder = folder or workspace_folder()
    answers = {} if folder is None else _read_answers(folder / PREDICTIONS_FILE)
    judged = [right for right in answers.values() if right is not None]
    return len(judged), sum(judged)


def _read_answers(file: Path) -> dict[tuple[str, str], bool | None]:
    """Whether the first answer was right, by lesson and panel. Damaged lines are ignored."""
    found = {}
    for line in _read_text(file).split("\n"):
        with suppress(ValueError):
            match json.loads(line):
                case {"lesson": str(lesson), "panel": str(panel), "right": bool() | None as right}:
                    found.setdefault((lesson, panel), right)
    return found


def _read_text(file: Path) -> str:
    """The text of a file, empty if it cannot be read."""
    try:
        return read_at_most(file, MAX_BYTES).decode("utf-8", "replace")
    except (OSError, Unreadable):
        return ""


def _append(file: Path, entry: dict) -> None:
    """Add a line, on a line of its own even if the last one is incomplete."""
    incomplete = _read_text(file)[-1:] not in ("", "\n")
    append(file, ("\n" * incomplete + json.dumps(entry, ensure_ascii=False) + "\n").encode())
