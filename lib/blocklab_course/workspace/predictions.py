"""The predictions that a learner has made: a line of JSON each, in the learner's own folder and nowhere else."""

import json
from contextlib import suppress
from pathlib import Path

from blocklab.my_files import PREDICTIONS

from .folder import workspace_folder

MOST = 2**16  # bytes that are read; a prediction takes about a hundred, and a lesson asks for a few
ROOMS = "blocklab_course.lessons."


def record(picture: str, chose: str | None, right: bool | None) -> None:
    """Note what was guessed at a lesson's picture, named by its module, unless there is an answer to it already.

    In another language it is the same picture. chose: the option in English; it and right are None for a guess that
    was skipped. Where nothing can be written, nothing is noted.
    """
    folder = workspace_folder()
    if folder is None or not picture.startswith(ROOMS):
        return
    lesson, _, panel = picture.removeprefix(ROOMS).partition(".")
    with suppress(OSError):
        if (lesson, panel) not in _noted(folder / PREDICTIONS):
            folder.mkdir(exist_ok=True)
            _append(folder / PREDICTIONS, {"lesson": lesson, "panel": panel, "chose": chose, "right": right})


def predictions(folder: Path | None = None) -> tuple[int, int]:
    """How many predictions a learner has made, and how many of them were right; skipped ones do not count.

    folder: the learner's; without it the one around this lesson.
    """
    folder = folder or workspace_folder()
    noted = {} if folder is None else _noted(folder / PREDICTIONS)
    judged = [right for right in noted.values() if right is not None]
    return len(judged), sum(judged)


def _noted(file: Path) -> dict[tuple[str, str], bool | None]:
    """Of every lesson's panel whether the first answer was right. Lines that say something else are passed over."""
    found = {}
    for line in _content(file).split("\n"):
        with suppress(ValueError, RecursionError):
            match json.loads(line):
                case {"lesson": str(lesson), "panel": str(panel), "right": bool() | None as right}:
                    found.setdefault((lesson, panel), right)
    return found


def _content(file: Path) -> str:
    """The beginning of a file; nothing of what is no file, such as a pipe, which would never end."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as opened:
            return opened.read(MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def _append(file: Path, entry: dict) -> None:
    """Add a line, also while the kernel of another lesson adds one, and after one that was torn."""
    if file.exists() and (not file.is_file() or file.stat().st_size >= MOST):
        return
    torn = _content(file)[-1:] not in ("", "\n")
    line = "\n" * torn + json.dumps(entry, ensure_ascii=False) + "\n"
    with file.open("ab", buffering=0) as opened:  # one write, which the system puts at the end in one piece
        opened.write(line.encode())
