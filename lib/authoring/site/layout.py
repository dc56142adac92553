"""What all pages share: the list of lessons, header and footer."""

from dataclasses import dataclass
from typing import Any

from authoring.address import Address
from authoring.project import Outline
from blocklab_course.i18n import use_language

from . import messages
from .render import render

STORAGE_KEY = "blocklab-site-1"  # the key in the browser's storage; a new format gets a new number


@dataclass(frozen=True)
class Book:
    """The lessons and appendices in order, and the repository's address."""

    outlines: list[Outline]
    address: Address

    @property
    def last(self) -> int:
        """The number of the last lesson."""
        return max(int(outline.number) for outline in self.outlines if outline.number)

    def outline(self, stem: str) -> Outline | None:
        """None for a page that is neither a lesson nor an appendix: the glossary and the start page."""
        return next((outline for outline in self.outlines if outline.stem == stem), None)

    def title(self, stem: str, language: str) -> str:
        outline = self.outline(stem)
        return outline.titles[language] if outline else getattr(messages.GLOSSARY, language)


@dataclass(frozen=True)
class Place:
    """The language and the file name of a page."""

    language: str
    file: str

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".html")


def page(template: str, book: Book, place: Place, **values: Any) -> str:
    """A page with header and footer, in its language."""
    with use_language(place.language):
        here = book.outline(place.stem)
        return render(
            template, book=book, language=place.language, file=place.file, here=here, stored=STORAGE_KEY, **values
        )


def front_page() -> str:
    """The page at the root: it redirects to the reader's language, or without JavaScript to English."""
    return render("front.html", language="en", title="Blocklab", stored=STORAGE_KEY)
