"""Find and read untrusted notebooks: only regular files, and with limits on their size."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from blocklab_course.i18n import Text
from blocklab_course.workspace.files import LINK, Unreadable, read_regular_file, why_not_opened

MAX_BYTES = 50_000_000  # a hundred times the size of the longest lesson with its pictures
MAX_VALUES = 500_000  # about a hundred times as many as in the longest lesson; each takes up to 0.5 kB when parsed

TOO_MANY = Text(en="more than {most:,} values", zh="里面的数据超过 {most:,} 项")
NO_CELLS = Text(en="not a notebook: it has no list of cells", zh="不是笔记本：没有单元格列表")
NOT_READ = Text(en="cannot be read: {why}", zh="无法读取：{why}")


@dataclass(frozen=True)
class Cell:
    """A code cell, its number in the notebook, and whether it is an exercise or the lesson's solution.

    folded: it may be a solution, because it is folded in a notebook that has lost its tags.
    """

    number: int
    id: object
    source: str
    outputs: object
    exercise: bool
    solution: bool
    folded: bool


def walk(folder: Path) -> tuple[list[Path], dict[Path, str]]:
    """All paths in a folder, without hidden folders, and the folders not looked into, with reasons: links, for one.

    Iterative, because folders may be nested deeper than Python's recursion limit.
    """
    paths, closed, waiting = [], {}, [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                found = list(entries)
        except OSError as error:
            closed[here] = why_not_opened(error)
            continue
        for entry in found:
            path, is_folder = Path(entry), entry.is_dir(follow_symlinks=False)
            if not is_folder and os.path.isdir(path):
                closed[path] = str(LINK)
            elif not (is_folder and entry.name.startswith(".")):  # .ipynb_checkpoints, .git, .venv
                paths.append(path)
                waiting += [path] * is_folder
    inside = sorted(path.relative_to(folder) for path in paths)
    return inside, {path.relative_to(folder): why for path, why in closed.items()}


def is_notebook(path: Path) -> bool:
    """Whether the name is a notebook's. macOS archives hold a `._` copy of each file, which is none."""
    return path.name.lower().endswith(".ipynb") and not path.name.startswith("._")


def load(path: Path) -> dict:
    """Read a notebook. Raises Unreadable, OSError, or what the JSON parser raises."""
    content = read_regular_file(path, MAX_BYTES)
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Unreadable(TOO_MANY.format(most=MAX_VALUES))
    notebook = json.loads(content)  # detects UTF-8 and UTF-16, with and without a byte order mark
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable(NO_CELLS)
    return notebook


def why_not_read(error: Exception) -> str:
    """The reason for a line about one file, also if nobody has foreseen the error: it must not end a report."""
    known = isinstance(error, Unreadable | OSError)
    return why_not_opened(error) if known else NOT_READ.format(why=f"{type(error).__name__}: {error}")


def code_cells(notebook: dict) -> list[Cell]:
    """The code cells in order. What is no cell at all becomes a cell whose outputs cannot be read."""
    cells = [cell if isinstance(cell, dict) else {"outputs": None} for cell in notebook["cells"]]
    tagged = any(tags for tags, _ in map(_tags_and_fold, cells))
    found = []
    for number, cell in enumerate(cells, 1):
        if cell.get("cell_type", "code") == "code":
            tags, folded = _tags_and_fold(cell)
            kinds = ("exercise" in tags, "solution" in tags, folded and not tagged)
            found.append(Cell(number, cell.get("id"), source_of(cell), cell.get("outputs", []), *kinds))
    return found


def _tags_and_fold(cell: dict) -> tuple[list, bool]:
    metadata = cell.get("metadata")
    tags, view = map(metadata.get, ("tags", "cellView")) if isinstance(metadata, dict) else (None, None)
    return tags if isinstance(tags, list) else [], view == "form"


def source_of(cell: dict) -> str:
    """A cell's source, which Jupyter saves as one string or as a list of lines; without lone surrogates."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str)).encode("utf-8", "replace").decode()
