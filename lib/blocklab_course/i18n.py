"""The current language, and texts in English and Chinese.

A `Text` has both wordings, and becomes a string in the current language when it is shown.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LANGUAGES = ("en", "zh")

_language = "en"


@dataclass(frozen=True)
class Text:
    """A text in English and Chinese; `str(text)` and `text.format(n=3)` give it in the current language.

    Both wordings have the same placeholders. Raises ValueError if one of them is empty.
    """

    en: str
    zh: str

    def __post_init__(self):
        for language in LANGUAGES:
            wording = getattr(self, language)
            if not isinstance(wording, str):
                raise TypeError(f"Text: expected {language} to be a str, got {type(wording).__name__}")
            if not wording.strip():
                raise ValueError(f"Text: expected {language} not to be empty, got {self!r}")

    def __str__(self) -> str:
        return getattr(self, _language)

    def format(self, *values, **named) -> str:
        return str(self).format(*values, **named)


COMMA = Text(en=", ", zh="、")


def join_words(words: Iterable[object]) -> str:
    """Join words with commas: "a, b, c"."""
    return str(COMMA).join(map(str, words))


def set_language(language: str) -> None:
    """Set the current language to "en" or "zh". Raises ValueError for any other."""
    global _language
    if language not in LANGUAGES:
        raise ValueError(f"expected language to be one of {', '.join(map(repr, LANGUAGES))}, got {language!r}")
    _language = language


def get_language() -> str:
    """The current language."""
    return _language


@contextmanager
def use_language(language: str) -> Iterator[None]:
    """Set the current language inside a `with` block. Raises ValueError as `set_language` does."""
    before = _language
    set_language(language)
    try:
        yield
    finally:
        set_language(before)
