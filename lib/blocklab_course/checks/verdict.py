"""The verdict on a submission, as text, as HTML and as data."""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

import blocklab
from blocklab_course.cards import BLUE, GREEN, GREY, RED, card, folded, grid, mark, paragraph, remark
from blocklab_course.i18n import Text, get_language

from .counterexample import Counterexample
from .exercise import Exercise
from .messages import (
    A_TEST,
    EXPECTED,
    INPUT,
    LINE_OF_CALCULATION,
    LINE_OF_SOLUTION,
    ONE_LINE,
    PANEL,
    READ,
    TEST_OF_ANSWER,
    YOURS,
)

MIME = "application/vnd.blocklab.verdict+json"


class NotPassed(AssertionError):
    """A submission did not pass. The message is its verdict."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one submission.

    mistake: the id of the known mistake ("a+b" for several at once) or of the message that says why the submission
        could not be compared. None for an unknown mistake.
    advice: the ids of what a right function could do better.
    messages, counterexample: what the reader is shown.
    failures: how often in a row this exercise has failed with this mistake.
    unlocks: what a saved solution is used for from now on; only the card shows it.
    """

    exercise: Exercise = field(repr=False)
    passed: bool
    mistake: str | None = None
    advice: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    failures: int = 0
    unlocks: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def must_pass(self) -> None:
        """Raise NotPassed with the verdict as its message unless it passed, for graders that look for errors."""
        if not self.passed:
            raise NotPassed(str(self))

    @property
    def data(self) -> dict:
        """What the notebook stores for a class report: no time, no name, none of the learner's code."""
        return {
            "exercise": self.exercise.name,
            "passed": self.passed,
            "mistake": self.mistake,
            "advice": list(self.advice),
            "version": blocklab.__version__,
        }

    @property
    def headline(self) -> str:
        mark = "✓" if self.passed else "…" if self.mistake == "not-written-yet" else "✗"
        named = f"  ({self.mistake})" if self.mistake and not self.passed and get_language() == "en" else ""
        return f"{mark} {self.exercise.name}{named}"

    @property
    def section(self) -> Text | None:
        """The heading to read again, from the first failure on."""
        return self.exercise.section_for(self.mistake) if self.failures >= 1 else None

    @property
    def panel(self) -> str | None:
        """The panel that shows it, from the third failure with the same mistake on."""
        return PANEL.format(panel=self.exercise.panel) if self.failures >= 3 and self.exercise.panel else None

    @property
    def hint_line(self) -> str | None:
        """One line of a solution, from the second failure with the same mistake on."""
        if self.failures < 2:
            return None
        mistake = self.exercise.find_mistake(self.mistake)
        return (mistake and mistake.hint_line) or self.exercise.hint_line

    @property
    def _hint_kind(self) -> Text:
        """What the line of the hint is."""
        if not self.exercise.evaluate:
            return LINE_OF_SOLUTION
        return TEST_OF_ANSWER if _is_comparison(self.hint_line) else LINE_OF_CALCULATION

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The counterexample as names and values: the arguments, the result and, if it may be shown, the right one."""
        if not self.counterexample:
            return []
        rows = [(INPUT.format(name=name), value) for name, value in self.counterexample.arguments]
        rows.append((YOURS.format(what=self.counterexample.what), self.counterexample.yours))
        if self.passed or self.failures >= self.exercise.expected_from:
            rows.append((EXPECTED.format(what=self.counterexample.what), self.counterexample.expected))
        return rows

    def __str__(self) -> str:
        lines = [self.headline, *map(to_text, self.messages)]
        if self.rows and not self.passed:
            lines += ["", *(f"  {name} = {value}" for name, value in self.rows)]
        section = self.section and READ.format(link=f"{self.exercise.lesson} · {self.section}")
        hint_line = self.hint_line and self._hint_kind.format(line=f"`{self.hint_line}`")
        panel = self.panel and to_text(self.panel)
        help = [text for text in (section, panel, hint_line) if text]
        return "\n".join([*lines, *([""] if help else []), *help])

    __repr__ = __str__

    def html(self) -> str:
        """Return the verdict as a card of HTML, with its first sentence as the title."""
        title, body = split_title(self.messages[0]) if self.messages else (self.headline, "")
        pill = " · ".join(filter(None, (self.exercise.name, None if self.passed else self.mistake)))
        texts = [text for text in (body, *self.messages[1:]) if text]
        parts = [paragraph(to_html(text)) for text in texts]
        if self.rows and self.passed:  # folded under the first advice, because an open table looks like a failure
            first = len(parts) - len(self.advice)
            parts[first] = folded(to_html(texts[first]), self._grid())
        elif self.rows:
            parts.append(self._grid())
        if self.section:
            heading = str(self.section)
            link = f'<a href="{self.exercise.lesson}.ipynb#{heading_anchor(heading)}">{escape(heading)}</a>'
            parts.append(paragraph(READ.format(link=link)))
        if self.panel:
            parts.append(paragraph(to_html(self.panel)))
        if self.hint_line:
            label = A_TEST if self._hint_kind is TEST_OF_ANSWER else ONE_LINE
            parts.append(folded(str(label), f'<pre style="white-space:pre-wrap">{escape(self.hint_line)}</pre>'))
        if self.unlocks:
            parts.append(remark(escape(self.unlocks)))
        colour, icon = self._look()
        return card("verdict", to_html(title), parts, colour, icon, pill)

    def _look(self) -> tuple[str, str]:
        """The colour and the icon."""
        if self.passed:
            return GREEN, "✓"
        return (GREY, "…") if self.mistake == "not-written-yet" else (RED, "✗")

    def _grid(self) -> str:
        """The rows, with the learner's numbers marked that differ from the expected ones, if these are shown."""
        shown = [(escape(name), f"<code>{escape(value)}</code>") for name, value in self.rows]
        found = self.counterexample
        count = len(found.arguments)
        if len(shown) == count + 2:
            marked = mark_differences(found.yours, found.expected, RED if not self.passed else BLUE)
            shown[count] = shown[count][0], f"<code>{marked}</code>"
        return grid(shown, marked=range(count, len(shown)))

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html(), MIME: self.data}


def _is_comparison(line: str) -> bool:
    """Return whether a line of code says that something holds, as `y.shape == (2,)` does."""
    [statement] = ast.parse(line).body
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Compare)


_TITLE = re.compile(r"(?P<title>[^\n]{1,110}?(?:[.!?](?= )|[。！？]))\s*(?P<body>.*)", re.DOTALL)
_PART = re.compile(r"[^\s,\[\]()]+")  # a number or a word of a formatted value


def split_title(text: str) -> tuple[str, str]:
    """Split a message into its first sentence and the rest. A message of one sentence is all title."""
    found = _TITLE.fullmatch(text)
    if not found or found["title"].count("`") % 2:  # a full stop inside code ends no sentence
        return text, ""
    return found["title"], found["body"]


def mark_differences(text: str, other: str, colour: str) -> str:
    """Return the text as HTML with the parts marked that differ from those of another text of the same form."""
    parts, others = _PART.findall(text), _PART.findall(other)
    if len(parts) != len(others) or len(parts) < 2:
        return escape(text)
    pairs = iter(zip(parts, others, strict=True))

    def show(_found: re.Match) -> str:
        one, two = next(pairs)
        return escape(one) if one == two else mark(escape(one), colour)

    return _PART.sub(show, text)


# Matched in one pass, so that stars inside code stay. Italics begin and end at a word, so that `a * b` is not italic.
_MARKS = re.compile(r"`(?P<code>.+?)`|\*\*(?P<strong>.+?)\*\*|(?<!\w)\*(?P<em>\w(?:[^*]*\w)?)\*(?!\w)")


def to_html(text: str) -> str:
    """Convert `code`, **bold** and *italics* to HTML."""
    return _MARKS.sub(lambda m: f"<{m.lastgroup}>{m[m.lastgroup]}</{m.lastgroup}>", escape(text))


def to_text(text: str) -> str:
    """Drop the marks of bold and italics. Code keeps its backticks."""
    return _MARKS.sub(lambda m: m[0] if m["code"] else m[m.lastgroup], text)


def html_table(rows: Iterable[Sequence[str]]) -> str:
    """Return cells of HTML as a table, with the first of each row as its heading. Returns "" without rows."""
    left = 'style="text-align:left"'
    cells = (
        f"<th {left}>{first}</th>" + "".join(f"<td {left}>{cell}</td>" for cell in others) for first, *others in rows
    )
    inside = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table>{inside}</table>" if inside else ""


def heading_anchor(heading: str) -> str:
    """Return JupyterLab's anchor of a heading: its text with dashes for spaces."""
    return heading.replace(" ", "-")


_failures: dict[str, tuple[str | None, int]] = {}


def count_failure(exercise: str, mistake: str | None) -> int:
    """Record a failure, and return how many times in a row this mistake has occurred."""
    before, times = _failures.get(exercise, (None, 0))
    _failures[exercise] = (mistake, times + 1 if times and before == mistake else 1)
    return _failures[exercise][1]


def reset_failures(exercise: str) -> None:
    """Reset the count of an exercise that has been solved."""
    _failures.pop(exercise, None)
