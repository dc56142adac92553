"""Folded cells: no line that still shows gives code away, and solutions show no output before they run."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from authoring.folding import FOLDED, IMPORTS, SETUP, SOLUTION, fold, strip_title
from authoring.hidden_outputs import hide, reveal
from authoring.notebook import keep_outputs
from blocklab_course.i18n import LANGUAGES

ROOT = Path(__file__).parents[2]
BUILT = sorted(ROOT.glob("notebooks/[ez][nh]/*.ipynb"))
TITLES = {
    language: {f"#@title {getattr(title, language)}" for title in (SETUP, IMPORTS, SOLUTION)} for language in LANGUAGES
}


def code_cells(path: Path) -> list:
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", BUILT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_first_line_of_every_folded_cell_is_a_title(path):
    titles = TITLES[path.parent.name]
    for cell in code_cells(path):
        folded = FOLDED.items() <= cell.metadata.items()
        assert folded == (cell.source.partition("\n")[0] in titles), cell.source[:60]
        assert folded or "solution" not in cell.metadata.get("tags", ())


def test_imports_of_every_lesson_are_folded():
    for path in BUILT:
        for cell in code_cells(path)[1:2]:
            assert cell.source.startswith(f"#@title {getattr(IMPORTS, path.parent.name)}\n"), path


def test_solutions_in_the_built_lessons_show_no_output():
    solutions = [cell for path in BUILT for cell in code_cells(path) if "solution" in cell.metadata.get("tags", ())]
    hidden = [cell.metadata.get("blocklab", {}).get("sealed") for cell in solutions]
    assert len([outputs for outputs in hidden if outputs]) >= 2 * 50
    assert all(cell.outputs == [] for cell in solutions)


def test_title_is_the_first_line_and_can_be_stripped():
    cell = new_code_cell("x = 3\n#@title of another kind")
    for _ in range(2):  # the second time replaces the title
        fold(cell, SOLUTION, "zh")
        assert cell.source == "#@title 参考答案\nx = 3\n#@title of another kind"
    assert strip_title(cell.source) == strip_title(strip_title(cell.source)) == "x = 3\n#@title of another kind"
    assert cell.metadata == FOLDED


@pytest.mark.parametrize("tag", ["answer", "solution"])
def test_outputs_of_answers_and_solutions_are_hidden_and_revealed(tag):
    shown = new_output("stream", text="7\n")
    notebook = new_notebook(cells=[new_code_cell("print(7)", outputs=[shown], metadata={"tags": [tag]})])
    hidden = hide(notebook)
    assert hidden.cells[0].outputs == []
    reveal(hidden)
    assert hidden == notebook


def test_code_that_gets_a_title_keeps_its_outputs():
    old, new = (new_notebook(cells=[new_code_cell("print(7)", id="one")]) for _ in range(2))
    old.cells[0].update(outputs=[new_output("stream", text="7\n")], execution_count=3)
    fold(new.cells[0], SOLUTION, "en")
    keep_outputs(new, old)
    assert new.cells[0].outputs == old.cells[0].outputs
    assert new.cells[0].execution_count == 3
