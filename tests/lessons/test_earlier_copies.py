"""Copies of the lessons from before the rooms: a cell that imports what is gone says in one line how to renew them."""

import ast
import json
import sys
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from blocklab.language import LANGUAGES, choose
from blocklab.lesson import OLD, OldCopy

BEFORE = json.loads((Path(__file__).parents[1] / "data" / "lessons_before_rooms.json").read_text("utf-8"))
CELLS = [(lesson, cell) for lesson, cells in BEFORE["lessons"].items() for cell in cells]
IMPORTING = [
    pytest.param(cell["source"], id=f"{lesson[:2]} {cell['id']}")
    for lesson, cell in CELLS
    if "import blocklab" in cell["source"] or "from blocklab" in cell["source"]
]

pytestmark = pytest.mark.usefixtures("lesson_undone")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_cell_says_it_in_one_line_and_stops_the_others(language):
    sources = (BEFORE["setup"][language], "print('went on')")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    with pytest.raises(CellExecutionError):
        NotebookClient(notebook, kernel_name="python3").execute()
    [said] = notebook.cells[0].outputs
    assert said.output_type == "error"
    assert said.traceback == [getattr(OLD, language)]
    assert "\n" not in said.traceback[0]
    assert notebook.cells[1].outputs == []


def imports(source: str) -> list[str]:
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom))
    return [ast.unparse(node) for node in nodes if "blocklab" in ast.unparse(node)]


@pytest.mark.parametrize("source", IMPORTING)
def test_a_cell_that_is_run_without_the_first_one_says_it_too(source):
    """Or finds what it imports."""
    with suppress(OldCopy):
        for line in imports(source):
            exec(line, {})


@pytest.mark.parametrize(
    "line",
    [
        "from blocklab.checks import check",
        "from blocklab.pictures.poke_one_number import poke_one_number",
        "import blocklab.pictures.clocks",
        "from blocklab import two_processes",
        "from blocklab.lesson import progress",
    ],
)
def test_what_is_gone_says_so_in_the_language_chosen(line):
    choose("zh")
    with pytest.raises(OldCopy) as raised:
        exec(line, {})
    assert raised.value._render_traceback_() == [OLD.zh]


def test_a_folder_that_git_leaves_behind_is_no_package(tmp_path, monkeypatch):
    """Python takes a folder without `__init__.py` for a package only where no module has that name."""
    import blocklab

    (tmp_path / "pictures" / "__pycache__").mkdir(parents=True)
    (tmp_path / "pictures.py").write_bytes((Path(blocklab.__file__).parent / "pictures.py").read_bytes())
    monkeypatch.setattr(blocklab, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "blocklab.pictures", raising=False)
    with pytest.raises(OldCopy):
        exec("from blocklab.pictures.clocks import clocks", {})


def test_names_that_never_were_are_told_as_ever():
    with pytest.raises(ImportError, match="cannot import name 'chek'"):
        exec("from blocklab.checks import chek", {})
    with pytest.raises(ImportError, match="cannot import name 'start'"):
        exec("from blocklab.lesson import start", {})
