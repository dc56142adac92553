"""The best mark of each exercise, verdict by verdict."""

import re
import reprlib

from blocklab_course.checks.verdict import MIME
from blocklab_course.i18n import Text

from .notebooks import Cell
from .submissions import is_starter_code, submitted_solutions

SOLVED, NOT_BEGUN, UNKNOWN = "✓", "…", "?"
NOT_WRITTEN = "not-written-yet"
MAX_UNKNOWN = 20  # exercises of one student that no table holds: a newer version's, not a flood of made-up columns
MAX_PROBLEMS = 3

BAD_CELLS = Text(en="cells that cannot be read: {count}", zh="无法读取的单元格：{count} 个")
BAD_OUTPUTS = Text(en="cell {cell}: its outputs cannot be read", zh="第 {cell} 个单元格：输出无法读取")
BAD_VERDICT = Text(en="cell {cell}: a verdict is {got}", zh="第 {cell} 个单元格：结论不合格式，写的是 {got}")
BAD_FIELD = Text(
    en="cell {cell}: in a verdict, {field} is {got}", zh="第 {cell} 个单元格：结论里的 {field} 不合格式，写的是 {got}"
)
TOO_MANY_UNKNOWN = Text(en="too many exercises that do not exist", zh="不存在的练习太多")
MORE = Text(en="more of this kind: {count}", zh="类似的错误还有 {count} 处")

_NAME = re.compile(r"\w[\w-]{0,99}")
_MISTAKE = re.compile(r"\w[\w-]*(\+\w[\w-]*)*")
MAX_MISTAKE_LENGTH = 300


class Grades:
    """What verdicts say of each exercise: solved is better than a mistake, a mistake better than not begun.

    Of several mistakes, the last one counts. `last` are the marks of the last verdicts, whatever came before. A verdict
    that is none is left out and named in `faults`. `left_out` are the cells with a verdict that is taken for one on the
    lesson's solution.
    """

    def __init__(self):
        self.best: dict[str, str] = {}
        self.last: dict[str, str] = {}
        self.left_out: set[int] = set()
        self._faults: list[str] = []

    def add(self, cell: Cell, verdict: object) -> None:
        """Take a verdict of a cell into account. A solution of the lesson is not the student's."""
        if cell.solution:
            return
        if not isinstance(verdict, dict):
            self.complain(BAD_VERDICT.format(cell=cell.number, got=reprlib.repr(verdict)))
            return
        exercise, passed, mistake = map(verdict.get, ("exercise", "passed", "mistake"))
        odd = {
            "exercise": not _matches(_NAME, exercise),
            "passed": not isinstance(passed, bool),
            "mistake": mistake is not None and not (_matches(_MISTAKE, mistake) and len(mistake) <= MAX_MISTAKE_LENGTH),
        }
        for field in (field for field, is_odd in odd.items() if is_odd):
            self.complain(BAD_FIELD.format(cell=cell.number, field=field, got=reprlib.repr(verdict.get(field))))
            return
        if cell.folded or exercise in submitted_solutions(cell.source):
            self.left_out.add(cell.number)
            return
        not_begun = mistake == NOT_WRITTEN or is_starter_code(exercise, cell.source)
        mark = SOLVED if passed else NOT_BEGUN if not_begun else mistake or UNKNOWN
        self.last[exercise] = mark
        self.best[exercise] = better_grade(self.best.get(exercise, NOT_BEGUN), mark)

    def complain(self, fault: str) -> None:
        self._faults.append(fault)

    @property
    def faults(self) -> list[str]:
        """The first faults, and how many more there are."""
        more = len(self._faults) - MAX_PROBLEMS
        return self._faults[:MAX_PROBLEMS] + ([MORE.format(count=more)] if more > 0 else [])


def _matches(pattern: re.Pattern, text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def grade_order(mark: str) -> int:
    """How good a mark is."""
    return {NOT_BEGUN: 0, SOLVED: 2}.get(mark, 1)


def better_grade(earlier: str, later: str) -> str:
    """The better of two marks, of two mistakes the later one."""
    return later if grade_order(later) >= grade_order(earlier) else earlier


def saved_grades(notebook: dict, cells: list[Cell]) -> Grades:
    """The marks of the verdicts that a notebook holds in its outputs. A solution is not the student's."""
    marks = Grades()
    odd = sum(not isinstance(cell, dict) for cell in notebook["cells"])
    if odd:
        marks.complain(BAD_CELLS.format(count=odd))
    for cell in (cell for cell in cells if not cell.solution):
        outputs = cell.outputs if isinstance(cell.outputs, list) else [cell.outputs]
        data = [output.get("data", {}) if isinstance(output, dict) else None for output in outputs]
        for bundle in data:
            if not isinstance(bundle, dict):
                marks.complain(BAD_OUTPUTS.format(cell=cell.number))
            elif MIME in bundle:
                marks.add(cell, bundle[MIME])
    return marks
