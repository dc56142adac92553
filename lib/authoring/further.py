"""Collapse the sections that go further, when a notebook is opened.

JupyterLab and Colab hide the cells after a collapsed heading, up to the next heading of its level, but not the text of
the heading's own cell. The build therefore puts these headings into cells of their own.
"""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

COLLAPSED = "jp-MarkdownHeadingCollapsed"
_HEADING = re.compile(r"(## +(?:Going further|选读)[^\n]*)\n*")


def split_heading(cell: NotebookNode) -> list[NotebookNode]:
    """The heading of a section that goes further, and its text; the cell itself if it does not begin with one."""
    found = _HEADING.match(cell.source)
    if cell.cell_type != "markdown" or not found:
        return [cell]
    section, _, _ = cell.id.rpartition("-")  # the cells of a section are numbered from 1
    id = f"{section}-0"
    heading = new_markdown_cell(found[1], id=id, metadata={COLLAPSED: True, "id": id})  # Colab reads the id there
    cell.source = cell.source[found.end() :]
    return [heading, cell] if cell.source else [heading]


def is_collapsed(cell: NotebookNode) -> bool:
    return COLLAPSED in cell.metadata


def collapse_on_colab(notebook: NotebookNode) -> None:
    """Name the collapsed headings in the metadata of the notebook, where Colab looks for them."""
    if ids := [cell.id for cell in notebook.cells if is_collapsed(cell)]:
        notebook.metadata.colab = {"collapsed_sections": ids}
