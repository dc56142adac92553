"""What a check answers, as text, as HTML and as data."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

import blocklab
from blocklab_course.i18n import Text, get_language

from .counterexample import Counterexample
from .exercise import Exercise
from .messages import EXPECTED, INPUT, ONE_LINE, ONE_LINE_SHOWN, PANEL, READ, YOURS

MIME = "application/vnd.blocklab.verdict+json"


class NotPassed(AssertionError):
    """An attempt did not pass; the message is what its verdict says."""


@dataclass(frozen=True)
class Verdict:
    """The answer to one attempt at an exercise.

    `mistake` is the id of the known mistake ("a+b" for several at once) or of what kept the function from being
    compared, None for a mistake that no table holds. `advice` are the ids of what a right function could do better.
    `told` and `telling` are for the reader; `stuck` counts how often this exercise has failed in a row with this same
    mistake.
    """

    exercise: Exercise = field(repr=False)
    passed: bool
    mistake: str | None = None
    advice: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    failures: int = 0

    def __bool__(self) -> bool:
        return self.passed

    def must_pass(self) -> None:
        """Raise NotPassed with the verdict's words, unless it passed: for those who grade by cells that raise."""
        if not self.passed:
            raise NotPassed(str(self))

    @property
    def data(self) -> dict:
        """What is saved in the notebook for a class report: no time, no name, nothing of the learner's code."""
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
        """Where to read again, from the first failure on."""
        return self.exercise.section_about(self.mistake) if self.failures >= 1 else None

    @property
    def panel(self) -> str | None:
        """Where to see it, from the third failure of one kind on."""
        return PANEL.format(panel=self.exercise.panel) if self.failures >= 3 and self.exercise.panel else None

    @property
    def line(self) -> str | None:
        """One line of a solution, from the second failure of one kind on."""
        row = self.exercise.row(self.mistake)
        return ((row and row.line) or self.exercise.line) if self.failures >= 2 else None

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is told of one input: what went in, what came out, what should have come out."""
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
        line = self.line and ONE_LINE_SHOWN.format(line=self.line)
        panel = self.panel and to_text(self.panel)
        help = [text for text in (section, panel, line) if text]
        return "\n".join([*lines, *([""] if help else []), *help])

    __repr__ = __str__

    def html(self) -> str:
        """The same for a notebook. Colours come from the page, so that it reads on dark and on light."""
        parts = [f"<p><strong>{escape(self.headline)}</strong></p>"]
        told = [f"<p>{to_html(text)}</p>" for text in self.messages]
        rows = html_table((escape(name), f"<code>{escape(value)}</code>") for name, value in self.rows)
        if rows and self.passed:  # an open table looks like a failure; it is that of the first advice
            first = len(told) - len(self.advice)
            told[first] = f"<details><summary>{to_html(self.messages[first])}</summary>{rows}</details>"
        elif rows:
            told.append(rows)
        parts += told
        if self.section:
            heading = str(self.section)
            link = f'<a href="{self.exercise.lesson}.ipynb#{heading_anchor(heading)}">{escape(heading)}</a>'
            parts.append(f"<p>{READ.format(link=link)}</p>")
        if self.panel:
            parts.append(f"<p>{to_html(self.panel)}</p>")
        if self.line:
            parts.append(f"<details><summary>{ONE_LINE}</summary><pre>{escape(self.line)}</pre></details>")
        return f'<div class="blocklab-verdict">{"".join(parts)}</div>'

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html(), MIME: self.data}


# In one pass: stars inside code are code. Italics begin and end at a word, so that a product is none.
_MARKS = re.compile(r"`(?P<code>.+?)`|\*\*(?P<strong>.+?)\*\*|(?<!\w)\*(?P<em>\w(?:[^*]*\w)?)\*(?!\w)")


def to_html(text: str) -> str:
    """Words with `code`, **bold** and *italics* in them, as HTML."""
    return _MARKS.sub(lambda m: f"<{m.lastgroup}>{m[m.lastgroup]}</{m.lastgroup}>", escape(text))


def to_text(text: str) -> str:
    """The same as plain text: code keeps its marks, bold and italics have none."""
    return _MARKS.sub(lambda m: m[0] if m["code"] else m[m.lastgroup], text)


def html_table(rows: Iterable[Sequence[str]]) -> str:
    """Cells of HTML as a table, the first of each row its heading; "" without rows."""
    left = 'style="text-align:left"'
    cells = (
        f"<th {left}>{first}</th>" + "".join(f"<td {left}>{cell}</td>" for cell in others) for first, *others in rows
    )
    inside = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table>{inside}</table>" if inside else ""


def heading_anchor(heading: str) -> str:
    """JupyterLab's address of a heading: its text with dashes for spaces."""
    return heading.replace(" ", "-")
