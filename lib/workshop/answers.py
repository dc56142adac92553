"""A learner's answers, taken from an old copy of a lesson over into a new one."""

import ast
import json
import os
from pathlib import Path

from blocklab.files import Unreadable, why_not_opened
from blocklab.language import Text
from blocklab.report.handed_in import exercises, parsed
from blocklab.report.notebooks import Cell, code_cells, load, loads
from blocklab.report.printable import printable

CARRIED = Text(en="{new}: answers taken over: {carried}", zh="{new}：带过来 {carried} 个答案")
LEFT = Text(
    en="{old}: answers to exercises that are no longer the same stay here: {left}",
    zh="{old}：这些练习已经改了，答案留在原处：{left}",
)
UNREAD = Text(en="{old}: {why}; what it holds stays here", zh="{old}：{why}；里面的内容留在原处")
CELL = Text(en="cell {number}", zh="第 {number} 个单元格")


def with_answers(lesson: bytes, old: Path, shown: str, kept: str) -> tuple[bytes, list[str]]:
    """The lesson with the answers of an old copy in it, and what is to be said about them.

    In messages the new copy is called `shown`, the old one `kept`.
    """
    if not os.path.lexists(old):
        return lesson, []
    try:
        copy = load(old)
    except (Unreadable, OSError) as error:
        why = why_not_opened(error)
        return lesson, [printable(UNREAD.format(old=kept, why=why))]
    try:
        notebook = loads(lesson)
    except Unreadable:  # is copied as it is
        notebook = {"cells": []}
    carried, left = carry_over(copy, notebook)
    said = [CARRIED.format(new=shown, carried=carried)] * bool(carried)
    if left:
        names = (", ".join(sorted(exercises(cell.source))) or CELL.format(number=cell.number) for cell in left)
        said.append(LEFT.format(old=kept, left=", ".join(names)))
    return as_bytes(notebook) if carried else lesson, [printable(line) for line in said]


def as_bytes(notebook: dict) -> bytes:
    """A notebook as Jupyter saves it. Halves of characters, which no file holds, become the escapes they came from."""
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def carry_over(old: dict, lesson: dict) -> tuple[int, list[Cell]]:
    """Put the answers of an old copy into the lesson, each into the cell of the same exercise.

    It is the same where the same names are handed to `check` and what the starting code defines takes the same
    arguments. How many answers there were, and the cells of those that have no place in the lesson.
    """
    asked = [cell for cell in code_cells(lesson) if cell.exercise]
    ids, starts = [cell.id for cell in asked], {_code(cell.source) for cell in asked}
    answers = [
        cell
        for cell in code_cells(old)
        if (cell.exercise or (cell.id in ids and exercises(cell.source)))
        and not cell.solution
        and _code(cell.source) not in starts
        and _is_written(cell.source)
    ]
    carried, names = [], set()
    for cell in asked:
        fitting = [answer for answer in answers if answer not in carried and _fits(answer.source, cell.source)]
        if fitting:
            answer = min(fitting, key=lambda answer: answer.id != cell.id)
            lesson["cells"][cell.number - 1] |= {
                "source": answer.source.splitlines(keepends=True),
                "outputs": [],  # are those of the starting code
                "execution_count": None,
            }
            carried.append(answer)
            names |= exercises(answer.source)
    left = [answer for answer in answers if answer not in carried and not _within(names, answer.source)]
    return len(carried), left


def _within(names: set[str], source: str) -> bool:
    """Whether a cell is one more answer to exercises whose answers were found already."""
    handed = exercises(source)
    return bool(handed) and handed <= names


def _fits(answer: str, start: str) -> bool:
    wanted = exercises(start)
    if not wanted or not wanted <= exercises(answer):
        return False
    given = _arguments(answer)
    return all(given.get(name, arguments) == arguments for name, arguments in _arguments(start).items())


def _arguments(source: str) -> dict[str, list[str]]:
    """The arguments of each function and method that a cell defines."""
    tree = parsed(source)
    body = tree.body if tree else []
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    named = [("", node) for node in body] + [(f"{each.name}.", node) for each in classes for node in each.body]
    return {
        prefix + node.name: [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
        for prefix, node in named
        if isinstance(node, ast.FunctionDef)
    }


def _code(source: str) -> str:
    """What tells a cell from another, comments and blank lines aside."""
    tree = parsed(source)
    return source.strip() if tree is None else ast.dump(tree)


def _is_written(source: str) -> bool:
    """Whether a cell holds more than code that waits for the learner: a comment by itself is the learner's too."""
    tree = parsed(source)
    return bool(source.strip()) and (tree is None or not tree.body or not all(map(_waits, tree.body)))


def _waits(statement: ast.stmt) -> bool:
    """Whether a statement does nothing yet: `my_axes = None`, `return ...`, `check("scale", my_s)`, a docstring."""
    match statement:
        case ast.FunctionDef() | ast.ClassDef():
            return all(map(_waits, statement.body))
        case ast.Assign(value=value) | ast.Return(value=value):
            return value is None or (isinstance(value, ast.Constant) and value.value in (None, ...))
        case ast.Expr(value=ast.Call(args=[_, ast.Name(id=name)])):
            return name.lower().startswith("my_")
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
    return False
