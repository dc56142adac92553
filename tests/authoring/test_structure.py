"""The structure of a lesson: predictions, exercises, sections and time."""

from pathlib import Path

import pytest

from authoring.lint.structure import CODE, FUNCTION, LINE, OLD_FORM, PREDICTIONS, check_structure, estimate_minutes
from authoring.project import Project
from authoring.source import BilingualText, Code, Lesson, read_lesson

FOLDED = "<details><summary>Answer</summary>\n\nIt stays.\n\n</details>\n\nSo it does."
IDEA = "Stuck? See above.\n\n<details><summary>The idea</summary>\n\nThink.\n\n</details>"


def text(en, zh="正文"):
    return BilingualText("text", 1, en, zh)


def code(source, *tags):
    return Code("code", 1, source, tags)


CELLS = {
    "title": text("# 17 Why?\n\nIt takes about 10 minutes."),
    "imports": code("import torch"),
    "question": text("## A slider\n\nDrag it.\n\n**Predict first.** Does it stay?"),
    "panel": code("slider.panel()", "panel", "guess"),
    "answer": text(FOLDED, FOLDED),
    "again": text("And the numbers?\n\n**Predict first.** How many?"),
    "asked": code("questions.how_many()", "guess"),
    "numbers": code("print(3)", "answer"),
    "second answer": text(FOLDED, FOLDED),
    "second panel": code("other.panel()", "panel"),
    "exercise": code("my_sum = None\ncheck('sum', my_sum)", "exercise"),
    "idea": text(IDEA),
    "solution": code("check('sum', 3, keep=False)", "solution"),
    "elsewhere": text("## What other code does differently\n\nKeras."),
    "end": text("## In short\n\n…\n\n## Two closing questions\n\n…\n\n## Read next\n\n…"),
    "further": text("## Going further: more\n\n" + "word " * 2000, "## 选读：更多\n\n" + "字" * 3000),
    "beyond": code("1", "exercise"),
    "beyond idea": text(IDEA),
    "beyond solution": code("check('one', 1, keep=False)", "solution"),
    "beyond question": text("**Predict first.** What?\n"),
    "beyond asked": code("questions.what()", "guess"),
    "beyond answer": text(FOLDED, FOLDED),
}


def lesson(stem="17_why", **cells):
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
        ({"asked": None}, 'tagged "guess"'),
        ({"asked": code("questions.how_many()")}, 'expected the tag "answer", "panel" or "guess"'),
        ({"elsewhere": text("Keras.")}, "## What other code does differently"),
        ({"elsewhere": CELLS["end"], "end": CELLS["elsewhere"]}, "in the order"),
        ({"end": None, "beyond_asked": CELLS["end"]}, "at the end"),
        ({"further": text("More.\n\n## Going further: more")}, "at the beginning of a cell"),
        ({"title": text("# 17 Why?\n\nIt takes about 20 minutes.")}, "about 10 minutes"),
        ({"title": text("# 17 Why?")}, "expected the time it takes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(value),
)
def test_structure_errors_are_reported(cells, message):
    assert any(message in what for what in messages(lesson(**cells)))


def test_too_many_predictions_are_reported():
    """Those that go further are not counted."""
    asked = [(name, CELLS[name]) for name in ("again", "asked", "numbers", "second answer")]
    more = {f"{name} {number}": cell for number in range(PREDICTIONS) for name, cell in asked}
    title, *rest = CELLS.values()
    many = Lesson("17_why", "17_why.py", (title, CELLS["imports"], *more.values(), *rest))
    what = f"expected at most {PREDICTIONS} predictions before Going further, got {PREDICTIONS + 2}"
    assert what in messages(many)


def test_lesson_00_needs_no_sections():
    title = text("# 00 Start\n\nIt takes about 10 minutes.")
    assert messages(lesson("00_start", title=title, elsewhere=None, end=None)) == []


def test_lessons_excused_from_the_form_do_not_have_it_yet():
    """A lesson that has been rewritten is taken off the list."""
    project = Project(Path(__file__).parents[2])
    for stem in project.select([]):
        if stem[:2] in OLD_FORM:
            written = read_lesson(project, stem)
            as_new = Lesson(f"17{stem[2:]}", written.file, written.cells)
            assert check_structure(written) == []
            assert check_structure(as_new) != [], stem


def test_time_estimate_counts_functions_more_than_lines():
    short, long = "def solved(x):\n    return 3", "def solved(x):\n    y = 3\n    return y"
    line, function = (lesson(solution=code(source, "solution")) for source in (short, long))
    assert estimate_minutes(function) == pytest.approx(estimate_minutes(line) + FUNCTION - LINE + CODE)


def test_page_without_exercises_may_have_any_structure():
    page = Lesson("17_page", "17_page.py", (CELLS["title"], CELLS["further"], CELLS["numbers"]))
    assert messages(page) == []
