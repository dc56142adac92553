"""What a cell submits, according to its source: starter code, the lesson's solution, or the student's own work."""

import ast
import re
import warnings

from blocklab_course.lessons.catalog import LESSONS

CHECK_FUNCTIONS = {"check": "", "catch": "catch_"}  # and the prefix of its exercises
MAX_SOURCE_LENGTH = 100_000  # characters to parse; twenty times the longest cell of a lesson

# Code to complete or to repair, for which a check reports more than that it is not written yet.
STARTER_CODE = {exercise: code for lesson in LESSONS for exercise, code in lesson.starter_code.items()}


def is_starter_code(exercise: str, source: str) -> bool:
    """Whether a cell is the lesson's starter code, ignoring comments and blank lines."""
    start = STARTER_CODE.get(exercise)
    tree = parse_or_none(source) if start else None
    return tree is not None and ast.dump(tree) == ast.dump(ast.parse(start))


def submitted_solutions(source: str) -> frozenset[str]:
    """The exercises for which a cell submits the lesson's solution, as in `check("swish", solved_swish)`.

    The lessons' solutions are named `solved_` and a part of the exercise's name; `solved_mine` is a student's own.
    """
    return frozenset(exercise for exercise, name in _submissions(source) if _is_lesson_solution(exercise, name))


def submitted_exercises(source: str) -> frozenset[str]:
    """The exercises for which a cell calls `check` or `catch`, ignoring comments."""
    return frozenset(exercise for exercise, _ in _submissions(source))


def _submissions(source: str) -> list[tuple[str, str]]:
    """The exercise of each call of `check` or `catch`, and the name of its argument, if it has one."""
    if not any(called in source for called in CHECK_FUNCTIONS):
        return []
    tree = parse_or_none(source)
    if tree is None:
        return [(CHECK_FUNCTIONS[called] + exercise, name) for called, exercise, name in _CALL.findall(source)]
    calls = (_exercise_and_name(node) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if call]


def _exercise_and_name(call: ast.Call) -> tuple[str, str] | None:
    called = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if called not in CHECK_FUNCTIONS:
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    named |= dict(zip(("exercise", "candidate"), call.args, strict=False))
    exercise = getattr(named.get("exercise"), "value", None)
    candidate = named.get("candidate", named.get("inputs"))
    if isinstance(candidate, ast.Call):  # an instance of a class
        candidate = candidate.func
    return (CHECK_FUNCTIONS[called] + exercise, getattr(candidate, "id", "")) if isinstance(exercise, str) else None


_SOLVED = re.compile(r"solved_(\w+)|Solved([A-Z]\w*)")
_CALL = re.compile(
    r"""^[^#\n]*?\b(check|catch)\(["'](\w+)["'](?:, ?(\w+))?""", re.MULTILINE
)  # for cells that are not pure Python


def _is_lesson_solution(exercise: str, name: str) -> bool:
    """Whether the name is `solved_` or `Solved` and a part of the exercise's name, as in `solved_gemma`."""
    solved = _SOLVED.fullmatch(name)
    return solved is not None and "".join(solved.groups("")).lower().replace("_", "") in exercise.replace("_", "")


def parse_or_none(source: str) -> ast.Module | None:
    """Parse the source, or return None: it may hold IPython commands, or anything else."""
    if len(source) > MAX_SOURCE_LENGTH:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
