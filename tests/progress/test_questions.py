"""The closing questions of every lesson are found with their answers."""

from pathlib import Path

import pytest

from blocklab_course.gradebook.notebooks import load
from blocklab_course.i18n import LANGUAGES
from blocklab_course.progress.questions import Question, closing_questions, markdown_texts

ROOT = Path(__file__).parents[2]
NAMES = [path.name for path in sorted((ROOT / "notebooks" / "en").glob("*.ipynb"))]
HEADING = "## Three closing questions"
TWO = (
    f"Before.\n\n{HEADING}\n\n1. How many? In `a`:\n\n- one\n\n<details><summary>Answer</summary>\n\n"
    "1. Seven.\n\n2. Or eight.\n\n</details>\n\n2. Which?\n\n<details><summary>Answer</summary>\n\nThis.\n\n</details>"
    "\n\nSee below.\n\n## Going further\n\n3. No?\n\n<details><summary>Answer</summary>\n\nNo.\n\n</details>"
)


def of_lesson(language: str, name: str) -> list[Question]:
    return closing_questions(markdown_texts(load(ROOT / "notebooks" / language / name)), language)


@pytest.mark.parametrize("name", NAMES)
def test_lessons_ask_two_or_three_questions_in_both_languages(name):
    found = {language: of_lesson(language, name) for language in LANGUAGES}
    assert len(found["en"]) == len(found["zh"])
    assert len(found["en"]) in ({2, 3} if name[:2].isdigit() and name[:2] != "00" else {0})
    for question in found["en"] + found["zh"]:
        assert "details" not in question.asked + question.answer
        assert "?" in question.asked or "？" in question.asked


def test_questions_and_answers_may_have_several_paragraphs():
    assert closing_questions(["# A", TWO], "en") == [
        Question("How many? In `a`:\n\n- one", "1. Seven.\n\n2. Or eight."),
        Question("Which?", "This."),
    ]
    assert closing_questions([TWO], "zh") == []
    for heading in ("## 三个思考题", "## 两个思考题"):
        assert len(closing_questions([TWO.replace(HEADING, heading)], "zh")) == 2
    assert len(closing_questions([TWO.replace(HEADING, "## Two closing questions")], "en")) == 2


@pytest.mark.parametrize("end", ["", "\n\n1. What?", "\n\n1. What?\n\n<details><summary>Answer</summary>\n\nThis."])
def test_truncated_sections_have_no_questions(end):
    assert closing_questions([HEADING + end], "en") == []


def test_long_sections_are_read_in_time_in_proportion_to_their_length():
    blanks = HEADING + "\n\n" + ("1. Why?" + " " * 2_000_000)  # hours, if each blank is tried as an end
    assert closing_questions([blanks], "en") == []
