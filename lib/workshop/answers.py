"""A learner's answers, taken from the old copies of the lessons over into new ones.

A copy is a lesson's by the name behind the number; an answer is the lesson's that asks for its exercise today.
"""

import ast
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from blocklab.files import Unreadable, why_not_opened
from blocklab.language import Text
from blocklab.report.handed_in import exercises, parsed
from blocklab.report.notebooks import Cell, code_cells, load, loads
from blocklab.report.printable import printable

from .renumbered import renumbered

CARRIED = Text(en="{new}: answers taken over: {carried}", zh="{new}：带过来 {carried} 个答案")
LEFT = Text(
    en="{old}: answers to exercises that are no longer the same stay here: {left}",
    zh="{old}：这些练习已经改了，答案留在原处：{left}",
)
OTHERS_TAKEN = Text(
    en="{old}: other answers to these exercises, from another copy, were taken over, and these stay here: {left}",
    zh="{old}：这些练习已经用了另一份副本里的答案，这一份里的留在原处：{left}",
)
UNREAD = Text(en="{old}: {why}; what it holds stays here", zh="{old}：{why}；里面的内容留在原处")
CELL = Text(en="cell {number}", zh="第 {number} 个单元格")


@dataclass
class Copy:
    """An old copy of a lesson, and what has become of the answers in it.

    carried: those that have a place now; doubled: others to exercises that another copy has answered.
    """

    name: str
    lesson: str  # what the lesson's file is called today
    notebook: dict
    carried: list[Cell] = field(default_factory=list)
    doubled: list[Cell] = field(default_factory=list)
    left: list[Cell] = field(default_factory=list)


def with_answers(lessons: dict[str, bytes], mine: Path, shown: str, kept: str) -> tuple[dict[str, bytes], list[str]]:
    """The lessons of a language, by file name, with the answers of the old copies in a folder in them.

    And what is to be said about them. In messages the folder of the new copies is called `shown`, of the old `kept`.
    """
    new, copies, unread = {name: _read(lesson) for name, lesson in lessons.items()}, [], {}
    earlier = renumbered(mine, lessons)
    for lesson in lessons:
        for name in (lesson, *(name for name, today in earlier.items() if today == lesson)):
            try:
                if os.path.lexists(mine / name):
                    copies.append(Copy(name, lesson, load(mine / name)))
            except (Unreadable, OSError) as error:
                unread.setdefault(lesson, []).append((name, why_not_opened(error)))
    counts = carry_over(copies, new)
    said = []
    for lesson, count in counts.items():
        if count:
            said.append(CARRIED.format(new=f"{shown}/{lesson}", carried=count))
        said += [UNREAD.format(old=f"{kept}/{name}", why=why) for name, why in unread.get(lesson, ())]
        said += [line for copy in copies if copy.lesson == lesson for line in _what_stays(copy, f"{kept}/{copy.name}")]
    renewed = {name: as_bytes(new[name]) if counts[name] else lesson for name, lesson in lessons.items()}
    return renewed, [printable(line) for line in said]


def _read(lesson: bytes) -> dict:
    try:
        return loads(lesson)
    except Unreadable:  # is copied as it is
        return {"cells": []}


def _what_stays(copy: Copy, shown: str) -> Iterator[str]:
    for text, cells in ((LEFT, copy.left), (OTHERS_TAKEN, copy.doubled)):
        if cells:
            names = (", ".join(sorted(exercises(cell.source))) or CELL.format(number=cell.number) for cell in cells)
            yield text.format(old=shown, left=", ".join(names))


def as_bytes(notebook: dict) -> bytes:
    """A notebook as Jupyter saves it. Halves of characters, which no file holds, become the escapes they came from."""
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def carry_over(copies: list[Copy], lessons: dict[str, dict]) -> dict[str, int]:
    """Put the answers of old copies into the lessons, each into the cell of the same exercise; how many into each.

    It is the same where the same names are handed to `check` and what the starting code defines takes the same
    arguments. The copy that bears the lesson's name of today goes first; an exercise that has moved to another lesson
    takes its answer along. The copies then tell which answers have a place.
    """
    unanswered = {name: [cell for cell in code_cells(lesson) if cell.exercise] for name, lesson in lessons.items()}
    counts = {name: len(cells) for name, cells in unanswered.items()}
    starts = {_code(cell.source) for cells in unanswered.values() for cell in cells}
    ids = {name: [cell.id for cell in cells] for name, cells in unanswered.items()}
    for copy in copies:
        copy.left = _answers(copy.notebook, ids[copy.lesson], starts)
        _put(copy, lessons[copy.lesson], unanswered[copy.lesson])
    for copy in copies:
        for name, cells in unanswered.items():
            _put(copy, lessons[name], cells)
    for copy in copies:
        _sort_out(copy, copies)
    return {name: count - len(unanswered[name]) for name, count in counts.items()}


def _answers(copy: dict, ids: list[object], starts: set[str]) -> list[Cell]:
    """The cells of a copy that a learner has written; ids: of the lesson's exercises, starts: code of all lessons'."""
    return [
        cell
        for cell in code_cells(copy)
        if (cell.exercise or (cell.id in ids and exercises(cell.source)))
        and not cell.solution
        and _code(cell.source) not in starts
        and _is_written(cell.source)
    ]


def _put(copy: Copy, lesson: dict, unanswered: list[Cell]) -> None:
    """Put what fits of a copy's answers into a lesson's exercises that have none yet."""
    for cell in tuple(unanswered):
        fitting = [answer for answer in copy.left if _fits(answer.source, cell.source)]
        if fitting:
            answer = min(fitting, key=lambda answer: answer.id != cell.id)
            lesson["cells"][cell.number - 1] |= {
                "source": answer.source.splitlines(keepends=True),
                "outputs": [],  # are those of the starting code
                "execution_count": None,
            }
            unanswered.remove(cell)
            copy.left.remove(answer)
            copy.carried.append(answer)


def _sort_out(copy: Copy, copies: list[Copy]) -> None:
    """Of what is left of a copy's answers, set apart those to exercises that another copy has answered otherwise.

    One more answer to what the copy itself has answered is no news, and neither is the same one in two copies.
    """
    carried = [cell for other in copies for cell in other.carried]
    own, all_of_them, same = _handed(copy.carried), _handed(carried), {_code(cell.source) for cell in carried}
    answered = [cell for cell in copy.left if exercises(cell.source) and exercises(cell.source) <= all_of_them]
    copy.left = [cell for cell in copy.left if cell not in answered]
    copy.doubled = [cell for cell in answered if not exercises(cell.source) <= own and _code(cell.source) not in same]


def _handed(cells: list[Cell]) -> set[str]:
    return {name for cell in cells for name in exercises(cell.source)}


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
