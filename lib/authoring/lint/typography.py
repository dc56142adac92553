"""Typography of the texts: the Chinese rules, and those that hold in both languages."""

import re

from .markdown import CODE, MATH

NUMBER_HERE, WORD_HERE = "\ue002", "\ue003"  # placeholders of a Text: {n:d} becomes a number, {name} any word

_HAN = "\u3400-\u9fff"
_ATOM = rf"A-Za-z0-9%‰°\u0300-\u03ff²³⁰-₟{CODE}{MATH}{NUMBER_HERE}"
_FULL = "，。：；？！（）“”‘’、《》「」—…"
_HALF = r",.:;?!()\"'"

_BOTH = [
    (r"\*\*", "bold that does not close: keep punctuation outside the asterisks"),
    (r"\$", "a formula that does not close: no space beside the inner side of $"),
    (r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)", "a number is written 1024, without a comma"),
    (r"\d %", "a percentage is written 90%, without a space"),
]
_CHINESE = [
    (rf"[{_HAN}][{_ATOM}]|[{_ATOM}][{_HAN}]", "a half-width space belongs between 汉字 and Latin, digits, code, maths"),
    (rf"[{_FULL}] | [{_FULL}]", "no space beside full-width punctuation"),
    (rf"[{_HAN}] [{_HAN}]", "no space between two 汉字"),
    (
        rf"[{_HAN}] ?[{_HALF}]|[{_HALF}] ?[{_HAN}]",
        "half-width punctuation in a Chinese sentence (shapes stand in code)",
    ),
    (rf"(?s:^(?=.*[{_HAN}]).*(?<=[,.:;?!])$)", "half-width punctuation ends a Chinese sentence"),
    (r"[~～]", "a range is written 15–20, without ~"),
    (r"您", "the reader is 你"),
    (r"\n", "a paragraph is one line of the source: a newline shows as a space"),
]
_SHOWN = {CODE: "`…`", MATH: "$…$", NUMBER_HERE: "{…}", WORD_HERE: "{…}", "\n": "⏎", "\u2028": "⏎"}


def find_faults(line: str, language: str) -> list[str]:
    """What breaks a rule of typography in a line of words, each with the spot."""
    rules = _BOTH + (_CHINESE if language == "zh" else [])
    return [f"{why}: {_spot(line, found)}" for rule, why in rules if (found := re.search(rule, line))]


def _spot(line: str, found: re.Match) -> str:
    start = max(found.start() - 8, 0) if len(found[0]) < 20 else max(found.end() - 12, 0)
    return "".join(_SHOWN.get(character, character) for character in line[start : found.end() + 8])
