"""Make untrusted text safe for a terminal, a page and a spreadsheet."""

import unicodedata

MAX_LENGTH = 300
_FORMULA_SIGNS = ("=", "+", "-", "@", "−")  # the last is the minus sign, U+2212


def sanitize(text: object) -> str:
    """The text on one line, shortened, with escapes such as \\x1b for invisible characters.

    These are control and formatting characters, and surrogates, also those of file names that are not UTF-8.
    """
    text = str(text)
    clipped = text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH // 2]}…{text[-MAX_LENGTH // 2 :]}"
    return "".join(c if _visible(c) else c.encode("unicode_escape").decode() for c in clipped)


def _visible(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind[0] != "C" and kind not in ("Zl", "Zp")


def spreadsheet_cell(text: object) -> str:
    """`sanitize`, with an apostrophe before anything that a spreadsheet would read as a formula.

    Formulas may start with blanks and use full-width signs.
    """
    shown = sanitize(text)
    begin = unicodedata.normalize("NFKC", shown).lstrip()
    return f"'{shown}" if begin.startswith(_FORMULA_SIGNS) else shown
