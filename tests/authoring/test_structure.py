"""The structure of a lesson: predictions, exercises, sections, size and time."""

from dataclasses import replace

import pytest

from authoring.lint.structure import CHARACTERS, WORDS, check_structure, estimate_minutes
from authoring.source import BilingualText, Code, Lesson

FOLDED = "<details><summary>Answer</summary>\n\nIt stays.\n\n</details>\n\nSo it does."
IDEA = "Stuck? See above.\n\n<details><summary>The idea</summary>\n\nThink.\n\n</details>"


def text(en, zh="正文"):
    return BilingualText("text", 1, en, zh)


def code(source, *tags):
    return Code("code", 1, source, tags)


CELLS = {
    "title": text("# 07 Why?\n\nIt takes about 5 minutes."),
    "imports": code("import torch"),
    "first": text("## Two questions first\n\nOne. Two."),
    "question": text("## A slider\n\nDrag it.\n\n**Predict first.** Does it stay?"),
    "panel": code("slider.panel()", "panel", "guess"),
    "answer": text(FOLDED, FOLDED),
    "again": text("And the numbers?\n\n**Predict first.** How many?"),
    "numbers": code("print(3)", "answer"),
    "second answer": text(FOLDED, FOLDED),
    "second panel": code("other.panel()", "panel"),
    "elsewhere": text("## What you will meet elsewhere\n\nKeras."),
    "exercise": code("my_sum = None\ncheck('sum', my_sum)", "exercise"),
    "idea": text(IDEA),
    "solution": code("check('sum', 3, keep=False)", "solution"),
    "end": text("## Three closing questions\n\n…\n\n## In short\n\n…\n\n## Read next\n\n…"),
    "further": text("## Going further: more\n\n" + "word " * 2000, "## 选读：更多\n\n" + "字" * 3000),
    "beyond": code("1", "exercise"),
    "beyond idea": text(IDEA),
    "beyond solution": code("check('one', 1, keep=False)", "solution"),
}


def lesson(stem="07_why", **cells):
    """The lesson above with some cells replaced; None removes one."""
    changed = {name.replace("_", " "): cell for name, cell in cells.items()}
    return Lesson(stem, f"{stem}.py", tuple(cell for cell in (CELLS | changed).values() if cell is not None))


def messages(lesson):
    return [problem.what for problem in check_structure(lesson)]


def test_well_structured_lesson_has_no_problems():
    assert messages(lesson()) == []


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"numbers": code("print(3)")}, 'expected the tag "answer"'),
        ({"answer": text("It stays.")}, "begin with the answer in <details>"),
        ({"answer": text(FOLDED, "不变。")}, "begin with the answer in <details>"),
        ({"question": text("## A slider\n\n**Predict first.** Does it stay?\n\nDrag.")}, "in the last paragraph"),
        ({"panel": text("Nothing."), "imports": code("slider.panel()", "panel", "guess")}, "in the last paragraph"),
        ({"idea": None}, "and then its solution"),
        ({"beyond_solution": None}, "and then its solution"),
        ({"solution": code("check('sum', 3)", "solution")}, "keep=False"),
        ({"idea": text("Stuck? See below.")}, "expected its idea in"),
        ({"elsewhere": text("Keras.")}, "## What you will meet elsewhere"),
        ({"elsewhere": CELLS["end"], "end": CELLS["elsewhere"]}, "in the order"),
        ({"end": None, "beyond_solution": CELLS["end"]}, "at the end"),
        ({"first": text("## Two questions first\n\n" + "word " * (WORDS + 1))}, f"at most {WORDS} words"),
        ({"first": text("## Two questions first", "字" * (CHARACTERS + 1))}, f"{CHARACTERS} 汉字 in the core, got"),
        ({"title": text("# 07 Why?\n\nIt takes about 20 minutes.")}, "about 5 minutes"),
        ({"title": text("# 07 Why?")}, "expected the time it takes"),
        ({"second_panel": code("1")}, "at least 2 panels in the core, got 1"),
        ({"panel": code("slider.panel()", "panel")}, "a panel with a prediction"),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(value),
)
def test_structure_errors_are_reported(cells, message):
    assert any(message in what for what in messages(lesson(**cells)))


def test_too_many_cells_are_reported():
    many = lesson()
    many = replace(many, cells=(*many.cells[:3], *(code("1") for _ in range(13)), *many.cells[3:]))
    assert any("at most 16 code cells in the core, got 17" in what for what in messages(many))


def test_lesson_00_needs_no_sections_and_no_panels():
    cells = {"elsewhere": None, "end": None, "panel": code("1", "answer"), "second_panel": None}
    title = text("# 00 Start\n\nIt takes about 5 minutes.")
    assert messages(lesson("00_start", title=title, **cells)) == []


def test_time_estimate_counts_functions_more_than_lines():
    longer = lesson(exercise=code("def my_sum(x):\n    return ...", "exercise"))
    assert estimate_minutes(longer) == estimate_minutes(lesson()) + 8


def test_page_without_exercises_may_have_any_structure():
    page = Lesson("07_page", "07_page.py", (CELLS["title"], CELLS["further"], CELLS["numbers"]))
    assert messages(page) == []
