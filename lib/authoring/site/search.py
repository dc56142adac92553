"""The search index: the words of each section of each page.

Folded text is left out, because results quote the words around a hit, and that must not give away an answer.
"""

from collections.abc import Iterable, Mapping

from nbformat import NotebookNode

from authoring.lint.markdown import strip_details

from .data_script import data_script
from .markdown import sections
from .pages import own_cells, strip_title

Section = tuple[str, str, str]  # id, heading, words


def read_sections(notebook: NotebookNode, ids: Mapping[str, list[str]]) -> list[Section]:
    """The sections of a page. The first, before any heading, has neither id nor heading."""
    found: list[Section] = [("", "", "")]
    for cell in own_cells(notebook):
        if cell.cell_type != "markdown":
            continue
        names = iter(ids[cell.id])
        for heading, said in sections(strip_details(strip_title(cell.source))):
            if heading is None:
                name, title, before = found.pop()
                found.append((name, title, f"{before} {said}".strip()))
            else:
                found.append((next(names), heading, said))
    return found


def index(language: str, pages: Iterable[tuple[str, str, list[Section]]]) -> str:
    """The index of a language as a script. Each page comes with its file and title."""
    return data_script("blocklabSearch", language, list(pages))
