"""Make untrusted text safe for a terminal, a page and a spreadsheet."""

import unicodedata

MAX_LENGTH = 300
_FORMULA_SIGNS = ("=", "+", "-", "@", "−")  # the last is the minus sign, U+2212


def sanitize(text: object) -> str:
    """The text on one line, shortened, with escapes such as \\x1b for what cannot be printed.

    That includes formatting characters, and the surrogates in file names that are not UTF-8.
    """
    text = str(text)
    clipped = text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH // 2]}…{text[-MAX_LENGTH // 2 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in clipped)


def spreadsheet_cell(text: object) -> str:
    """`sanitize`, with an apostrophe before a formula, which may start with blanks and with a full-width sign."""
    shown = sanitize(text)
    begin = unicodedata.normalize("NFKC", shown).lstrip()
    return f"'{shown}" if begin.startswith(_FORMULA_SIGNS) else shown
