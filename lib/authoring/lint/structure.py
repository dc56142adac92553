"""Check the structure of a lesson: predictions before their answers, a solution for each exercise, sections, and the
stated time."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise, takewhile

from authoring.problem import Problem
from authoring.source import BilingualText, Code, Lesson, parse

from .markdown import read_prose

SECTIONS = (  # in this order
    "What other code does differently",
    "In short",
    "closing questions",  # Two closing questions, Three closing questions
    "Read next",
)
PREDICTIONS = 4  # in the core, at most
PACE = 180  # English words a minute
CODE = 4 / 60  # minutes for a line of code
PANEL, PREDICTION = 2, 2  # minutes
LINE, FUNCTION = 3, 10  # minutes for an exercise
NEAR = 3  # minutes between the stated and the estimated time
OLD_FORM = frozenset(f"{number:02}" for number in range(7, 16))
"""The lessons that still wait to be rewritten with these sections and few predictions."""

_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_BEYOND = re.compile(r"^## +Going further", re.MULTILINE)
_PREDICTION = re.compile(r"\*\*Predict\b")
_TIME = re.compile(r"\babout (\d+) minutes")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")


def check_structure(lesson: Lesson) -> list[Problem]:
    """Check a lesson. Lesson 00 may have any sections, and a page without exercises also any number of predictions."""
    found = [*_predictions(lesson), *_exercises(lesson), *_further(lesson)]
    if any("exercise" in cell.tags for cell in core_code(lesson)):
        found += _time(lesson)
        if _has_new_form(lesson):
            found += _few_predictions(lesson)
            found += _sections(lesson) if lesson.number else ()
    return [Problem(lesson.file, cell and cell.line, cell and cell.id, what) for cell, what in found]


def _has_new_form(lesson: Lesson) -> bool:
    return lesson.stem[:2] not in OLD_FORM


def _predictions(lesson: Lesson) -> Iterator[tuple[BilingualText | Code, str]]:
    """A prediction ends its text. What answers it comes next, hidden until the reader has answered, and then a text
    that begins with the folded answer.
    """
    for number, cell in enumerate(lesson.cells):
        if not isinstance(cell, BilingualText) or not _PREDICTION.search(cell.en):
            continue
        following = lesson.cells[number + 1 :]
        asked = list(takewhile(lambda cell: isinstance(cell, Code), following))
        answer = following[len(asked)] if len(asked) < len(following) else None
        if not _PREDICTION.search(cell.en.rstrip().rpartition("\n\n")[2]) or not asked:
            yield cell, "expected the prediction in the last paragraph, right before the cell that asks or answers"
        elif shown := next((code for code in asked if not {"answer", "panel", "guess"} & set(code.tags)), None):
            yield shown, 'comes between a prediction and its answer: expected the tag "answer", "panel" or "guess"'
        elif answer is None or not all(text.lstrip().startswith("<details>") for text in (answer.en, answer.zh)):
            yield answer or cell, "follows a prediction: expected it to begin with the answer in <details>"
        elif _has_new_form(lesson) and lesson.number is not None and "guess" not in asked[0].tags:
            yield asked[0], 'follows a prediction: expected a question with choices or a number, tagged "guess"'


def _few_predictions(lesson: Lesson) -> Iterator[tuple[BilingualText, str]]:
    asked = [text for text in core_texts(lesson) if _PREDICTION.search(text.en)]
    if len(asked) > PREDICTIONS:
        yield asked[PREDICTIONS], f"expected at most {PREDICTIONS} predictions before Going further, got {len(asked)}"


def _exercises(lesson: Lesson) -> Iterator[tuple[Code, str]]:
    """An exercise is followed by a text with the folded idea, and by its solution, which is not saved."""
    for number, cell in enumerate(lesson.cells):
        if isinstance(cell, Code) and "exercise" in cell.tags:
            match lesson.cells[number + 1 : number + 3]:
                case [BilingualText() as idea, Code() as solution] if "solution" in solution.tags:
                    if "<details>" not in idea.en:
                        yield idea, "precedes a solution: expected its idea in <details>"
                    if "check(" in solution.source and "keep=False" not in solution.source:
                        yield solution, "passes a solution to check: expected keep=False"
                case _:
                    yield cell, "expected one text after the exercise, and then its solution"


def _sections(lesson: Lesson) -> Iterator[tuple[None, str]]:
    found = [next((section for section in SECTIONS if heading.endswith(section)), "") for heading in _headings(lesson)]
    for section in SECTIONS:
        if section not in found:
            yield None, f"expected a section ## {section}"
    there = [section for section in found if section]
    if there != [section for section in SECTIONS if section in there]:
        yield None, f"expected the sections in the order {', '.join(SECTIONS)}"


def _further(lesson: Lesson) -> Iterator[tuple[BilingualText | None, str]]:
    """Sections that go further come last. Each begins a cell, because the build folds the cells under its heading."""
    if any(a.startswith("Going further") and not b.startswith("Going further") for a, b in pairwise(_headings(lesson))):
        yield None, "expected Going further at the end"
    for cell in lesson.cells:
        if isinstance(cell, BilingualText) and any(found.start() for found in _BEYOND.finditer(cell.en)):
            yield cell, "expected ## Going further at the beginning of a cell"


def _headings(lesson: Lesson) -> list[str]:
    return [
        heading for cell in lesson.cells if isinstance(cell, BilingualText) for heading in _HEADING.findall(cell.en)
    ]


def _time(lesson: Lesson) -> Iterator[tuple[BilingualText, str]]:
    title = lesson.cells[0]
    stated = _TIME.search(title.en)
    if not stated or abs(int(stated[1]) - estimate_minutes(lesson)) > NEAR:
        yield title, f"expected the time it takes, about {5 * round(estimate_minutes(lesson) / 5)} minutes"


def estimate_minutes(lesson: Lesson) -> float:
    """The minutes that the core takes: reading text and code, panels, predictions and exercises."""
    texts = [text.en for text in core_texts(lesson)]
    words = sum(len(_WORD.findall(line)) for text in texts for line in read_prose(text).lines)
    predictions = sum(bool(_PREDICTION.search(text)) for text in texts)
    _imports, *codes = core_code(lesson)
    lines = sum(cell.source.count("\n") + 1 for cell in codes)
    panels = sum("panel" in cell.tags for cell in codes)
    solutions = [cell for cell in codes if "solution" in cell.tags]
    of_one_line = sum(map(_is_one_line, solutions))
    return (
        words / PACE
        + CODE * lines
        + PANEL * panels
        + PREDICTION * predictions
        + LINE * of_one_line
        + FUNCTION * (len(solutions) - of_one_line)
    )


def _is_one_line(solution: Code) -> bool:
    """Whether a solution is a value, or a function that only returns one."""
    defined = [part for part in parse(solution.source).body if isinstance(part, ast.FunctionDef | ast.ClassDef)]
    return all(isinstance(part, ast.FunctionDef) and len(part.body) == 1 for part in defined)


def core_code(lesson: Lesson) -> list[Code]:
    return [cell for cell in core(lesson) if isinstance(cell, Code)]


def core_texts(lesson: Lesson) -> list[BilingualText]:
    return [cell for cell in core(lesson) if isinstance(cell, BilingualText)]


def core(lesson: Lesson) -> list[BilingualText | Code]:
    """The cells before Going further."""
    return list(takewhile(lambda cell: not (isinstance(cell, BilingualText) and _BEYOND.match(cell.en)), lesson.cells))
