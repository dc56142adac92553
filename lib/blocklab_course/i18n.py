"""The reader's language, and texts that exist in both.

A `Text` is written once with both wordings and becomes a plain string in the chosen language when it is shown.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LANGUAGES = ("en", "zh")

_chosen = "en"


@dataclass(frozen=True)
class Text:
    """A text in English and in Chinese: `str(text)` is the one in the chosen language.

    `text.format(n=3)` fills the placeholders of that one. Both wordings are required and hold the same placeholders.

    Raises ValueError if one of them is empty.
    """

    en: str
    zh: str

    def __post_init__(self):
        for language in LANGUAGES:
            wording = getattr(self, language)
            if not isinstance(wording, str):
                raise TypeError(f"Text wants a string for {language}, got {type(wording).__name__}")
            if not wording.strip():
                raise ValueError(f"Text wants a wording in {language}, got an empty one: {self!r}")

    def __str__(self) -> str:
        return getattr(self, _chosen)

    def format(self, *values, **named) -> str:
        return str(self).format(*values, **named)


COMMA = Text(en=", ", zh="、")


def join_words(words: Iterable[object]) -> str:
    """Words one after the other, with the comma of lists between them."""
    return str(COMMA).join(map(str, words))


def set_language(language: str) -> None:
    """Set the language in which every `Text` is shown from now on: "en" or "zh". Raises ValueError otherwise."""
    global _chosen
    if language not in LANGUAGES:
        raise ValueError(f"language wants one of {', '.join(map(repr, LANGUAGES))}, got {language!r}")
    _chosen = language


def get_language() -> str:
    """The language in which texts are shown now."""
    return _chosen


@contextmanager
def use_language(language: str) -> Iterator[None]:
    """Show texts in a language for a while. Raises ValueError like `choose`."""
    before = _chosen
    set_language(language)
    try:
        yield
    finally:
        set_language(before)
