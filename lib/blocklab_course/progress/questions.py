"""Read the closing questions of a lesson and their answers from its texts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from blocklab_course.gradebook.notebooks import source_of

CLOSING = {"en": "## (?:Two|Three) closing questions", "zh": "## [两三]个思考题"}  # regular expressions
_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)
_SUMMARY = re.compile(r"<details>\s*<summary>[^<]*</summary>")


@dataclass(frozen=True)
class Question:
    """A closing question and its answer, both in Markdown."""

    asked: str
    answer: str


def markdown_texts(notebook: dict) -> list[str]:
    """The texts of a notebook's Markdown cells in order."""
    cells = (cell for cell in notebook["cells"] if isinstance(cell, dict))
    return [source_of(cell) for cell in cells if cell.get("cell_type") == "markdown"]


def closing_questions(texts: Iterable[str], language: str) -> list[Question]:
    """The closing questions in the texts of a lesson: numbered, each with its answer in `<details>`."""
    found = []
    for part in (section(texts, CLOSING[language]) or "").split("</details>")[:-1]:
        number, folded = _NUMBER.search(part), _SUMMARY.search(part)
        if number and folded and number.end() <= folded.start():
            found.append(Question(part[number.end() : folded.start()].strip(), part[folded.end() :].strip()))
    return found


def section(texts: Iterable[str], start: str) -> str | None:
    """The text from the first line that begins with this regular expression to the next heading, or None."""
    for text in texts:
        if line := re.search(rf"^{start}", text, re.MULTILINE):
            return re.split(r"\n(?=## )", text[line.start() :])[0].strip()
    return None
