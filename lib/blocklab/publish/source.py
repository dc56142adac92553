"""Read a lesson's source: code once, every text twice, the English cell directly followed by its Chinese twin."""

import re
from collections import Counter
from dataclasses import dataclass

import jupytext

from .problem import Problem, PublishError
from .project import Project

TAGS = {"exercise", "solution", "slow", "panel", "raises-exception", "nbval-ignore-output", "nbval-skip"}
_MARKER = re.compile(r"^# %%")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Twins:
    """A text in both languages. The line is where the English cell begins in the source."""

    id: str
    line: int
    en: str
    zh: str


@dataclass(frozen=True)
class Code:
    """A code cell. `claims` are the statements of the source notes, by number, that it shows to hold or not."""

    id: str
    line: int
    source: str
    tags: tuple[str, ...]
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    stem: str
    file: str
    cells: tuple[Twins | Code, ...]

    @property
    def number(self) -> int:
        return int(self.stem[:2])


def read_lesson(project: Project, stem: str) -> Lesson:
    """Read notebooks/source/<stem>.py. Raises PublishError naming line and cell if it is not well formed."""
    path = project.source(stem)
    file = project.show(path)
    cells = tuple(_pair(_read_cells(path.read_text(encoding="utf-8"), file), file))
    if not cells or not isinstance(cells[0], Twins):
        raise PublishError(f"{file}: a lesson begins with its title, once in English and once in Chinese")
    return Lesson(stem, file, cells)


def _read_cells(text: str, file: str):
    """The cells of the percent file, each with the line of its marker."""
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if _MARKER.match(line)]
    try:
        cells = jupytext.reads(text, fmt="py:percent").cells
    except (SyntaxError, ValueError) as error:
        raise PublishError(f"{file}: {error}") from error
    if len(cells) != len(lines):
        raise PublishError(f"{file}: text before the first '# %%' line, or such a line inside a text")
    return list(zip(lines, cells, strict=True))


def _pair(cells, file: str):
    """Join each English cell with its Chinese twin and give every cell its stable id."""
    section, count = "top", Counter()

    def next_id() -> str:
        count[section] += 1
        return f"{section}-{count[section]}"

    waiting = None  # the English cell whose twin must come next
    for line, cell in cells:
        language = cell.metadata.get("lang")
        if waiting and language != "zh":
            first, id, en = waiting
            raise PublishError(str(Problem(file, first, id, "no Chinese twin directly after it", (("en", en),))))
        if cell.cell_type == "code":
            yield Code(next_id(), line, cell.source, _tags(cell, file, line), tuple(cell.metadata.get("claims", ())))
        elif cell.cell_type != "markdown" or language not in ("en", "zh"):
            what = f'a text wants [markdown] lang="en" or lang="zh", got {cell.cell_type} lang={language!r}'
            raise PublishError(str(Problem(file, line, None, what, (("text", cell.source),))))
        elif language == "en":
            heading = _SECTION.search(_FENCE.sub("", cell.source))
            section = _slug(heading[1]) if heading else section
            waiting = line, next_id(), cell.source
        elif waiting is None:
            what = "no English twin directly before it"
            raise PublishError(
                str(Problem(file, line, f"after {section}-{count[section]}", what, (("zh", cell.source),)))
            )
        else:
            first, id, en = waiting
            yield Twins(id, first, en, cell.source)
            waiting = None
    if waiting:
        first, id, en = waiting
        raise PublishError(str(Problem(file, first, id, "no Chinese twin directly after it", (("en", en),))))


def _tags(cell, file: str, line: int) -> tuple[str, ...]:
    tags = tuple(cell.metadata.get("tags", ()))
    if unknown := set(tags) - TAGS:
        what = f"unknown tag {', '.join(sorted(unknown))} (known: {', '.join(sorted(TAGS))})"
        raise PublishError(str(Problem(file, line, None, what)))
    return tags


def _slug(heading: str) -> str:
    """The heading as an id: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")[:48].strip("-") or "section"
