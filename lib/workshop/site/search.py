"""What the search looks through: the words of each section of each page, but for what is folded.

Whoever searches for a word is shown the sentence around it, and no answer to a prediction is to be among these.
"""

from collections.abc import Iterable, Mapping

from nbformat import NotebookNode

from workshop.prose import unfolded

from .data_script import data_script
from .markdown import sections
from .pages import own_cells, without_title

Section = tuple[str, str, str]  # id, heading, words


def found_in(notebook: NotebookNode, ids: Mapping[str, list[str]]) -> list[Section]:
    """The sections of a page; the first one, before any heading, has neither id nor heading."""
    found: list[Section] = [("", "", "")]
    for cell in own_cells(notebook):
        if cell.cell_type != "markdown":
            continue
        names = iter(ids[cell.id])
        for heading, said in sections(unfolded(without_title(cell.source))):
            if heading is None:
                name, title, before = found.pop()
                found.append((name, title, f"{before} {said}".strip()))
            else:
                found.append((next(names), heading, said))
    return found


def index(language: str, pages: Iterable[tuple[str, str, list[Section]]]) -> str:
    """A script that hands the pages of a language, each with its file and title, to the search."""
    return data_script("blocklabSearch", language, list(pages))
