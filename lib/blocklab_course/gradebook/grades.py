"""Grades from verdicts: the best and the last one of each exercise."""

import re
import reprlib

from blocklab_course.checks.verdict import MIME
from blocklab_course.i18n import Text

from .notebooks import Cell
from .submissions import is_starter_code, submitted_solutions

SOLVED, NOT_BEGUN, UNKNOWN = "✓", "…", "?"
NOT_WRITTEN = "not-written-yet"
MAX_UNKNOWN = (
    20  # unknown exercises per student: enough for those of a newer version, without a flood of made-up columns
)
MAX_PROBLEMS = 3

BAD_CELLS = Text(en="unreadable cells: {count}", zh="无法读取的单元格：{count} 个")
BAD_OUTPUTS = Text(en="cell {cell}: unreadable outputs", zh="第 {cell} 个单元格：输出无法读取")
BAD_VERDICT = Text(en="cell {cell}: expected a verdict, got {got}", zh="第 {cell} 个单元格：结论不合格式，写的是 {got}")
BAD_FIELD = Text(
    en="cell {cell}: invalid {field} in a verdict: {got}",
    zh="第 {cell} 个单元格：结论里的 {field} 不合格式，写的是 {got}",
)
TOO_MANY_UNKNOWN = Text(en="too many unknown exercises", zh="不存在的练习太多")
MORE = Text(en="more of this kind: {count}", zh="类似的错误还有 {count} 处")

_NAME = re.compile(r"\w[\w-]{0,99}")
_MISTAKE = re.compile(r"\w[\w-]*(\+\w[\w-]*)*")
MAX_MISTAKE_LENGTH = 300


class Grades:
    """The best and the last grade of each exercise.

    SOLVED is better than a mistake, a mistake better than NOT_BEGUN; of several mistakes, the last one counts. Invalid
    verdicts are reported in `problems`. `excluded` are the numbers of cells whose verdict seems to be on the lesson's
    own solution.
    """

    def __init__(self):
        self.best: dict[str, str] = {}
        self.last: dict[str, str] = {}
        self.excluded: set[int] = set()
        self._problems: list[str] = []

    def add(self, cell: Cell, verdict: object) -> None:
        """Count the verdict of a cell, unless the cell holds the lesson's solution."""
        if cell.solution:
            return
        if not isinstance(verdict, dict):
            self.add_problem(BAD_VERDICT.format(cell=cell.number, got=reprlib.repr(verdict)))
            return
        exercise, passed, mistake = map(verdict.get, ("exercise", "passed", "mistake"))
        invalid = {
            "exercise": not _matches(_NAME, exercise),
            "passed": not isinstance(passed, bool),
            "mistake": mistake is not None and not (_matches(_MISTAKE, mistake) and len(mistake) <= MAX_MISTAKE_LENGTH),
        }
        for field in (field for field, is_invalid in invalid.items() if is_invalid):
            self.add_problem(BAD_FIELD.format(cell=cell.number, field=field, got=reprlib.repr(verdict.get(field))))
            return
        if cell.folded or exercise in submitted_solutions(cell.source):
            self.excluded.add(cell.number)
            return
        not_begun = mistake == NOT_WRITTEN or is_starter_code(exercise, cell.source)
        grade = SOLVED if passed else NOT_BEGUN if not_begun else mistake or UNKNOWN
        self.last[exercise] = grade
        self.best[exercise] = better_grade(self.best.get(exercise, NOT_BEGUN), grade)

    def add_problem(self, problem: str) -> None:
        self._problems.append(problem)

    @property
    def problems(self) -> list[str]:
        """The first problems, and the number of further ones."""
        more = len(self._problems) - MAX_PROBLEMS
        return self._problems[:MAX_PROBLEMS] + ([MORE.format(count=more)] if more > 0 else [])


def _matches(pattern: re.Pattern, text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def grade_order(grade: str) -> int:
    """A sort key: larger is better."""
    return {NOT_BEGUN: 0, SOLVED: 2}.get(grade, 1)


def better_grade(earlier: str, later: str) -> str:
    """The better of two grades; the later one of two mistakes."""
    return later if grade_order(later) >= grade_order(earlier) else earlier


def saved_grades(notebook: dict, cells: list[Cell]) -> Grades:
    """The grades from the verdicts in the outputs of a notebook, without the lesson's solutions."""
    grades = Grades()
    odd = sum(not isinstance(cell, dict) for cell in notebook["cells"])
    if odd:
        grades.add_problem(BAD_CELLS.format(count=odd))
    for cell in (cell for cell in cells if not cell.solution):
        outputs = cell.outputs if isinstance(cell.outputs, list) else [cell.outputs]
        data = [output.get("data", {}) if isinstance(output, dict) else None for output in outputs]
        for bundle in data:
            if not isinstance(bundle, dict):
                grades.add_problem(BAD_OUTPUTS.format(cell=cell.number))
            elif MIME in bundle:
                grades.add(cell, bundle[MIME])
    return grades
