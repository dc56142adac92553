"""What all pages share: the lessons in their order, the bar above and the foot below."""

from dataclasses import dataclass
from typing import Any

from authoring.address import Address
from authoring.project import Outline
from blocklab_course.i18n import use_language

from . import messages
from .render import render

STORED = "blocklab-site-1"  # the key in the browser's storage; a new format gets a new number


@dataclass(frozen=True)
class Book:
    """The lessons and appendices in their order, and where the repository lives."""

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
    """Where a page lies: a file in the folder of its language."""

    language: str
    file: str

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".html")


def page(template: str, book: Book, place: Place, **values: Any) -> str:
    """A page with the bar and the foot, in its language."""
    with use_language(place.language):
        here = book.outline(place.stem)
        return render(template, book=book, language=place.language, file=place.file, here=here, stored=STORED, **values)


def entrance() -> str:
    """The page in front of the two languages: it leads to the reader's, to English where scripts do not run."""
    return render("front.html", language="en", title="Blocklab", stored=STORED)
