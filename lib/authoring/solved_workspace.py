"""Fill a learner's folder with saved solutions by running the lessons' own solutions."""

import ast
from pathlib import Path

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from blocklab_course.gradebook.notebooks import Cell, code_cells, load
from blocklab_course.gradebook.submissions import submitted_exercises
from blocklab_course.lessons.catalog import SAVED_EXERCISES
from blocklab_course.workspace.solutions import solution_file_in

from .cell_deps import needed_cells
from .install_cell import CELL_ID
from .problem import BuildError


def save_solutions(mine: Path) -> None:
    """Run the solutions beside the English copies in `mine`, so that `check` saves them.

    Raises BuildError if a solution was not saved.
    """
    for lesson in sorted((mine / "en").glob("[0-9]*.ipynb")):
        sources = _solution_sources(code_cells(load(lesson)))
        if not sources:
            continue
        notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
        beside = {"metadata": {"path": str(lesson.parent)}}
        NotebookClient(notebook, resources=beside, extra_arguments=["--log-level=ERROR"]).execute()
    missing = [name for name in SAVED_EXERCISES if not solution_file_in(mine, name).is_file()]
    if missing:
        raise BuildError(f"solutions that were not saved: {', '.join(missing)}")


def _solution_sources(cells: list[Cell]) -> list[str]:
    """The solutions that `check` saves, with the cells that they need; empty if there are none."""
    solutions = [cell for cell in cells if cell.solution and submitted_exercises(cell.source) & {*SAVED_EXERCISES}]
    cells = [cell for cell in cells if cell in solutions or cell.exercise or cell.id == CELL_ID or _only_imports(cell)]
    sources = [_rename_solution(cell.source) if cell in solutions else cell.source for cell in cells]
    spare = {number for number, cell in enumerate(cells) if cell.exercise}
    left_out = spare - needed_cells(sources, spare)
    return [source for number, source in enumerate(sources) if solutions and number not in left_out]


def _only_imports(cell: Cell) -> bool:
    return all(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(cell.source).body)


def _rename_solution(solution: str) -> str:
    """Give the solution a learner's names, because `check` does not save `solved_` functions."""
    return solution.replace("solved_", "own_").replace("Solved", "Own").replace(", keep=False", "")
