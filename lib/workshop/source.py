"""Read a lesson's source: code once, every text twice, the English cell directly followed by its Chinese twin."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext

from .problem import Faults, Problem, PublishError, shorten
from .project import Project, number_of

TAGS = {
    "exercise",
    "solution",
    "slow",
    "panel",
    "guess",
    "answer",
    "raises-exception",
    "nbval-ignore-output",
    "nbval-skip",
}
KEYS = {"markdown": ("lang",), "code": ("tags", "claims", "base")}
_MARKER = re.compile(r"# %%(?P<text> \[markdown\])?(?P<options>(?: \w+=.*)?)")
_NEARLY = re.compile(r"\s*(?:#*\s*[%％]{2}|#+\s*[%％]\s*(?:$|\[|\w+=)|#*\s*\[markdown\]\s+lang=)", re.IGNORECASE)
_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
_STRANGE = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ue000-\uf8ff\ufeff]")
_TEXT = re.compile(r'\s*r"""\n(?P<inside>.*?)\n"""\s*', re.DOTALL)
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
    def number(self) -> int | None:
        """None for an appendix, which may use the words of all lessons."""
        return int(number_of(self.stem)) if number_of(self.stem) else None


@dataclass(frozen=True)
class _Cell:
    """A cell as it stands in the source: its kind, what its marker says of it, and the line of the marker."""

    line: int
    kind: str
    options: dict
    source: str


def read_lesson(project: Project, stem: str) -> Lesson:
    """Read notebooks/source/<stem>.py. Raises Faults, each with line and cell, if it is not well formed."""
    path = project.source(stem)
    file, text = project.show(path), project.read(path)
    wrong = [*_strange(text), *_other_ends(path)] or list(_wrong_form(text))
    problems = [Problem(file, line, None, what) for line, what in wrong]
    if not problems:
        cells = tuple(_pair(_read_cells(text, file), file, problems))
        if not problems and not (cells and isinstance(cells[0], Twins)):
            what = "a lesson begins with its title, once in English and once in Chinese"
            problems.append(Problem(file, 1, None, what))
    if problems:
        raise Faults(*problems)
    return Lesson(stem, file, cells)


def _strange(text: str) -> Iterator[tuple[int, str]]:
    """Characters that end a line for some programs and not for others, or that nobody sees."""
    if found := _STRANGE.search(text):
        yield text.count("\n", 0, found.start()) + 1, f"holds the character {found[0]!r}, which no text needs"


def _other_ends(path: Path) -> Iterator[tuple[int, str]]:
    if b"\r" in path.read_bytes():
        yield 1, "its lines end in CR LF: save it with LF"


def _wrong_form(text: str) -> Iterator[tuple[int, str]]:
    """What is wrong with the form of the cells: (line, what)."""
    lines, starts = text.split("\n"), _starts(text)
    head = lines[: starts[0] - 1] if starts else lines
    if place := next((number for number, line in enumerate(head, start=1) if line.strip()), None):
        yield place, "text before the first '# %%' line"
    for start, stop in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        kind, options = _marker(lines[start - 1])
        body = lines[start : stop - 1]
        if options is None:
            wanted = '# %%, # %% tags=["slow"], claims=["E01"] or base={"x": 1}, # %% [markdown] lang="en" or lang="zh"'
            yield start, f"a cell begins with {wanted}; got {shorten(lines[start - 1])}"
        elif unknown := set(options.get("tags", ())) - TAGS:
            yield start, f"unknown tag {', '.join(sorted(unknown))} (known: {', '.join(sorted(TAGS))})"
        for number, line in enumerate(body, start=start + 1):
            if _NEARLY.match(line):
                yield number, f"looks like the beginning of a cell, and is none: {shorten(line)}"
        if kind == "markdown":
            yield from _wrong_text(start, "\n".join(body))
        elif "raises-exception" not in (options or {}).get("tags", ()):
            yield from _wrong_code(start, "\n".join(body))


def _starts(text: str) -> list[int]:
    """The lines on which a cell begins, counted from 1."""
    return [number for number, line in enumerate(text.split("\n"), start=1) if line.startswith("# %%")]


def _wrong_text(start: int, text: str) -> Iterator[tuple[int, str]]:
    form = _TEXT.fullmatch(text)
    if not form or '"""' in form["inside"] or not form["inside"].strip():
        yield start, 'a text wants a line r""" above it, a line """ below it, and nothing else in its cell'


def _wrong_code(start: int, code: str) -> Iterator[tuple[int, str]]:
    if not code.strip():
        yield start, "an empty code cell"
        return
    try:
        parts = parse(code).body
    except SyntaxError as error:
        yield start + (error.lineno or 1), f"code that Python cannot read: {error.msg}"
        return
    for part in parts:
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str):
            what = 'a text in a code cell: [markdown] lang="en" or lang="zh" is missing in the line that begins it'
            yield start + part.lineno, what


def _read_cells(text: str, file: str) -> list[_Cell]:
    """The cells of a percent file that is well formed, each with the line of its marker."""
    starts, lines = _starts(text), text.split("\n")
    try:
        cells = jupytext.reads(text, fmt="py:percent").cells
    except (SyntaxError, ValueError) as error:
        raise PublishError(f"{file}: {error}") from error
    if len(cells) != len(starts):
        raise PublishError(f"{file}: a '# %%' line stands inside a text or a string")
    return [_Cell(line, *_marker(lines[line - 1]), cell.source) for line, cell in zip(starts, cells, strict=True)]


def _marker(line: str) -> tuple[str, dict | None]:
    """The kind of cell that a marker line begins, and its options, one of KEYS. None for any other line."""
    form = _MARKER.fullmatch(line.rstrip())
    kind = "markdown" if form and form["text"] else "code"
    return kind, _options(form["options"], KEYS[kind]) if form else None


def _options(rest: str, keys: tuple[str, ...]) -> dict | None:
    """The options of a marker, such as tags=["slow"]. None if they are not of this form, to the last bracket."""
    options = {}
    while rest:
        space, (key, _, value) = rest[0], rest[1:].partition("=")
        try:
            options[key], end = json.JSONDecoder().raw_decode(value)
        except (ValueError, RecursionError):
            return None
        if space != " " or key not in keys or f" {key}=" in value[end:] or not _right(key, options[key]):
            return None
        rest = value[end:]
    return options


def _right(key: str, value: object) -> bool:
    """Whether an option has the form that is wanted: a language, values of controls, or a list of different words."""
    if key == "lang":
        return isinstance(value, str)
    if key == "base":
        return isinstance(value, dict) and bool(value)
    return isinstance(value, list) and all(isinstance(v, str) for v in value) and 0 < len(set(value)) == len(value)


def parse(code: str) -> ast.Module:
    """The syntax tree of a code cell; a line that is none of Python's, such as %pip, counts as pass.

    Raises SyntaxError.
    """
    try:
        return ast.parse(code)
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("too deeply nested") from error
    except ValueError as error:  # a character that no code holds
        raise SyntaxError(str(error)) from error
    except SyntaxError:
        if (plain := _MAGIC.sub(r"\1pass", code)) == code:
            raise
        return parse(plain)


def _pair(cells: list[_Cell], file: str, problems: list[Problem]) -> Iterator[Twins | Code]:
    """Join each English cell with its Chinese twin and give every cell its stable id."""
    section, count = "top", Counter()

    def next_id() -> str:
        count[section] += 1
        return f"{section}-{count[section]}"

    def alone(line: int, id: str, en: str) -> None:
        problems.append(Problem(file, line, id, "no Chinese twin directly after it", (("en", en),)))

    waiting = None  # the English cell whose twin must come next
    for cell in cells:
        language = cell.options.get("lang")
        if waiting and language != "zh":
            alone(*waiting)
            waiting = None
        if cell.kind == "code":
            tags, claims = (tuple(cell.options.get(key, ())) for key in ("tags", "claims"))
            yield Code(next_id(), cell.line, cell.source, tags, claims)
        elif language not in ("en", "zh"):
            what = f'a text wants [markdown] lang="en" or lang="zh", got markdown lang={language!r}'
            problems.append(Problem(file, cell.line, None, what, (("text", cell.source),)))
        elif language == "en":
            heading = _SECTION.search(_FENCE.sub("", cell.source))
            section = _slug(heading[1]) if heading else section
            waiting = cell.line, next_id(), cell.source
        elif waiting is None:
            place = f"after {section}-{count[section]}"
            problems.append(
                Problem(file, cell.line, place, "no English twin directly before it", (("zh", cell.source),))
            )
        else:
            line, id, en = waiting
            yield Twins(id, line, en, cell.source)
            waiting = None
    if waiting:
        alone(*waiting)


def _slug(heading: str) -> str:
    """The heading as an id: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")[:48].strip("-") or "section"
