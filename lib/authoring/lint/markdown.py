"""Split a Markdown text into formulas, code, numbers, links, pictures, structure and words."""

import html
import re
from collections import Counter
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

# Placeholders in lines of words: private-use characters, which texts do not use.
CODE, MATH = "\ue000", "\ue001"

_WORDS_IN_FORMULA = re.compile(r"\\(text\w*|mbox)\{[^{}]*\}")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])"
    r"(?:(?<![^\s(（，。：；、“])[−-])?"  # a sign, not the dash of 15-20
    r"(?!\d+-?D\b)\d+(?:\.\d+)?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*%?"  # 3-D is a word, 三维
)
_TAG = re.compile(r"<(/?[a-zA-Z]\w*)[^>]*>|<!--.*?-->", re.DOTALL)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_ADDRESS = re.compile(r'\b(?:href|src)="([^"]*)"')
_LANGUAGE = re.compile(r"(?<=[/._-])(en|zh-CN|zh)(?=[/._-])")
_STRUCTURE = {"h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "tr", "th", "td", "blockquote"}

_parser = MarkdownIt("commonmark").enable("table")
dollarmath_plugin(_parser, allow_space=False, double_inline=True)


@dataclass
class Prose:
    """The parts of a text that must agree in both languages, and its lines of words.

    In `lines`, a newline is a line break of the source, and `CODE` and `MATH` replace code and formulas.
    """

    formulas: Counter = field(default_factory=Counter)
    codes: Counter = field(default_factory=Counter)
    numbers: Counter = field(default_factory=Counter)
    links: Counter = field(default_factory=Counter)
    addresses: list[str] = field(default_factory=list)  # of links and pictures
    pictures: Counter = field(default_factory=Counter)
    tags: Counter = field(default_factory=Counter)
    structure: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return "\n".join(self.lines)


def read_prose(text: str) -> Prose:
    prose = Prose()
    for token in _parser.parse(text):
        _read_block(prose, token)
    for line in prose.lines:
        prose.numbers.update(number.replace("−", "-") for number in _NUMBER.findall(line))
    return prose


def _read_block(prose: Prose, token: Token) -> None:
    if token.type == "inline":
        words = "".join(_read_inline(prose, child) for child in token.children)
        prose.lines += words.split("\u2028")  # the parts between line breaks
    elif token.type in ("fence", "code_block"):
        prose.codes[token.content.strip()] += 1
    elif token.type.startswith("math_block"):
        prose.formulas[_formula(token.content)] += 1
    elif token.type == "html_block":
        prose.lines += [line for line in _read_html(prose, token.content).splitlines() if line.strip()]
    elif token.nesting == 1 and token.tag in _STRUCTURE:
        prose.structure.append(f"{token.tag} {token.info}".strip())  # info: the number of an item in an ordered list


def _read_inline(prose: Prose, token: Token) -> str:
    """Count what is not a word and return the words, with placeholders for code and formulas."""
    if token.type == "code_inline":
        prose.codes[token.content] += 1
        return CODE
    if token.type.startswith("math_inline"):
        prose.formulas[_formula(token.content)] += 1
        return MATH
    if token.type == "link_open":
        prose.links[_same_in_both(token.attrs["href"])] += 1
        prose.addresses.append(token.attrs["href"])
        return ""
    if token.type == "image":
        prose.pictures[_same_in_both(token.attrs["src"])] += 1
        prose.addresses.append(token.attrs["src"])
        prose.lines.append("".join(_read_inline(prose, child) for child in token.children or ()))
        return ""
    if token.type == "html_inline":
        words = _read_html(prose, token.content)
        return "\u2028" if token.content.startswith("<br") else words
    return {"softbreak": "\n", "hardbreak": "\u2028"}.get(token.type, token.content)


def _read_html(prose: Prose, content: str) -> str:
    prose.tags.update(tag.lower() for tag in _TAG.findall(content) if tag)
    prose.links.update(map(_same_in_both, _ADDRESS.findall(content)))
    prose.addresses += _ADDRESS.findall(content)
    return html.unescape(_TAG.sub("", content))


def _formula(content: str) -> str:
    return " ".join(_WORDS_IN_FORMULA.sub(r"\\\1{}", content).split())


def _same_in_both(address: str) -> str:
    """The address with its language replaced by *."""
    return _LANGUAGE.sub("*", address)


def strip_details(text: str) -> str:
    """The text without its folded parts."""
    return _FOLDED.sub("", text)


def excerpt(text: str, part: str, around: int = 40) -> str:
    """Return the text around the part for a message, or the whole text if the part does not occur in it."""
    place = text.find(part)
    if place < 0:
        return text
    start, stop = max(0, place - around), place + len(part) + around
    return ("…" if start else "") + text[start:stop] + ("…" if stop < len(text) else "")
