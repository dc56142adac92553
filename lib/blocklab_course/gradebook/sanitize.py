"""Names and words of others, made safe for a terminal, a page and a spreadsheet."""

import unicodedata

MAX_LENGTH = 300
_FORMULA_SIGNS = ("=", "+", "-", "@", "−")  # the last is the minus sign, U+2212


def sanitize(text: object) -> str:
    """On one line, with escapes such as \\x1b for what is no visible character, and never endless.

    These are control and formatting characters, bytes of a file name that are not UTF-8, halves of surrogate pairs.
    """
    text = str(text)
    clipped = text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH // 2]}…{text[-MAX_LENGTH // 2 :]}"
    return "".join(c if _visible(c) else c.encode("unicode_escape").decode() for c in clipped)


def _visible(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind[0] != "C" and kind not in ("Zl", "Zp")


def spreadsheet_cell(text: object) -> str:
    """`printable`, and no formula: the apostrophe that spreadsheets take for "this is text" stands before it.

    A formula may hide behind blanks and be written in full-width signs.
    """
    shown = sanitize(text)
    begin = unicodedata.normalize("NFKC", shown).lstrip()
    return f"'{shown}" if begin.startswith(_FORMULA_SIGNS) else shown
