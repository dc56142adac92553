"""Sections that go further are collapsed when a notebook is opened."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring import notebook
from authoring.further import COLLAPSED, collapse_on_colab, split_heading
from authoring.project import Project
from blocklab_course.i18n import LANGUAGES

PROJECT = Project(Path(__file__).parents[2])


@pytest.mark.parametrize("heading", ["## Going further: more", "## 选读：更多"])
def test_heading_becomes_a_cell_of_its_own(heading):
    cell = new_markdown_cell(f"{heading}\n\nMore text.", id="going-further-more-1")
    first, rest = split_heading(cell)
    assert (first.source, first.id, first.metadata[COLLAPSED]) == (heading, "going-further-more-0", True)
    assert (rest.source, rest.id) == ("More text.", "going-further-more-1")


def test_heading_without_text_is_one_cell():
    [cell] = split_heading(new_markdown_cell("## Going further: more", id="going-further-more-1"))
    assert cell.metadata[COLLAPSED]


@pytest.mark.parametrize(
    "cell", [new_markdown_cell("## In short\n\nGoing further."), new_code_cell("## Going further: more")]
)
def test_other_cells_stay_as_they_are(cell):
    assert split_heading(cell) == [cell]


def test_colab_is_told_which_headings_are_collapsed():
    cells = split_heading(new_markdown_cell("## Going further: more\n\nText.", id="going-further-more-1"))
    there = new_notebook(cells=cells)
    collapse_on_colab(there)
    assert there.metadata.colab == {"collapsed_sections": ["going-further-more-0"]}
    assert there.cells[0].metadata.id == "going-further-more-0"
    plain = new_notebook(cells=[new_markdown_cell("Text.")])
    collapse_on_colab(plain)
    assert "colab" not in plain.metadata


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_follows_the_last_collapsed_section_is_not_hidden(language):
    """It begins with a heading of the same level."""
    for outline in PROJECT.outlines():
        cells = notebook.read(PROJECT.notebook(language, outline.stem)).cells
        if any(COLLAPSED in cell.metadata for cell in cells) and cells[-1].id in notebook.GENERATED_IDS:
            assert cells[-1].source.startswith("## "), outline.stem
