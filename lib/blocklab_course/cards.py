"""The frame of results that a cell shows: verdicts, answers of a network, progress.

Every style is inline, because JupyterLab removes style sheets from notebooks that are not trusted, and Colab shows each
output in a frame of its own. Text keeps the colour of the page, and tints are translucent, so that a card fits light
and dark pages.
"""

from collections.abc import Iterable, Sequence
from html import escape

GREEN, RED, BLUE, ORANGE, GREY = "#2e8b57", "#d6336c", "#2f6fb0", "#c2620a", "#808a96"
"""Readable as an edge or an icon on white and on black."""

_TINTS = {
    GREEN: "rgba(46,139,87,0.1)",
    RED: "rgba(214,51,108,0.09)",
    BLUE: "rgba(47,111,176,0.09)",
    GREY: "rgba(128,138,150,0.08)",
}
_WRAP = "word-wrap:break-word;overflow-wrap:anywhere"
"""JupyterLab knows only the older name, under which a table does not shrink below its longest word."""
LINE = "rgba(128,138,150,0.4)"
_LEFT = "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:none;background:none"


def card(kind: str, title: str, parts: Iterable[str], colour: str, icon: str = "", pill: str = "") -> str:
    """A card with a coloured edge. `title` and `parts` are HTML; `kind` names it for the site's style sheet."""
    frame = (
        f"border:1px solid {LINE};border-left:5px solid {colour};border-radius:8px;background-color:{_TINTS[colour]};"
        f"padding:10px 14px;margin:6px 0;max-width:720px;{_WRAP}"
    )
    head = f'<div style="font-size:1.1em;font-weight:600">{_icon(icon, colour)}{title}{_pill(pill)}</div>'
    return f'<div class="blocklab-{kind}" style="{frame}">{head}{"".join(parts)}</div>'


def paragraph(html: str) -> str:
    return f'<p style="margin:6px 0 0">{html}</p>'


def remark(html: str) -> str:
    """A paragraph in small letters."""
    return f'<p style="margin:6px 0 0;font-size:0.85em;opacity:0.8">{html}</p>'


def folded(summary: str, inside: str) -> str:
    return f'<details style="margin:6px 0 0"><summary>{summary}</summary>{inside}</details>'


def grid(rows: Iterable[Sequence[str]], marked: Sequence[int] = ()) -> str:
    """Cells of HTML in columns without lines. The first of each row is its label; rows in `marked` are emphasized."""
    lines = []
    for number, (label, *cells) in enumerate(rows):
        style = f"{_LEFT};font-weight:600" if number in marked else _LEFT
        body = "".join(f'<td style="{style}">{cell}</td>' for cell in cells)
        head = f"{_LEFT};font-weight:normal;overflow-wrap:break-word"  # a label may not be split to make room
        kind = "th" if label else "td"
        lines.append(f'<tr style="background:none"><{kind} style="{head}">{label}</{kind}>{body}</tr>')
    inside = "".join(lines)
    style = "border-collapse:collapse;border:none;margin:8px 0 0;font-size:inherit"
    return f'<div style="overflow-x:auto"><table style="{style}">{inside}</table></div>' if inside else ""


def mark(html: str, colour: str) -> str:
    """Underline what differs."""
    return f'<span style="border-bottom:2px solid {colour}">{html}</span>'


def bar(share: float, colour: str) -> str:
    """A horizontal bar that is filled to `share`, from 0 to 1."""
    shape = "height:8px;border-radius:4px"
    width = f"{100 * min(max(share, 0), 1):.1f}%"
    filled = f'<div style="{shape};width:{width};background-color:{colour}"></div>'
    return f'<div style="{shape};background-color:{LINE};margin:3px 0">{filled}</div>'


def columns(parts: Iterable[str], width: int) -> str:
    """Parts side by side, each of this width in pixels; below each other on a narrow page."""
    style = f"display:inline-block;vertical-align:top;width:{width}px;max-width:100%;margin:8px 16px 0 0"
    return "".join(f'<div style="{style}">{part}</div>' for part in parts)


def bubble(html: str, colour: str, *, asks: bool) -> str:
    """One turn of a chat: filled on the right if it asks, framed on the left if it answers."""
    own = "border:1px solid {0};background-color:{0};color:#ffffff" if asks else "border:1px solid {0}"
    style = f"display:inline-block;max-width:88%;padding:6px 12px;margin:3px 0;text-align:left;{own.format(colour)}"
    style += f";border-radius:{'14px 14px 3px 14px' if asks else '14px 14px 14px 3px'}"
    side = "right" if asks else "left"
    return f'<div style="text-align:{side}"><span style="{style}">{html}</span></div>'


def big_number(number: int, total: int, label: str, colour: str) -> str:
    """A count out of a total, in large letters, with its label and a bar."""
    large = f'<span style="font-size:1.9em;font-weight:700">{number}</span>'
    small = f'<span style="opacity:0.75;font-weight:600"> / {total}</span>'
    return f"<div>{large}{small}</div><div>{label}</div>{bar(number / total if total else 0, colour)}"


def chip(html: str, target: str, colour: str | None = None) -> str:
    """A small rounded link; one with a colour stands out."""
    tint = f"border:1px solid {colour};background-color:{_TINTS[colour]}" if colour else f"border:1px solid {LINE}"
    style = f"display:inline-block;{tint};border-radius:11px;padding:0 9px;margin:2px 6px 2px 0;color:inherit"
    return f'<a href="{target}" style="{style};text-decoration:none;font-size:0.85em">{html}</a>'


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
        f"display:inline-block;max-width:90%;border:1px solid {LINE};border-radius:10px;padding:0 8px;margin-left:10px;"
        "font-size:0.75em;font-weight:normal"
    )
    return f'<span style="{style}">{escape(text)}</span>'
