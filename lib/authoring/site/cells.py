"""Turn the cells of a notebook into what the page templates show."""

import ast
import json
import re
import struct
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup, escape
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from authoring.folding import strip_title

from . import messages
from .markdown import block, link_pages, scrollable, strip_empty_headers
from .render import render

_SCROLLS = '<div style="overflow-x:auto"'  # around the tables of `blocklab_course.cards`
_PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\n]+")
_QUESTION = re.compile(r'data-question="([A-Za-z0-9+/=]+)"')  # of `predict`
_SHARP = 2  # pixels of a saved picture in one CSS pixel
_LEXER, _FORMATTER = PythonLexer(), HtmlFormatter(nowrap=True)


@dataclass(frozen=True)
class Picture:
    """A picture: the key of its panel, the file of its states, the picture itself, and the line under it.

    script: its address, seen from the page; None for a picture in which nothing moves. narrow: likewise of its states
    for phones. small: a picture in which nothing moves, as phones show it.
    """

    key: str
    script: str | None
    still: Markup
    line: str
    narrow: str | None = None
    small: Markup | None = None


@dataclass(frozen=True)
class CodeCell:
    """A code cell. kind: "exercise", "solution", "imports", "picture" or "run".

    outputs: pairs ("figure", Picture), ("html", Markup) or ("text", str).
    is_answer: whether the outputs stay folded until the reader has made a prediction.
    """

    id: str
    kind: str
    code: Markup
    outputs: list[tuple[str, Picture | str]]
    is_answer: bool


@dataclass(frozen=True)
class TextCell:
    """A Markdown cell."""

    id: str
    html: Markup
    kind: str = "text"


def code_cell(cell: NotebookNode, drawn: Picture | None, store: Callable[[bytes], str]) -> CodeCell:
    """A code cell for the page. drawn: its picture, if it has one; store: keeps a PNG and returns its address."""
    tags = cell.metadata.get("tags", ())
    code = Markup(block(highlight(strip_title(cell.source), _LEXER, _FORMATTER).rstrip("\n")))
    outputs = [_output(data, drawn, store) for data in _merge_streams(cell.outputs)]
    return CodeCell(cell.id, _kind(cell, drawn), code, outputs, "answer" in tags)


def _kind(cell: NotebookNode, drawn: Picture | None) -> str:
    tags = cell.metadata.get("tags", ())
    if "exercise" in tags or "solution" in tags:
        return "exercise" if "exercise" in tags else "solution"
    if _only_imports(cell.source):
        return "imports"
    # A one-line cell that draws or asks is shown without its code, which may tell the answer.
    shows = drawn or any(_QUESTION.search(output.get("data", {}).get("text/html", "")) for output in cell.outputs)
    return "picture" if "panel" in tags or (shows and "\n" not in cell.source) else "run"


def _only_imports(source: str) -> bool:
    try:
        return all(isinstance(statement, ast.Import | ast.ImportFrom) for statement in ast.parse(source).body)
    except SyntaxError:  # an IPython magic
        return False


def _merge_streams(outputs: list[NotebookNode]) -> list[dict]:
    """The data of each output by type; consecutive printed lines become one text."""
    joined = []
    for output in outputs:
        if output.output_type == "stream":
            if not joined or "stream" not in joined[-1]:
                joined.append({"stream": ""})
            joined[-1]["stream"] += output.text
        elif output.output_type != "error":
            joined.append(output.data)
    return joined


def _output(data: dict, drawn: Picture | None, store: Callable[[bytes], str]) -> tuple[str, Picture | str]:
    if "image/png" in data:
        return "figure", drawn or saved_picture(data, store)
    if "text/html" in data:
        html = _PICTURE.sub(lambda found: store(b64decode(found[0].partition(",")[2])), data["text/html"])
        html = html.replace(_SCROLLS, f"{_SCROLLS} {scrollable(messages.TABLE)}")
        return "html", Markup(strip_empty_headers(link_pages(_with_answer(html))))
    return "text", (data.get("stream") or data.get("text/plain", "")).rstrip()


def _with_answer(html: str) -> str:
    """Fold the answer under a question, for readers without JavaScript; a script replaces both."""
    stored = _QUESTION.search(html)
    if not stored:
        return html
    guess = json.loads(b64decode(stored[1]))["spec"]["guess"]
    right = guess["options"][guess["right"]] if "options" in guess else f"{guess['right']:g}"
    answer = f"<p><strong>{escape(right)}</strong></p><p>{escape(guess['skipped'])}</p>"
    return f"{html.removesuffix('</div>')}<details><summary>{messages.ANSWER}</summary>{answer}</details></div>"


def saved_picture(data: dict, store: Callable[[bytes], str]) -> Picture:
    """The PNG that the notebook holds."""
    png, line = b64decode(data["image/png"]), data.get("text/plain", "")
    width, height = (pixels // _SHARP for pixels in struct.unpack(">II", png[16:24]))
    still = image(store(png), line, width, height, f"max-width:{width}px")
    return Picture("", None, still, line)


def image(src: str, alt: str, width: int, height: int, style: str) -> Markup:
    """An image element for a separate file, which loads lazily."""
    return Markup(render("image.html", src=src, alt=alt, width=width, height=height, style=style))
