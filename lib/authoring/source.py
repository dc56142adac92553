"""Read a lesson's source file, in which code stands once and each English text is followed by its Chinese version."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from .problem import BuildErrors, Problem, shorten
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
KEYS = {"markdown": {"lang", "gone"}, "code": {"tags", "claims", "base"}}
_MARKER = re.compile(r"# %%(?P<text> \[markdown\])?(?P<options>(?: \w+=.*)?)")
_NEARLY = re.compile(r"^\s*#+\s*%%.*", re.MULTILINE)
_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
_TEXT = re.compile(r'\s*r"""\n(?P<inside>.*?)\n"""\s*', re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class BilingualText:
    """A text cell in both languages. `line` is the first line of the English cell in the source."""

    id: str
    line: int
    en: str
    zh: str


@dataclass(frozen=True)
class Code:
    """A code cell.

    `claims` are the numbers of the claims in the source notes that the cell tests. `base` holds the control values
    around which the site stores the states of the cell's panel.
    """

    id: str
    line: int
    source: str
    tags: tuple[str, ...]
    claims: tuple[str, ...] = ()
    base: dict = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Lesson:
    stem: str
    file: str
    cells: tuple[BilingualText | Code, ...]

    @property
    def number(self) -> int | None:
        """None for an appendix, which may use the terms of all lessons."""
        return int(number_of(self.stem)) if number_of(self.stem) else None


@dataclass(frozen=True)
class _Cell:
    """A cell of the source: its kind, the options and the line of its marker, and its body."""

    line: int
    kind: str
    options: dict
    source: str


def read_lesson(project: Project, stem: str) -> Lesson:
    """Read notebooks/source/<stem>.py. Raises BuildErrors with line and cell of each problem."""
    path = project.source(stem)
    file = project.show(path)
    problems: list[Problem] = []
    cells = list(_split(project.read(path), file, problems))
    if not problems:
        cells = list(_pair(cells, file, problems))
    if not problems and not (cells and isinstance(cells[0], BilingualText)):
        what = "expected a lesson to begin with its title in English and in Chinese"
        problems.append(Problem(file, 1, None, what))
    if problems:
        raise BuildErrors(*problems)
    return Lesson(stem, file, tuple(cells))


def _split(text: str, file: str, problems: list[Problem]) -> Iterator[_Cell]:
    """The cells of a file in percent format."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%")]
    if any(line.strip() for line in lines[: starts[0] if starts else None]):
        problems.append(Problem(file, 1, None, "expected no text before the first '# %%' line"))
    for start, end in pairwise([*starts, len(lines)]):
        try:
            yield _cell(lines[start], "\n".join(lines[start + 1 : end]).strip("\n"), start + 1)
        except ValueError as error:
            problems.append(Problem(file, start + 1, None, str(error)))
        except SyntaxError as error:
            what = f"syntax error: {error.msg}"
            problems.append(Problem(file, start + 1 + (error.lineno or 1), None, what))


def _cell(marker: str, body: str, line: int) -> _Cell:
    """Parse one cell, whose marker is on this line. Raises ValueError or SyntaxError."""
    form = _MARKER.fullmatch(marker.rstrip())
    kind = "markdown" if form and form["text"] else "code"
    options = _options(form["options"]) if form else None
    if options is None or not options.keys() <= KEYS[kind]:
        forms = '# %%, # %% tags=["slow"], claims=["E01"] or base={"x": 1}, # %% [markdown] lang="en" or lang="zh"'
        raise ValueError(f"expected a cell to begin with {forms}; got {shorten(marker)}")
    if unknown := set(options.get("tags", ())) - TAGS:
        raise ValueError(f"unknown tag {', '.join(sorted(unknown))} (known: {', '.join(sorted(TAGS))})")
    if found := _NEARLY.search(body):
        raise ValueError(f"expected '# %%' at the start of a line, got {shorten(found[0])}")
    if kind == "markdown":
        text = _TEXT.fullmatch(body)
        if not text or '"""' in text["inside"] or not text["inside"].strip():
            raise ValueError('expected a text between a line r""" and a line """, and nothing else in its cell')
        return _Cell(line, kind, options, text["inside"])
    if not body.strip():
        raise ValueError("expected code, got an empty cell")
    if "raises-exception" not in options.get("tags", ()):
        first = parse(body).body[:1]
        if first and isinstance(first[0], ast.Expr) and isinstance(getattr(first[0].value, "value", None), str):
            raise ValueError('expected [markdown] lang="en" or lang="zh" after # %% of a text cell')
    return _Cell(line, kind, options, body)


def _options(rest: str) -> dict | None:
    """Parse the options of a marker, such as tags=["slow"]; None if they are not JSON of the expected types."""
    options = {}
    while rest:
        key, _, value = rest.removeprefix(" ").partition("=")
        try:
            options[key], end = json.JSONDecoder().raw_decode(value)
        except ValueError:
            return None
        if not isinstance(options[key], {"lang": str, "base": dict, "gone": int}.get(key, list)):
            return None
        rest = value[end:]
    return options


def parse(code: str) -> ast.Module:
    """The syntax tree of a code cell, with IPython lines such as %pip read as `pass`. Raises SyntaxError."""
    try:
        return ast.parse(code)
    except SyntaxError:
        return ast.parse(_MAGIC.sub(r"\1pass", code))


def _pair(cells: list[_Cell], file: str, problems: list[Problem]) -> Iterator[BilingualText | Code]:
    """Join each English cell with the Chinese cell after it, and give every cell its stable id.

    An English cell with gone=1 stands where one cell was removed, so that the ids after it stay as they were.
    """
    section, count = "top", Counter()

    def next_id() -> str:
        count[section] += 1
        return f"{section}-{count[section]}"

    def report_single(line: int, id: str, en: str) -> None:
        problems.append(
            Problem(file, line, id, "expected a Chinese cell directly after this English one", (("en", en),))
        )

    waiting = None  # the English cell whose Chinese version must come next
    for cell in cells:
        language = cell.options.get("lang")
        if waiting and language != "zh":
            report_single(*waiting)
            waiting = None
        if cell.kind == "code":
            tags, claims = (tuple(cell.options.get(key, ())) for key in ("tags", "claims"))
            yield Code(next_id(), cell.line, cell.source, tags, claims, cell.options.get("base", {}))
        elif language not in ("en", "zh"):
            what = f'expected [markdown] lang="en" or lang="zh", got lang={language!r}'
            problems.append(Problem(file, cell.line, None, what, (("text", cell.source),)))
        elif language == "en":
            heading = _SECTION.search(_FENCE.sub("", cell.source))
            section = _slug(heading[1]) if heading else section
            count[section] += cell.options.get("gone", 0)
            waiting = cell.line, next_id(), cell.source
        elif waiting is None:
            place = f"after {section}-{count[section]}"
            problems.append(
                Problem(
                    file,
                    cell.line,
                    place,
                    "expected an English cell directly before this Chinese one",
                    (("zh", cell.source),),
                )
            )
        else:
            line, id, en = waiting
            yield BilingualText(id, line, en, cell.source)
            waiting = None
    if waiting:
        report_single(*waiting)


def _slug(heading: str) -> str:
    """The heading as an id: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")[:48].strip("-") or "section"
