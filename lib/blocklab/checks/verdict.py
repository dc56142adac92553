"""What a check answers, as text, as HTML and as data."""

import re
from dataclasses import dataclass, field
from html import escape

import blocklab

from .exercise import Exercise
from .telling import Telling
from .words import EXPECTED, INPUT, ONE_LINE, ONE_LINE_SHOWN, PANEL, READ, YOURS

MIME = "application/vnd.blocklab.verdict+json"


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
    told: tuple[str, ...] = ()
    telling: Telling | None = None
    stuck: int = 0

    def __bool__(self) -> bool:
        return self.passed

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
        named = f"  ({self.mistake})" if self.mistake and not self.passed else ""
        return f"{mark} {self.exercise.name}{named}"

    @property
    def help(self) -> list[str]:
        """Where to look, for who is stuck: the section at once, the panel again at the third failure of one kind."""
        section, panel = self.exercise.section, self.exercise.panel
        lines = [] if self.stuck < 1 or section is None else [READ.format(link=f"{section.lesson}, {section.heading}")]
        return lines + ([PANEL.format(panel=panel)] if self.stuck >= 3 and panel else [])

    @property
    def line(self) -> str | None:
        """One line of a solution, from the second failure of one kind on."""
        return self.exercise.line if self.stuck >= 2 else None

    def __str__(self) -> str:
        lines = [self.headline, *(text.replace("**", "") for text in self.told)]
        if self.telling:
            rows = _rows(self.telling)
            lines += ["", *(f"  {name} = {value}" for name, value in rows)]
        if self.help or self.line:
            lines += ["", *self.help]
        if self.line:
            lines.append(ONE_LINE_SHOWN.format(line=self.line))
        return "\n".join(lines)

    __repr__ = __str__

    def html(self) -> str:
        """The same for a notebook. Colours come from the page, so that it reads on dark and on light."""
        parts = [f"<p><strong>{escape(self.headline)}</strong></p>"]
        parts += [f"<p>{marked(text)}</p>" for text in self.told]
        if self.telling:
            rows = "".join(_row(name, value) for name, value in _rows(self.telling))
            parts.append(f"<table>{rows}</table>")
        section = self.exercise.section
        if self.help and section:
            link = (
                f'<a href="{section.lesson}.ipynb#{_anchor(str(section.heading))}">{escape(str(section.heading))}</a>'
            )
            parts.append(f"<p>{READ.format(link=link)}</p>")
        parts += [f"<p>{escape(text)}</p>" for text in self.help[1:]]
        if self.line:
            parts.append(f"<details><summary>{ONE_LINE}</summary><pre>{escape(self.line)}</pre></details>")
        return f'<div class="blocklab-verdict">{"".join(parts)}</div>'

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html(), MIME: self.data}


def _rows(telling: Telling) -> list[tuple[str, str]]:
    return [
        *((INPUT.format(name=name), value) for name, value in telling.arguments),
        (YOURS.format(what=telling.what), telling.yours),
        (EXPECTED.format(what=telling.what), telling.expected),
    ]


def _row(name: str, value: str) -> str:
    left = 'style="text-align:left"'
    return f"<tr><th {left}>{escape(name)}</th><td {left}><code>{escape(value)}</code></td></tr>"


def marked(text: str) -> str:
    """Words with `code` and **bold** in them, as HTML."""
    html = re.sub(r"`(.+?)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html)


def _anchor(heading: str) -> str:
    """JupyterLab's address of a heading: its text with dashes for spaces."""
    return heading.replace(" ", "-")
