"""Which of a lesson's cells need which others."""

import ast
from collections.abc import Collection, Sequence

from IPython.core.inputtransformer2 import TransformerManager


def needed_cells(sources: Sequence[str], spare: Collection[int]) -> set[int]:
    """The numbers of those spare cells that give a name to what a later cell reads, be it one of these."""
    found, reads = set(), set()
    for number in reversed(range(len(sources))):
        bound, read = bound_and_read(sources[number])
        if number not in spare or bound & reads:
            found |= {number} & set(spare)
            reads = (reads - bound) | (read - bound)
    return found


def stranded_cells(sources: Sequence[str], left_out: Collection[int]) -> set[int]:
    """The numbers of the cells that cannot run without those left out, themselves among them: they read their names."""
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
