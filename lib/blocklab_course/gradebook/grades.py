"""Grades from verdicts: the best and the last one of each exercise."""

import re
from dataclasses import dataclass, field

from blocklab_course.checks.verdict import MIME
from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import EXERCISES

from .notebooks import Cell
from .submissions import submitted_solutions, unchanged_exercises

SOLVED, NOT_BEGUN, UNKNOWN = "✓", "…", "?"
MAX_VERDICTS = 100  # of one cell, which in a lesson has at most a few

UNREADABLE = Text(en="cell {cell}: unreadable outputs or verdicts", zh="第 {cell} 个单元格：输出或结论无法读取")
TOO_MANY = Text(en="cell {cell}: only its first {most} verdicts count", zh="第 {cell} 个单元格：只算前 {most} 个结论")
NOT_OWN = Text(en="cell {cell}: seems to be the lesson's solution", zh="第 {cell} 个单元格：看来是课程的参考答案")
NO_EXERCISE = Text(en="unknown exercise: {name}", zh="这里没有这个练习：{name}")

_MISTAKE = re.compile(r"(?=.{1,300}\Z)\w[\w-]*(\+\w[\w-]*)*")


@dataclass
class Grades:
    """The best and the last grade of each exercise, and what does not count, with reasons.

    SOLVED is better than a mistake, a mistake better than NOT_BEGUN; of several mistakes, the last one counts.
    """

    best: dict[str, str] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def saved_grades(cells: list[Cell], problems: list[str] = ()) -> Grades:
    """The grades from the verdicts in the outputs of a notebook's cells, without the lesson's solutions."""
    grades = Grades(problems=[*problems])
    for cell in (cell for cell in cells if not cell.solution and cell.outputs != []):
        solutions, unchanged = submitted_solutions(cell.source), unchanged_exercises(cell.source)
        for exercise, grade in _verdicts(cell, grades.problems):
            if exercise not in EXERCISES:
                grades.problems.append(NO_EXERCISE.format(name=exercise))
            elif cell.folded or exercise in solutions:
                grades.problems.append(NOT_OWN.format(cell=cell.number))
            else:
                grades.last[exercise] = NOT_BEGUN if exercise in unchanged and grade != SOLVED else grade
                grades.best[exercise] = better_grade(grades.best.get(exercise, NOT_BEGUN), grades.last[exercise])
    return grades


def _verdicts(cell: Cell, problems: list[str]) -> list[tuple[str, str]]:
    """The exercise and the grade of each valid verdict in the outputs of a cell. Says in `problems` what is invalid."""
    outputs = cell.outputs if isinstance(cell.outputs, list) else [None]
    bundles = [output.get("data", {}) if isinstance(output, dict) else None for output in outputs]
    grades = [_grade(bundle[MIME]) for bundle in bundles if isinstance(bundle, dict) and MIME in bundle]
    if None in grades or not all(isinstance(bundle, dict) for bundle in bundles):
        problems.append(UNREADABLE.format(cell=cell.number))
    if len(grades) > MAX_VERDICTS:
        problems.append(TOO_MANY.format(cell=cell.number, most=MAX_VERDICTS))
    return [grade for grade in grades[:MAX_VERDICTS] if grade]


def _grade(verdict: object) -> tuple[str, str] | None:
    """The exercise and the grade of a verdict; None if it is not one."""
    match verdict:
        case {"exercise": str(exercise), "passed": True}:
            return exercise, SOLVED
        case {"exercise": str(exercise), "passed": False, "mistake": None}:
            return exercise, UNKNOWN
        case {"exercise": str(exercise), "passed": False, "mistake": str(mistake)} if _MISTAKE.fullmatch(mistake):
            return exercise, NOT_BEGUN if mistake == "not-written-yet" else mistake
    return None


def better_grade(earlier: str, later: str) -> str:
    """The better of two grades; the later one of two mistakes."""
    return max(later, earlier, key=lambda grade: {NOT_BEGUN: 0, SOLVED: 2}.get(grade, 1))
