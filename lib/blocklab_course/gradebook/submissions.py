"""What a cell submits, according to its source: starter code, the lesson's solution, or the student's own work.

Sources are searched, not parsed: they may hold IPython commands, and Python's parser and whatever walks its trees may
fail on made-up code or take long. Each search takes time in proportion to the length of the source.
"""

import re

from blocklab_course.lessons.catalog import LESSONS

CHECK_FUNCTIONS = {"check": "", "catch": "catch_"}  # and the prefix of its exercises

_COMMENT = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"|#[^\n]*", re.DOTALL)
_CALL = re.compile(
    r"\b(check|catch)\(\s*(?:exercise\s*=\s*)?[\"'](\w+)[\"']\s*(?:,\s*(?:(?:candidate|inputs)\s*=\s*)?(\w+))?"
)
_SOLVED = re.compile(r"solved_(\w+)|Solved([A-Z]\w*)")


def _lines_of_code(source: str) -> list[str]:
    return [line.rstrip() for line in _COMMENT.sub("", source).splitlines() if line.strip()]


# Code to complete or to repair, for which a check reports more than that it is not written yet.
STARTER_CODE = {exercise: code for lesson in LESSONS for exercise, code in lesson.starter_code.items()}


def unchanged_exercises(source: str) -> set[str]:
    """The exercises whose starter code a cell holds unchanged, but for comments and blank lines."""
    lines = _lines_of_code(source)
    return {exercise for exercise, starter in STARTER_CODE.items() if lines == _lines_of_code(starter)}


def submitted_exercises(source: str) -> set[str]:
    """The exercises for which a cell calls `check` or `catch`, ignoring comments."""
    return {exercise for exercise, _ in _submissions(source)}


def submitted_solutions(source: str) -> set[str]:
    """The exercises for which a cell submits the lesson's solution, as in `check("swish", solved_swish)`.

    It is named `solved_` or `Solved` and a part of the exercise's name: `solved_mine` is a student's own.
    """
    named = ((exercise, _SOLVED.fullmatch(name)) for exercise, name in _submissions(source))
    parts = ((exercise, "".join(solved.groups(""))) for exercise, solved in named if solved)
    return {exercise for exercise, part in parts if part.lower().replace("_", "") in exercise.replace("_", "")}


def _submissions(source: str) -> list[tuple[str, str]]:
    """The exercise of each call of `check` or `catch`, and the name of its argument, if it has one."""
    calls = _CALL.findall(_COMMENT.sub("", source))
    return [(CHECK_FUNCTIONS[called] + exercise, name) for called, exercise, name in calls]
