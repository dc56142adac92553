"""Find and read untrusted notebooks: only regular files, and with limits on their size."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from blocklab_course.i18n import Text
from blocklab_course.workspace import files
from blocklab_course.workspace.files import Unreadable

ENDING = ".ipynb"
MAX_BYTES = 50_000_000  # a hundred times the size of the longest lesson with its pictures
MAX_VALUES = 500_000  # about a hundred times as many as in the longest lesson; each takes up to 0.5 kB when parsed

TOO_MANY = Text(en="more than {most:,} values", zh="里面的数据超过 {most:,} 项")
TOO_DEEP = Text(en="nested too deeply", zh="嵌套太深")
NOT_TEXT = Text(en="neither UTF-8 nor UTF-16 text", zh="文字编码不是 UTF-8，也不是 UTF-16")
NOT_JSON = Text(en="not JSON: line {line}, column {column}", zh="不是 JSON：第 {line} 行第 {column} 列")
NUMBER_TOO_LONG = Text(en="not JSON: a number is too long", zh="不是 JSON：有一个数太长")
WRONG_SUFFIX = Text(en="not read: its name does not end in `.ipynb`", zh="没有读取：文件名不是以 `.ipynb` 结尾")
NO_CELLS = Text(en="not a notebook: it has no list of cells", zh="不是笔记本：没有单元格列表")


@dataclass(frozen=True)
class Cell:
    """A code cell, its number in the notebook, and whether it is an exercise or the lesson's solution.

    folded: the cell is folded in a notebook that has lost its tags, so it may be a solution.
    """

    number: int
    id: object
    source: str
    outputs: object
    exercise: bool
    solution: bool
    folded: bool


def walk(folder: Path) -> Iterator[tuple[Path, OSError | None]]:
    """All paths below a folder, without hidden folders and without following links.

    A folder that cannot be opened comes with its error. Iterative, because folders may be nested deeper than Python's
    recursion limit.
    """
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                found = list(entries)
        except OSError as error:
            yield here, error
            continue
        for entry in found:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name.startswith("."):  # .ipynb_checkpoints, .git, .venv
                continue
            if is_folder:
                waiting.append(Path(entry.path))
            yield Path(entry.path), None


def is_notebook(path: Path) -> bool:
    """Whether the name is a notebook's. macOS archives hold a `._` copy of each file, which is none."""
    return path.name.lower().endswith(ENDING) and not path.name.startswith("._")


_MAY_HOLD_NOTEBOOKS = re.compile(r"\.ipynb\W|\.(zip|tar|t?gz|tgz|bz2|xz|zst|7z|rar)$", re.IGNORECASE)


def may_hold_notebooks(path: Path) -> bool:
    """Whether the name is that of a misnamed notebook or of an archive."""
    return _MAY_HOLD_NOTEBOOKS.search(path.name) is not None and not path.name.startswith("._")


def links_to_folder(path: Path) -> bool:
    """Whether the path is a link to a folder, which may hold notebooks but is not followed."""
    return path.is_symlink() and os.path.isdir(path)


def load(path: Path) -> dict:
    """Read a notebook. Raises Unreadable for anything that is wrong with it, and OSError."""
    return loads(_content(path))


def loads(content: bytes) -> dict:
    """Parse a notebook. Raises Unreadable for anything that is wrong with it."""
    try:
        notebook = json.loads(content)  # detects UTF-8 and UTF-16, with and without a byte order mark
    except UnicodeDecodeError:
        raise Unreadable(NOT_TEXT) from None
    except json.JSONDecodeError as error:
        raise Unreadable(NOT_JSON.format(line=error.lineno, column=error.colno)) from None
    except ValueError:
        raise Unreadable(NUMBER_TOO_LONG) from None
    except RecursionError:
        raise Unreadable(TOO_DEEP) from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unreadable(NO_CELLS)
    return notebook


def _content(path: Path) -> bytes:
    content = files.read_regular_file(path, MAX_BYTES)
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Unreadable(TOO_MANY.format(most=MAX_VALUES))
    return content


def code_cells(notebook: dict) -> list[Cell]:
    """The code cells in order."""
    numbered = [(n, cell) for n, cell in enumerate(notebook["cells"], 1) if isinstance(cell, dict)]
    code = [(n, cell) for n, cell in numbered if cell.get("cell_type", "code") == "code"]
    tagged = any(map(_tags, (cell for _, cell in code)))
    return [
        Cell(
            n,
            cell.get("id"),
            _source_text(cell.get("source")),
            cell.get("outputs", []),
            exercise="exercise" in _tags(cell),
            solution="solution" in _tags(cell),
            folded=not tagged and _is_folded(cell),
        )
        for n, cell in code
    ]


def markdown_texts(notebook: dict) -> list[str]:
    """The texts of the Markdown cells in order."""
    cells = (cell for cell in notebook["cells"] if isinstance(cell, dict))
    return [_source_text(cell.get("source")) for cell in cells if cell.get("cell_type") == "markdown"]


def _tags(cell: dict) -> list:
    tags = _metadata(cell).get("tags")
    return tags if isinstance(tags, list) else []


def _is_folded(cell: dict) -> bool:
    jupyter = _metadata(cell).get("jupyter")
    return _metadata(cell).get("cellView") == "form" or (
        isinstance(jupyter, dict) and jupyter.get("source_hidden") is True
    )


def _metadata(cell: dict) -> dict:
    metadata = cell.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _source_text(source: object) -> str:
    """Jupyter saves a source as one string or as a list of lines."""
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))
