"""Find which cells of a notebook depend on others, by the names that they define and read."""

import ast
from collections.abc import Collection, Sequence

from IPython.core.inputtransformer2 import TransformerManager


def needed_cells(sources: Sequence[str], spare: Collection[int]) -> set[int]:
    """The indices of the spare cells that define a name which a later needed cell reads."""
    found, reads = set(), set()
    for number in reversed(range(len(sources))):
        bound, read = bound_and_read(sources[number])
        if number not in spare or bound & reads:
            found |= {number} & set(spare)
            reads = (reads - bound) | (read - bound)
    return found


def stranded_cells(sources: Sequence[str], left_out: Collection[int]) -> set[int]:
    """The indices of the cells left out and of all cells that read their names, directly or not."""
    found, missing = set(), set()
    for number, source in enumerate(sources):
        bound, read = bound_and_read(source)
        if number in left_out or missing & (read - bound):
            found.add(number)
            missing |= bound
        else:
            missing -= bound
    return found


def bound_and_read(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell defines, and those that it reads."""
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
