"""Turn a built lesson, an appendix or the glossary into a page."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup
from nbformat import NotebookNode

from authoring.further import is_collapsed
from authoring.navigation import find_next, find_previous, find_side_trip
from authoring.notebook import GENERATED_IDS
from blocklab_course.i18n import use_language
from blocklab_course.lessons.catalog import manifest_of

from .cells import CodeCell, Picture, TextCell, code_cell
from .layout import Book, Place, page
from .markdown import headings, html, slug

_TITLE = re.compile(r"\A# +[^\n]*\n*")
_MINUTES = re.compile(r"about (\d+) minutes|大约需要 (\d+) 分钟")


@dataclass(frozen=True)
class Part:
    """A part of a page: the core, which has no heading, or a section that goes further, folded under its heading."""

    heading: TextCell | None = None
    cells: list[CodeCell | TextCell] = field(default_factory=list)


def own_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that come from the source, without generated ones."""
    return [cell for cell in notebook.cells if cell.id not in GENERATED_IDS]


def strip_title(source: str) -> str:
    return _TITLE.sub("", source)


def heading_ids(english: NotebookNode) -> dict[str, list[str]]:
    """The ids of the headings by cell. Both languages share them, so that a reader who switches keeps the place."""
    ids, seen = {}, Counter()
    for cell in own_cells(english):
        if cell.cell_type == "markdown":
            ids[cell.id] = []
            for heading in headings(strip_title(cell.source)):
                name = slug(heading.said)
                seen[name] += 1
                ids[cell.id].append(f"{name}--{seen[name]}" if seen[name] > 1 else name)
    return ids


def minutes(lesson: NotebookNode) -> str | None:
    """The minutes that the first text states."""
    found = _MINUTES.search(own_cells(lesson)[0].source)
    return found and (found[1] or found[2])


def notebook_page(
    book: Book,
    place: Place,
    notebook: NotebookNode,
    ids: Mapping[str, list[str]],
    drawn: Mapping[str, Picture],
    store: Callable[[bytes], str],
    handout: bool,
) -> str:
    """A page. drawn: pictures by cell. store: keeps a PNG and returns its address. handout: whether there is one."""
    with use_language(place.language):
        parts, contents = [Part()], []
        for cell in own_cells(notebook):
            if cell.cell_type != "markdown":
                parts[-1].cells.append(code_cell(cell, drawn.get(cell.id), store))
                continue
            source = strip_title(cell.source)
            text = TextCell(cell.id, Markup(html(source, ids[cell.id])))
            if is_collapsed(cell):
                parts.append(Part(heading=text))
            else:
                parts[-1].cells.append(text)
            named = zip(headings(source), ids[cell.id], strict=True)
            contents += [(name, Markup(heading.html)) for heading, name in named if heading.level == 2]
    here = book.outline(place.stem)
    colab = None
    if here and book.address.colab:
        colab = f"{book.address.colab}/notebooks/{place.language}/{place.stem}.ipynb"
    return page(
        "lesson.html",
        book,
        place,
        title=f"{book.title(place.stem, place.language)} · Blocklab",
        parts=parts,
        contents=contents,
        minutes=minutes(notebook),
        colab=colab,
        handout=handout,
        before=here and find_previous(book.outlines, here),
        after=here and find_next(book.outlines, here),
        aside=here and find_side_trip(book.outlines, here),
        is_side_trip=manifest_of(place.stem).side_trip,
    )
