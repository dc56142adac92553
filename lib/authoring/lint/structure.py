"""Check the structure of a lesson: predictions before their answers, a solution for each exercise, sections, length and
stated time."""

import re
from collections.abc import Iterator
from itertools import pairwise

from authoring.problem import Problem
from authoring.source import BilingualText, Code, Lesson

from .markdown import read_prose, strip_details

SECTIONS = (  # in this order
    "Two questions first",
    "What you will meet elsewhere",
    "Three closing questions",
    "In short",
    "Read next",
)
CELLS, PANELS = 16, 2  # of the core: code cells shown at most, panels at least
WORDS, CHARACTERS = 1400, 2500  # of the core, in English and in Chinese
PACE = 180  # English words a minute
PANEL, LINE, FUNCTION = 2, 2, 10  # minutes for a panel, an exercise of one line, one of a function
NEAR = 3  # minutes between the stated and the estimated time

_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_BEYOND = re.compile(r"^## +(?:Going further|选读)", re.MULTILINE)
_PREDICTION = re.compile(r"\*\*Predict\b")
_TIME = re.compile(r"\babout (\d+) minutes")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_CHARACTER = re.compile(r"[\u3400-\u9fff]")


def check_structure(lesson: Lesson) -> list[Problem]:
    """Check a lesson. Lesson 00 needs no sections and no panels, and a page without exercises has no rules on size."""
    found = [*_predictions(lesson), *_exercises(lesson)]
    if asks := any("exercise" in cell.tags for cell in core_cells(lesson)):
        found += _size(lesson)
    if asks and lesson.number:
        found += [*_sections(lesson), *_panels(lesson)]
    return [Problem(lesson.file, cell and cell.line, cell and cell.id, what) for cell, what in found]


def _predictions(lesson: Lesson) -> Iterator[tuple[BilingualText | Code, str]]:
    """A prediction ends its text. The next cell, with hidden outputs, and then a folded text answer it."""
    for number, cell in enumerate(lesson.cells):
        if not isinstance(cell, BilingualText) or not _PREDICTION.search(cell.en):
            continue
        following = [*lesson.cells[number + 1 :], None]
        answer = next((text for text in following if isinstance(text, BilingualText)), None)
        if not _PREDICTION.search(cell.en.rstrip().rpartition("\n\n")[2]) or not isinstance(following[0], Code):
            yield cell, "expected the prediction in the last paragraph, directly before the cell that answers it"
        elif not {"answer", "panel"} & set(following[0].tags):
            yield following[0], 'answers a prediction: expected the tag "answer" or "panel"'
        elif answer is None or not all(text.lstrip().startswith("<details>") for text in (answer.en, answer.zh)):
            yield answer or cell, "follows a prediction: expected it to begin with the answer in <details>"


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
    headings = [
        heading for cell in lesson.cells if isinstance(cell, BilingualText) for heading in _HEADING.findall(cell.en)
    ]
    for section in SECTIONS:
        if section not in headings:
            yield None, f"expected a section ## {section}"
    there = [heading for heading in headings if heading in SECTIONS]
    if there != [section for section in SECTIONS if section in there]:
        yield None, f"expected the sections in the order {', '.join(SECTIONS)}"
    if any(a.startswith("Going further") and not b.startswith("Going further") for a, b in pairwise(headings)):
        yield None, "expected Going further at the end"


def _size(lesson: Lesson) -> Iterator[tuple[BilingualText | None, str]]:
    words, characters = (len(found) for found in _read_core(lesson))
    if words > WORDS or characters > CHARACTERS:
        yield None, f"expected at most {WORDS} words and {CHARACTERS} 汉字 in the core, got {words} and {characters}"
    shown = [cell for cell in core_cells(lesson) if "solution" not in cell.tags][1:]  # the imports are folded
    if len(shown) > CELLS:
        yield None, f"expected at most {CELLS} code cells in the core, got {len(shown)}"
    title = lesson.cells[0]
    stated = _TIME.search(title.en)
    if not stated or abs(int(stated[1]) - estimate_minutes(lesson)) > NEAR:
        yield title, f"expected the time it takes, about {5 * round(estimate_minutes(lesson) / 5)} minutes"


def _panels(lesson: Lesson) -> Iterator[tuple[None, str]]:
    panels = sum("panel" in cell.tags for cell in core_cells(lesson))
    if panels < PANELS:
        yield None, f"expected at least {PANELS} panels in the core, got {panels}"
    if not any("guess" in cell.tags for cell in core_cells(lesson)):
        yield None, "expected a panel with a prediction"


def estimate_minutes(lesson: Lesson) -> float:
    """The minutes that the core takes: reading, panels and exercises. Running the cells adds little."""
    cells = core_cells(lesson)
    panels = sum("panel" in cell.tags for cell in cells)
    asked = [cell for cell in cells if "exercise" in cell.tags]
    functions = sum("def " in cell.source or "class " in cell.source for cell in asked)
    return len(_read_core(lesson)[0]) / PACE + PANEL * panels + FUNCTION * functions + LINE * (len(asked) - functions)


def _read_core(lesson: Lesson) -> tuple[list[str], list[str]]:
    """The English words and the Chinese characters of the core, without folded parts."""
    en, zh = (
        "\n".join(
            line
            for text in _core(lesson)
            for line in read_prose(strip_details(_BEYOND.split(getattr(text, language))[0])).lines
        )
        for language in ("en", "zh")
    )
    return _WORD.findall(en), _CHARACTER.findall(zh)


def core_cells(lesson: Lesson) -> list[Code]:
    return [cell for cell in _until_beyond(lesson) if isinstance(cell, Code)]


def _core(lesson: Lesson) -> list[BilingualText]:
    return [cell for cell in _until_beyond(lesson) if isinstance(cell, BilingualText)]


def _until_beyond(lesson: Lesson) -> Iterator[BilingualText | Code]:
    """The cells up to the one with the heading Going further."""
    for cell in lesson.cells:
        yield cell
        if isinstance(cell, BilingualText) and _BEYOND.search(cell.en):
            return
