"""The frame of results that a cell shows: verdicts, answers of a network, progress.

Every style is inline, because JupyterLab removes style sheets from notebooks that are not trusted, and Colab shows each
output in a frame of its own. Text keeps the colour of the page, and tints are translucent, so that a card fits light
and dark pages.
"""

from collections.abc import Iterable, Sequence
from html import escape

GREEN, RED, BLUE, GREY = "#2e8b57", "#d6336c", "#2f6fb0", "#808a96"
"""Readable as an edge or an icon on white and on black."""

_TINTS = {
    GREEN: "rgba(46,139,87,0.1)",
    RED: "rgba(214,51,108,0.09)",
    BLUE: "rgba(47,111,176,0.09)",
    GREY: "rgba(128,138,150,0.08)",
}
LINE = "rgba(128,138,150,0.4)"
_LEFT = "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:none;background:none"


def card(kind: str, title: str, parts: Iterable[str], colour: str, icon: str = "", pill: str = "") -> str:
    """A card with a coloured edge. `title` and `parts` are HTML; `kind` names it for the site's style sheet."""
    frame = (
        f"border:1px solid {LINE};border-left:5px solid {colour};border-radius:8px;background-color:{_TINTS[colour]};"
        "padding:10px 14px;margin:6px 0;max-width:720px;overflow-wrap:anywhere"
    )
    head = f'<div style="font-size:1.1em;font-weight:600">{_icon(icon, colour)}{title}{_pill(pill)}</div>'
    return f'<div class="blocklab-{kind}" style="{frame}">{head}{"".join(parts)}</div>'


def paragraph(html: str) -> str:
    return f'<p style="margin:6px 0 0">{html}</p>'


def folded(summary: str, inside: str) -> str:
    return f'<details style="margin:6px 0 0"><summary>{summary}</summary>{inside}</details>'


def grid(rows: Iterable[Sequence[str]], marked: Sequence[int] = ()) -> str:
    """Cells of HTML in columns without lines. The first of each row is its label; rows in `marked` are emphasized."""
    lines = []
    for number, (label, *cells) in enumerate(rows):
        style = f"{_LEFT};font-weight:600" if number in marked else _LEFT
        body = "".join(f'<td style="{style}">{cell}</td>' for cell in cells)
        lines.append(f'<tr style="background:none"><th style="{_LEFT};font-weight:normal">{label}</th>{body}</tr>')
    inside = "".join(lines)
    style = "border-collapse:collapse;border:none;margin:8px 0 0;font-size:inherit"
    return f'<table style="{style}">{inside}</table>' if inside else ""


def mark(html: str, colour: str) -> str:
    """Underline what differs."""
    return f'<span style="border-bottom:2px solid {colour}">{html}</span>'


def bar(share: float, colour: str) -> str:
    """A horizontal bar that is filled to `share`, from 0 to 1."""
    shape = "height:8px;border-radius:4px"
    width = f"{100 * min(max(share, 0), 1):.1f}%"
    filled = f'<div style="{shape};width:{width};background-color:{colour}"></div>'
    return f'<div style="{shape};background-color:{LINE};margin:3px 0">{filled}</div>'


def _icon(icon: str, colour: str) -> str:
    if not icon:
        return ""
    style = (
        f"display:inline-block;width:1.45em;height:1.45em;line-height:1.45em;border-radius:50%;text-align:center;"
        f"color:#ffffff;background-color:{colour};font-size:0.85em;margin-right:8px"
    )
    return f'<span style="{style}">{icon}</span>'


def _pill(text: str) -> str:
    if not text:
        return ""
    style = (
        f"display:inline-block;border:1px solid {LINE};border-radius:10px;padding:0 8px;margin-left:10px;"
        "font-size:0.75em;font-weight:normal"
    )
    return f'<span style="{style}">{escape(text)}</span>'
