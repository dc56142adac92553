"""Settings for nbval: `pytest --nbval --nbval-current-env tests/notebooks notebooks/en notebooks/zh`."""

import ast
from itertools import groupby

import pytest
from IPython.core.inputtransformer2 import TransformerManager


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` chooses
def pytest_collection_modifyitems(items):
    cells = [item for item in items if hasattr(item, "output_timeout")]
    for cell in cells:
        cell.output_timeout = 60  # nbval waits 5 seconds for a line of output, too few on a busy machine
    for _path, lesson in groupby(cells, key=lambda cell: cell.path):
        for cell in dispensable(list(lesson)):
            cell.add_marker("slow")


def dispensable(lesson):
    """The cells with the tag `slow`; none where another cell needs what they leave behind."""
    slow = [cell for cell in lesson if "slow" in cell.cell.metadata.get("tags", [])]
    there, left = set(), set()
    for cell in lesson:
        bound, read = names(cell.cell.source)
        if cell in slow:
            left |= bound
        elif (read - bound - there) & left:
            return []
        else:
            there |= bound
    return slow


def names(source):
    """The names that a cell gives to something, and those that it reads."""
    bound, read = set(), set()
    for node in ast.walk(ast.parse(TransformerManager().transform_cell(source))):
        match node:
            case ast.Name(name, ast.Load()):
                read.add(name)
            case ast.Name(name) | ast.FunctionDef(name) | ast.ClassDef(name):
                bound.add(name)
            case ast.alias(name, alias):
                bound.add((alias or name).split(".")[0])
    return bound, read
