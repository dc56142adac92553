"""Exercises and solutions, as the tags of the code cells name them: the class report goes by these tags."""

import ast
from collections.abc import Iterator

from authoring.problem import Problem
from authoring.source import Code, Lesson, parse
from blocklab_course.gradebook.submissions import CALLED


def check_exercises(lesson: Lesson) -> list[Problem]:
    """A cell that calls `check` or `catch` is an exercise, or the solution of one that stands above it."""
    problems, asked = [], set()
    for cell in lesson.cells:
        names = set(_checked(cell)) if isinstance(cell, Code) else set()
        kinds = {"exercise", "solution"} & set(getattr(cell, "tags", ()))
        if len(kinds) == 2 or (names and not kinds):
            what = 'calls check or catch: it wants one of the tags "exercise" and "solution"'
        elif kinds == {"solution"} and names - asked:
            what = f"solves {', '.join(sorted(names - asked))}, which no exercise above it asks for"
        else:
            asked |= names
            continue
        problems.append(Problem(lesson.file, cell.line, cell.id, what))
    return problems


def _checked(cell: Code) -> Iterator[str]:
    """The exercises that a cell hands to `check` or `catch`."""
    try:
        tree = parse(cell.source)
    except SyntaxError:  # of a cell that raises an exception on purpose
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLED and node.args:
            name = getattr(node.args[0], "value", None)
            yield repr(CALLED[node.func.id] + name) if isinstance(name, str) else ast.unparse(node.args[0])
