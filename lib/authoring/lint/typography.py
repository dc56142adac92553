"""Check the typography of texts: rules for Chinese, and rules for both languages."""

import re

from .markdown import CODE, MATH

NUMBER_HERE, WORD_HERE = "\ue002", "\ue003"  # for the fields of a Text: {n:d} is a number, {name} a word

_HAN = "\u3400-\u9fff"
_ATOM = rf"A-Za-z0-9%‰°\u0300-\u03ff²³⁰-₟{CODE}{MATH}{NUMBER_HERE}"
_FULL = "，。：；？！（）“”‘’、《》「」—…"
_HALF = r",.:;?!()\"'"

_BOTH = [
    (r"\*\*", "unclosed bold: keep punctuation outside the asterisks"),
    (r"\$", "unclosed formula: no space on the inner side of $"),
    (r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)", "write 1024 without a comma"),
    (r"\d %", "write 90% without a space"),
]
_CHINESE = [
    (
        rf"[{_HAN}][{_ATOM}]|[{_ATOM}][{_HAN}]",
        "expected a half-width space between 汉字 and Latin, digits, code, maths",
    ),
    (rf"[{_FULL}] | [{_FULL}]", "expected no space next to full-width punctuation"),
    (rf"[{_HAN}] [{_HAN}]", "expected no space between two 汉字"),
    (
        rf"[{_HAN}] ?[{_HALF}]|[{_HALF}] ?[{_HAN}]",
        "half-width punctuation in a Chinese sentence (put shapes in code)",
    ),
    (rf"(?s:^(?=.*[{_HAN}]).*(?<=[,.:;?!])$)", "half-width punctuation ends a Chinese sentence"),
    (r"[~～]", "write a range as 15–20, without ~"),
    (r"您", "address the reader as 你"),
    (r"\n", "expected a paragraph on one source line: a newline shows as a space"),
]
_SHOWN = {CODE: "`…`", MATH: "$…$", NUMBER_HERE: "{…}", WORD_HERE: "{…}", "\n": "⏎", "\u2028": "⏎"}


def find_faults(line: str, language: str) -> list[str]:
    """The typographical errors in a line of words, each with the text around it."""
    rules = _BOTH + (_CHINESE if language == "zh" else [])
    return [f"{why}: {_spot(line, found)}" for rule, why in rules if (found := re.search(rule, line))]


def _spot(line: str, found: re.Match) -> str:
    start = max(found.start() - 8, 0) if len(found[0]) < 20 else max(found.end() - 12, 0)
    return "".join(_SHOWN.get(character, character) for character in line[start : found.end() + 8])
