"""A learner's folder in which every block is kept: the lessons' own solutions, handed in as if they were the learner's."""

import ast
from pathlib import Path

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from blocklab.lessons.kept_blocks import block_in
from blocklab.lessons.order import BLOCKS
from blocklab.report.handed_in import exercises
from blocklab.report.notebooks import Cell, code_cells, load

from .problem import PublishError
from .stamp import SETUP


def keep_solutions(mine: Path) -> None:
    """Run the solutions of all blocks beside the English copies in `mine`, so that `check` keeps them.

    Raises PublishError for a block that was not kept.
    """
    for lesson in sorted((mine / "en").glob("[0-9]*.ipynb")):
        cells = code_cells(load(lesson))
        solutions = [_handed_in(cell.source) for cell in cells if cell.solution and exercises(cell.source) & {*BLOCKS}]
        if solutions:
            sources = [cell.source for cell in cells if cell.id == SETUP or _only_imports(cell)] + solutions
            notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
            NotebookClient(notebook, resources={"metadata": {"path": str(lesson.parent)}}).execute()
    missing = [name for name in BLOCKS if not block_in(mine, name).is_file()]
    if missing:
        raise PublishError(f"the solutions of these blocks were not kept: {', '.join(missing)}")


def _only_imports(cell: Cell) -> bool:
    return all(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(cell.source).body)


def _handed_in(solution: str) -> str:
    """A solution under a learner's name, for `check` keeps none that bears a solution's."""
    return solution.replace("solved_", "my_").replace("Solved", "My").replace(", keep=False", "")
