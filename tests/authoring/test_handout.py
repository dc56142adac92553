"""A handout has the questions of the lesson, no answers, and is self-contained."""

import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from authoring import notebook
from authoring.problem import BuildError
from authoring.project import Project
from authoring.site.handout import render_handout
from blocklab_course.progress.questions import CLOSING

PROJECT = Project(Path(__file__).parents[2])
LESSONS = [
    (outline, language)
    for outline in PROJECT.outlines()[1:]  # neither the start page nor an appendix asks closing questions
    if outline.number
    for language in CLOSING
]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def small_lesson():
    picture = new_output("display_data", data={"image/png": PIXEL, "text/plain": "3 of 4 < move"})
    return new_notebook(
        cells=[
            new_markdown_cell("# 01 Means\n\nWhat is $\\mu$? See [the map](00_start_here.ipynb)."),
            new_code_cell("other.panel()", metadata={"tags": ["panel"]}, outputs=[picture]),
            new_markdown_cell(
                "<details><summary>Answer</summary>\n\nEleven.\n\n</details>\n\n"
                "## A panel\n\n**Predict first.** How many move?"
            ),
            new_code_cell("poke.panel()", metadata={"tags": ["panel", "guess"]}, outputs=[picture]),
            new_markdown_cell("Text between.\n\n## Exercise: a mean\n\nWrite it.\n\n$$\\frac{1}{2}$$"),
            new_markdown_cell(
                "## Three closing questions\n\n1. How many?\n\n<details><summary>Answer</summary>\n\n1. Seven.\n\n"
                "</details>\n\n2. Which?\n\n<details><summary>Answer</summary>\n\nThis one.\n\n</details>\n\nSee below."
            ),
            new_markdown_cell("## In short\n\n- A mean is a mean.\n\n## Going further\n\nMore."),
        ]
    )


def test_handout_has_questions_but_no_answers():
    html = render_handout(small_lesson(), "en", "01 Means")
    for wanted in ("01 Means", "How many move?", "Exercise: a mean", "How many?", "Which?", "A mean is a mean"):
        assert wanted in html
    for unwanted in ("Eleven", "Seven", "This one", "details", "See below", "Text between", "Going further", "More."):
        assert unwanted not in html
    assert html.count('class="room"') == 2


def test_pictures_and_formulas_are_in_the_page_and_need_no_network():
    html = render_handout(small_lesson(), "en", "01 Means")
    assert f"data:image/png;base64,{PIXEL}" in html
    assert 'alt="3 of 4 &lt; move"' in html
    assert html.count("<math") == 2
    assert "$" not in html
    assert not re.search(r"<script|<link|href=", html)


@pytest.mark.parametrize(
    ("place", "message"),
    [(3, "expected a panel with a prediction"), (4, "## Exercise"), (5, "closing questions"), (6, "## In short")],
)
def test_missing_part_of_a_handout_is_reported(place, message):
    lesson = small_lesson()
    del lesson.cells[place]
    with pytest.raises(BuildError, match=re.escape(message)):
        render_handout(lesson, "en", "01 Means")


@pytest.mark.parametrize(("outline", "language"), LESSONS, ids=lambda x: getattr(x, "number", x))
def test_every_lesson_gives_a_handout(outline, language):
    html = render_handout(notebook.read(PROJECT.notebook(language, outline.stem)), language, outline.titles[language])
    assert html.count('class="room"') in (2, 3)
    assert html.count("data:image/png") == 1
    assert "$" not in html
    assert ".ipynb" not in html
