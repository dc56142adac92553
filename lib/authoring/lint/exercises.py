"""Check the tags of exercises and solutions, on which the class report relies."""

import ast
from collections.abc import Iterator

from authoring.problem import Problem
from authoring.source import Code, Lesson, parse
from blocklab_course.gradebook.submissions import CHECK_FUNCTIONS


def check_exercises(lesson: Lesson) -> list[Problem]:
    """A cell that calls `check` or `catch` must be tagged as an exercise, or as the solution of an earlier one."""
    problems, asked = [], set()
    for cell in lesson.cells:
        names = set(_exercise_names(cell)) if isinstance(cell, Code) else set()
        kinds = {"exercise", "solution"} & set(getattr(cell, "tags", ()))
        if len(kinds) == 2 or (names and not kinds):
            what = 'calls check or catch: expected one of the tags "exercise" and "solution"'
        elif kinds == {"solution"} and names - asked:
            what = f"solves {', '.join(sorted(names - asked))}, which no earlier exercise asks for"
        else:
            asked |= names
            continue
        problems.append(Problem(lesson.file, cell.line, cell.id, what))
    return problems


def _exercise_names(cell: Code) -> Iterator[str]:
    """The names of the exercises that a cell passes to `check` or `catch`."""
    try:
        tree = parse(cell.source)
    except SyntaxError:  # on purpose, in a cell tagged raises-exception
        return
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in CHECK_FUNCTIONS
            and node.args
        ):
            name = getattr(node.args[0], "value", None)
            yield repr(CHECK_FUNCTIONS[node.func.id] + name) if isinstance(name, str) else ast.unparse(node.args[0])
