"""Functions that a lesson defines in its cells."""

import ast
from pathlib import Path
from typing import Any

from authoring.lesson_panels import code_cells

SOURCES = Path(__file__).parents[1] / "notebooks" / "source"


def function_of(stem: str, name: str) -> Any:
    """The function `name` of a lesson. Only the cell that defines it is run."""
    for code, *_about in code_cells(SOURCES / f"{stem}.py"):
        if any(isinstance(part, ast.FunctionDef) and part.name == name for part in ast.parse(code).body):
            space: dict[str, Any] = {}
            exec(compile(code, f"{stem} {name}", "exec"), space)
            return space[name]
    raise LookupError(f"{stem} does not define {name}")
