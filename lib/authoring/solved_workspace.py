"""A learner's folder in which every block is kept: the lessons' own solutions, handed in as a learner would."""

import ast
from pathlib import Path

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from blocklab_course.gradebook.notebooks import Cell, code_cells, load
from blocklab_course.gradebook.submissions import exercises
from blocklab_course.lessons.catalog import SAVED_EXERCISES
from blocklab_course.workspace.solutions import solution_file_in

from .cell_deps import needed_cells
from .problem import BuildError
from .stamped_cells import SETUP


def save_solutions(mine: Path) -> None:
    """Run the solutions of all blocks beside the English copies in `mine`, so that `check` keeps them.

    Raises PublishError for a block that was not kept.
    """
    for lesson in sorted((mine / "en").glob("[0-9]*.ipynb")):
        sources = _handed_in(code_cells(load(lesson)))
        if not sources:
            continue
        notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
        beside = {"metadata": {"path": str(lesson.parent)}}
        NotebookClient(notebook, resources=beside, extra_arguments=["--log-level=ERROR"]).execute()
    missing = [name for name in SAVED_EXERCISES if not solution_file_in(mine, name).is_file()]
    if missing:
        raise BuildError(f"the solutions of these blocks were not kept: {', '.join(missing)}")


def _handed_in(cells: list[Cell]) -> list[str]:
    """A lesson's solutions of blocks with the cells that they need, or none: imports, and exercises that they go on."""
    solutions = [cell for cell in cells if cell.solution and exercises(cell.source) & {*SAVED_EXERCISES}]
    cells = [cell for cell in cells if cell in solutions or cell.exercise or cell.id == SETUP or _only_imports(cell)]
    sources = [_renamed(cell.source) if cell in solutions else cell.source for cell in cells]
    spare = {number for number, cell in enumerate(cells) if cell.exercise}
    left_out = spare - needed_cells(sources, spare)
    return [source for number, source in enumerate(sources) if solutions and number not in left_out]


def _only_imports(cell: Cell) -> bool:
    return all(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(cell.source).body)


def _renamed(solution: str) -> str:
    """A solution under a name of its own, for `check` keeps none that bears a solution's."""
    return solution.replace("solved_", "own_").replace("Solved", "Own").replace(", keep=False", "")
