"""Read the closing questions of a lesson and their answers from its texts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

CLOSING = {"en": "## Three closing questions", "zh": "## 三个思考题"}
_QUESTION = re.compile(
    r"^\d+\. (?P<asked>.+?)\s*<details>\s*<summary>[^<]*</summary>\s*(?P<answer>.+?)\s*</details>",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Question:
    """A closing question and its answer, both in Markdown."""

    asked: str
    answer: str


def closing_questions(texts: Iterable[str], language: str) -> list[Question]:
    """The closing questions in the texts of a lesson."""
    found = section(texts, CLOSING[language]) or ""
    return [Question(match["asked"], match["answer"]) for match in _QUESTION.finditer(found)]


def section(texts: Iterable[str], start: str) -> str | None:
    """The text from the first line with this start to the next heading, or None."""
    for text in texts:
        if line := re.search(rf"^{re.escape(start)}", text, re.MULTILINE):
            return re.split(r"\n(?=## )", text[line.start() :])[0].strip()
    return None
