"""The Markdown of a lesson as HTML: formulas as MathML, links to pages of the site, headings with ids."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from latex2mathml.symbols_parser import convert_symbol
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from . import messages

LONG = 40  # characters: a longer formula may be wider than a phone
NOTEBOOK = re.compile(r"(?<![:/\w.])((?:\.\./(?:en|zh)/)?\w+)\.ipynb\b")
_SLUG = re.compile(r"[^a-z0-9]+")
_EMPTY = re.compile(r"<th\b([^>]*)></th>")
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_MARKUP = re.compile(r"[{}_\\&]")
_TAG = re.compile(r"<[^>]*>")
_MATHML = "http://www.w3.org/1998/Math/MathML"
_LETTER, _SIGN, _SPACE, _ROW, _CELL = (f"{{{_MATHML}}}{name}" for name in ("mi", "mo", "mspace", "mrow", "mtd"))
_RAISED = {f"{{{_MATHML}}}{name}" for name in ("msub", "msup", "msubsup")}
ElementTree.register_namespace("", _MATHML)  # written without a prefix
_LINK = re.compile(r"</?a\b[^>]*>")  # removed in the contents, where the whole entry is a link


def strip_empty_headers(html: str) -> str:
    """Empty header cells of tables become plain cells, as accessibility demands."""
    return _EMPTY.sub(r"<td\1></td>", html)


def html(text: str, ids: list[str] | None = None) -> str:
    """The text as HTML, its headings with these ids, if any are given."""
    parser = _parser()
    tokens = parser.parse(text)
    heads = [token for token in tokens if token.type == "heading_open"]
    for token, name in zip(heads, ids, strict=True) if ids is not None else ():
        token.attrSet("id", name)
    for token in _all(tokens):
        if token.type == "link_open":
            token.attrSet("href", link_pages(token.attrs["href"]))
    return strip_empty_headers(parser.renderer.render(tokens, parser.options, {}))


def link_pages(text: str) -> str:
    """Links to notebooks become links to pages, except on other sites."""
    return NOTEBOOK.sub(r"\1.html", text)


@dataclass(frozen=True)
class Heading:
    """A heading: its level, 2 below the title, its plain words, and its words as HTML."""

    level: int
    said: str
    html: str


def headings(text: str) -> list[Heading]:
    parser, found = _parser(), []
    tokens = parser.parse(text)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            inside = parser.renderer.renderInline(inline.children, parser.options, {})
            found.append(Heading(int(token.tag[1]), _said(inline), _LINK.sub("", inside)))
    return found


def slug(heading: str) -> str:
    """The id of a heading, from its English words."""
    return _SLUG.sub("-", heading.lower()).strip("-")


def sections(text: str) -> list[tuple[str | None, str]]:
    """Return the plain words under each heading of a text; the heading is None before the first one."""
    found: list[tuple[str | None, list[str]]] = [(None, [])]
    heads = False
    for token in _parser().parse(text):
        if token.type == "heading_open":
            heads = True
        elif token.type == "inline" and heads:
            found.append((_said(token, letters), []))
            heads = False
        elif token.type == "inline":
            found[-1][1].append(_said(token, letters))
        elif token.type in ("fence", "math_block"):
            found[-1][1].append(token.content if token.type == "fence" else letters(token.content))
    return [(heading, " ".join(" ".join(parts).split())) for heading, parts in found]


def letters(formula: str) -> str:
    """A formula as one would type it: μ for \\mu, x1 for x with an index, 1/2 for a fraction."""
    return _MARKUP.sub("", _COMMAND.sub(_symbol, formula.replace("}{", "/"))).strip()


def _symbol(command: re.Match) -> str:
    """The symbol of a command; empty if it has none."""
    code = convert_symbol(command[0])
    return chr(int(code, 16)) if code else ""


def _said(inline: Token, formula: Callable[[str], str] = str) -> str:
    """The plain words of a text; `formula` turns a formula into words."""
    softly = {"softbreak": " ", "hardbreak": " "}
    return "".join(
        formula(token.content)
        if token.type.startswith("math_inline")
        else softly.get(token.type) or unescape(_TAG.sub("", token.content))
        for token in inline.children
    )


def _all(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    dollarmath_plugin(parser, allow_space=False, double_inline=True)
    parser.add_render_rule("math_inline", _inline)
    parser.add_render_rule("math_inline_double", _display)
    parser.add_render_rule("math_block", _display)
    parser.add_render_rule("table_open", lambda *_: f'<div class="table" {scrollable(messages.TABLE)}><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("fence", lambda _, tokens, i, *__: block(escape(tokens[i].content.rstrip("\n"))))
    return parser


def _inline(_renderer, tokens: list[Token], i: int, *_) -> str:
    formula = tokens[i].content.strip()
    about = f'class="math long" {scrollable(messages.FORMULA)}' if len(formula) > LONG else 'class="math"'
    return f"<span {about}>{mathml(formula, 'inline')}</span>"


def _display(_renderer, tokens: list[Token], i: int, *_) -> str:
    shown = mathml(tokens[i].content.strip(), "block")
    return f'<span class="formula" {scrollable(messages.FORMULA)}>{shown}</span>\n'  # a paragraph may hold no div


@cache
def mathml(formula: str, display: str) -> str:
    """A formula as MathML, which needs no script and no network."""
    math = ElementTree.fromstring(convert(formula, display=display))
    for row in [*math.iter(_ROW), *math.iter(_CELL)]:
        for before, after in pairwise(list(row)):
            if _apart(before, after):
                row.insert(list(row).index(after), Element(_SPACE, width="0.17em"))
    return ElementTree.tostring(math, "unicode")


def _apart(before: Element, after: Element) -> bool:
    """Whether TeX puts a thin space between them: in sin x cos y, but not in sin(x) or −cos y."""
    if _is_function(before):
        return after.tag not in (_SIGN, _SPACE)
    return _is_function(after) and (before.tag not in (_SIGN, _SPACE) or before.text == ")")


def _is_function(part: Element) -> bool:
    """Whether it is a function name such as cos, maybe with an index or a power."""
    if part.tag in _RAISED:
        return _is_function(part[0])
    return part.tag == _LETTER and len(part.text or "") > 1


def block(code: str) -> str:
    """A code block, from HTML."""
    return f'<pre class="code" {scrollable(messages.CODE)}><code>{code}</code></pre>\n'


def scrollable(label: object) -> Markup:
    """Attributes of an element that scrolls sideways when it is too wide, so the keyboard has to reach it."""
    return Markup('role="group" aria-label="{}" tabindex="0"').format(label)
