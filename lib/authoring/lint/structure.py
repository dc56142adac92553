"""The form of a lesson: what answers a prediction is not seen before it, no exercise is left without its solution,
the core can be read in one sitting, and the time that is asked for is the time that it takes."""

import re
from collections.abc import Iterator
from itertools import pairwise

from authoring.problem import Problem
from authoring.source import BilingualText, Code, Lesson

from .markdown import read_prose, strip_details

SECTIONS = (  # in this order, after the first cell
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
NEAR = 3  # minutes between what is said and what is counted

_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_BEYOND = re.compile(r"^## +(?:Going further|选读)", re.MULTILINE)
_PREDICTION = re.compile(r"\*\*Predict\b")
_TIME = re.compile(r"\babout (\d+) minutes")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_CHARACTER = re.compile(r"[\u3400-\u9fff]")


def check_structure(lesson: Lesson) -> list[Problem]:
    """All that a reader would miss, or see too early.

    Lesson 00 is an entrance: it wants no sections and no panels. A page that asks for nothing may be of any form.
    """
    found = [*_predictions(lesson), *_exercises(lesson)]
    if asks := any("exercise" in cell.tags for cell in _core_cells(lesson)):
        found += _size(lesson)
    if asks and lesson.number:
        found += [*_sections(lesson), *_panels(lesson)]
    return [Problem(lesson.file, cell and cell.line, cell and cell.id, what) for cell, what in found]


def _predictions(lesson: Lesson) -> Iterator[tuple[BilingualText | Code, str]]:
    """What answers a prediction stands right behind it, shows nothing before it is run, and is told folded."""
    for number, cell in enumerate(lesson.cells):
        if not isinstance(cell, BilingualText) or not _PREDICTION.search(cell.en):
            continue
        behind = [*lesson.cells[number + 1 :], None]
        told = next((text for text in behind if isinstance(text, BilingualText)), None)
        if not _PREDICTION.search(cell.en.rstrip().rpartition("\n\n")[2]) or not isinstance(behind[0], Code):
            yield cell, "a prediction stands in the last paragraph before the cell that answers it"
        elif not {"answer", "panel"} & set(behind[0].tags):
            yield behind[0], 'answers a prediction: it wants the tag "answer", or "panel"'
        elif told is None or not all(text.lstrip().startswith("<details>") for text in (told.en, told.zh)):
            yield told or cell, "tells what was predicted: it begins with the answer, folded in <details>"


def _exercises(lesson: Lesson) -> Iterator[tuple[Code, str]]:
    """Behind an exercise stands the idea, folded, and behind that its solution, which keeps nothing."""
    for number, cell in enumerate(lesson.cells):
        if isinstance(cell, Code) and "exercise" in cell.tags:
            match lesson.cells[number + 1 : number + 3]:
                case [BilingualText() as idea, Code() as solution] if "solution" in solution.tags:
                    if "<details>" not in idea.en:
                        yield idea, "stands before a solution: it wants the idea of it, folded in <details>"
                    if "check(" in solution.source and "keep=False" not in solution.source:
                        yield solution, "hands a solution to check: it wants keep=False"
                case _:
                    yield cell, "an exercise wants one text behind it, and then its own solution"


def _sections(lesson: Lesson) -> Iterator[tuple[None, str]]:
    headings = [
        heading for cell in lesson.cells if isinstance(cell, BilingualText) for heading in _HEADING.findall(cell.en)
    ]
    for section in SECTIONS:
        if section not in headings:
            yield None, f"wants a section ## {section}"
    there = [heading for heading in headings if heading in SECTIONS]
    if there != [section for section in SECTIONS if section in there]:
        yield None, f"wants its sections in the order {', '.join(SECTIONS)}"
    if any(a.startswith("Going further") and not b.startswith("Going further") for a, b in pairwise(headings)):
        yield None, "what is going further stands at the end"


def _size(lesson: Lesson) -> Iterator[tuple[BilingualText | None, str]]:
    words, characters = (len(found) for found in _read(lesson))
    if words > WORDS or characters > CHARACTERS:
        yield None, f"the core wants at most {WORDS} words and {CHARACTERS} 汉字, got {words} and {characters}"
    shown = [cell for cell in _core_cells(lesson) if "solution" not in cell.tags][1:]  # the imports are folded
    if len(shown) > CELLS:
        yield None, f"the core wants at most {CELLS} code cells, got {len(shown)}"
    title = lesson.cells[0]
    said = _TIME.search(title.en)
    if not said or abs(int(said[1]) - estimate_minutes(lesson)) > NEAR:
        yield title, f"wants the time that it takes, about {5 * round(estimate_minutes(lesson) / 5)} minutes"


def _panels(lesson: Lesson) -> Iterator[tuple[None, str]]:
    panels = sum("panel" in cell.tags for cell in _core_cells(lesson))
    if panels < PANELS:
        yield None, f"the core wants {PANELS} panels or more, got {panels}"
    if not any("guess" in cell.tags for cell in _core_cells(lesson)):
        yield None, "no panel asks for a guess"


def estimate_minutes(lesson: Lesson) -> float:
    """What the core takes: reading, panels and exercises. What a lesson trains takes half a minute at most."""
    cells = _core_cells(lesson)
    panels = sum("panel" in cell.tags for cell in cells)
    asked = [cell for cell in cells if "exercise" in cell.tags]
    functions = sum("def " in cell.source or "class " in cell.source for cell in asked)
    return len(_read(lesson)[0]) / PACE + PANEL * panels + FUNCTION * functions + LINE * (len(asked) - functions)


def _read(lesson: Lesson) -> tuple[list[str], list[str]]:
    """The English words and the Chinese characters of the core, but for what is folded."""
    en, zh = (
        "\n".join(
            line
            for text in _core(lesson)
            for line in read_prose(strip_details(_BEYOND.split(getattr(text, language))[0])).lines
        )
        for language in ("en", "zh")
    )
    return _WORD.findall(en), _CHARACTER.findall(zh)


def _core_cells(lesson: Lesson) -> list[Code]:
    return [cell for cell in _until_beyond(lesson) if isinstance(cell, Code)]


def _core(lesson: Lesson) -> list[BilingualText]:
    return [cell for cell in _until_beyond(lesson) if isinstance(cell, BilingualText)]


def _until_beyond(lesson: Lesson) -> Iterator[BilingualText | Code]:
    """The cells up to the one in which the lesson goes further."""
    for cell in lesson.cells:
        yield cell
        if isinstance(cell, BilingualText) and _BEYOND.search(cell.en):
            return
