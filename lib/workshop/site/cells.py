"""A code cell of a lesson as HTML: its code, what it showed, and for an exercise the way to where it is written."""

import ast
import re
import struct
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from . import words
from .markdown import block, linked, scrolling, without_empty_heads

_PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\n]+")
_SHARP = 2  # pixels of a saved picture in one of the page
_LEXER, _FORMATTER = PythonLexer(), HtmlFormatter(nowrap=True)


@dataclass(frozen=True)
class Shown:
    """A picture: the key of its panel, where its states lie, the picture as HTML, and the line under it.

    script: from the page; None for a picture in which nothing moves.
    """

    key: str
    script: str | None
    still: str
    line: str


@dataclass(frozen=True)
class Around:
    """What a cell has to be given by the page that it stands in.

    picture: keeps the bytes of a PNG and gives their address. write: of a cell's id, where its exercise is written.
    """

    picture: Callable[[bytes], str]
    write: Callable[[str], str]


def code_cell(cell: NotebookNode, drawn: Shown | None, around: Around) -> str:
    """The cell as a reader of the page meets it. What answers a prediction, and a solution, are folded."""
    tags = cell.metadata.get("tags", ())
    code = block(highlight(cell.source, _LEXER, _FORMATTER).rstrip("\n"))
    if "exercise" in tags:
        return _cell(cell, "exercise", f'<p class="label">{words.EXERCISE}</p>{code}{around.write(cell.id)}')
    shown = "".join(_output(output, drawn, around) for output in _joined(cell.outputs))
    if "solution" in tags:
        return _cell(cell, "solution", folded(words.SOLUTION, code + shown))
    if _only_imports(cell.source):
        return _cell(cell, "imports", folded(words.IMPORTS, code))
    is_picture = "panel" in tags or (drawn and "\n" not in cell.source)  # its line of code says nothing to a reader
    if is_picture:
        shown += folded(words.THE_CELL, code, "source")
    if "answer" in tags:
        shown = folded(words.SHOW, shown, "answer")
    return _cell(cell, "picture", shown) if is_picture else _cell(cell, "run", code + shown)


def _cell(cell: NotebookNode, kind: str, inside: str) -> str:
    return f'<div class="cell {kind}" id="{escape(cell.id)}">{inside}</div>\n'


def folded(summary: object, inside: str, kind: str = "fold") -> str:
    return f'<details class="{kind}"><summary>{summary}</summary>{inside}</details>'


def _only_imports(source: str) -> bool:
    try:
        return all(isinstance(statement, ast.Import | ast.ImportFrom) for statement in ast.parse(source).body)
    except SyntaxError:  # a magic of IPython
        return False


def _joined(outputs: list[NotebookNode]) -> list[dict]:
    """What each output holds by its type, printed lines that follow one another as one text."""
    joined = []
    for output in outputs:
        if output.output_type == "stream":
            if not joined or "stream" not in joined[-1]:
                joined.append({"stream": ""})
            joined[-1]["stream"] += output.text
        elif output.output_type != "error":
            joined.append(output.data)
    return joined


def _output(data: dict, drawn: Shown | None, around: Around) -> str:
    if drawn and "image/png" in data:
        return figure(drawn)
    if "text/html" in data:
        kept = _PICTURE.sub(lambda found: around.picture(b64decode(found[0].partition(",")[2])), data["text/html"])
        return f"{scrolling('div', 'shown', words.OUTPUT)}{without_empty_heads(linked(kept))}</div>"
    if "image/png" in data:
        return figure(saved(data, around.picture))
    printed = data.get("stream") or data.get("text/plain", "")
    return f"{scrolling('pre', 'output', words.OUTPUT)}{escape(printed.rstrip())}</pre>"


def figure(drawn: Shown) -> str:
    """A picture; the script puts the living panel in the place of one that has states."""
    about = 'class="still"'
    if drawn.script:
        about = f'class="panel" data-panel="{drawn.key}" data-script="{drawn.script}"'
    picture = f"{scrolling('div', 'blocklab-panel', words.PICTURE)}{drawn.still}</div>"
    line = drawn.line and f"<figcaption>{escape(drawn.line)}</figcaption>"
    return f"<figure {about}>{picture}{line}</figure>"


def saved(data: dict, keep: Callable[[bytes], str]) -> Shown:
    """A picture as the notebook has it, in pixels."""
    png, line = b64decode(data["image/png"]), data.get("text/plain", "")
    width, height = (pixels // _SHARP for pixels in struct.unpack(">II", png[16:24]))
    size = f'width="{width}" height="{height}" style="max-width:{width}px"'
    return Shown("", None, f'<img src="{keep(png)}" alt="{escape(line)}" {size} loading="lazy">', line)
