"""What a page shows of a panel: widgets while there is a kernel, a still picture in a reopened notebook."""

from collections.abc import Iterable, Iterator
from html import escape

import ipywidgets as widgets

from blocklab_course.cards import LINE
from blocklab_course.panel.messages import RUN_FIRST, TRY_FALLBACK, WHAT_NEXT

VIEW = "application/vnd.jupyter.widget-view+json"

TEXT_STYLE = "line-height: 1.5; font-size: 14px;"
HINT = f'<div style="{TEXT_STYLE} opacity: 0.75">{{}}</div>'

# The still is a separate output before that of the widgets. JupyterLab and Notebook 7 show only one of them: a live
# panel hides the still, and the still hides the error message about missing widgets.
OUTPUT = ".jp-OutputArea-child"
STILL = f"{OUTPUT}:has(.blocklab-still)"
LIFELESS = f"{OUTPUT}:not(:has(> .jp-OutputArea-output > *))"
ONE_OF_TWO = f"<style>{STILL}:has(+ {OUTPUT} .blocklab-panel), {STILL} + {LIFELESS} {{display: none}}</style>"


def walk(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    """Yield a widget, its layout, its style and all its descendants."""
    yield widget
    for name in widget.keys:
        held = getattr(widget, name)
        for part in held if isinstance(held, tuple | list) else (held,):
            if isinstance(part, widgets.Widget):
                yield from walk(part)


def row(parts: list[widgets.Widget], width: str) -> widgets.HBox:
    """Put widgets side by side, wrapping onto further rows."""
    layout = widgets.Layout(flex_flow="row wrap", max_width="100%", width=width, align_items="center", margin="0 0 4px")
    return widgets.HBox(parts, layout=layout)


def disable(root: widgets.Widget, disabled: bool) -> None:
    """Disable or enable a widget and all its descendants."""
    for widget in walk(root):
        if widget.has_trait("disabled"):
            widget.disabled = disabled


def close_all(root: widgets.Widget) -> None:
    """Close a widget and all its descendants; ipywidgets keeps a widget until it is closed."""
    for widget in list(walk(root)):
        widget.close()


def view_data(widget: widgets.Widget) -> dict:
    """Return the MIME data that shows a widget."""
    return {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}


# What surrounds the picture of a panel that is not running. Every style is inline, as in `cards`.

_BOX = "display: inline-block; padding: 2px 12px; margin: 4px 8px 0 0; border-radius: 5px"
_OPTION = f"{_BOX}; border: 1px solid {LINE}; opacity: 0.7"
_RUN = f"{_BOX}; font-weight: 600; color: #ffffff; background-color: #2f6fb0"
_TRACK = f"display: inline-block; vertical-align: middle; height: 4px; background-color: {LINE}"
_THUMB = f"{_TRACK.replace('4px', '14px')}; width: 14px; border-radius: 50%"


def guess_in_words(question: str, options: Iterable[str]) -> str:
    """Return HTML with the question that a panel will ask, and its options, which cannot be chosen yet."""
    boxes = "".join(f'<span style="{_OPTION}">{escape(option)}</span>' for option in options)
    return f'<div style="{TEXT_STYLE} margin-bottom: 8px"><b>{escape(question)}</b><br>{boxes}</div>'


def ghost(slider: str | None, guesses: bool) -> str:
    """Return HTML that says how to bring a panel to life, beside the ghost of its slider if it has one.

    slider: the label of the slider. guesses: whether the panel asks for a guess first.
    """
    doing = RUN_FIRST.format(then=WHAT_NEXT[guesses, slider is not None])
    row = f'<span style="{_RUN}">▶ {doing}</span>'
    if slider is not None:
        parts = (f"{_TRACK}; width: 40px", _THUMB, f"{_TRACK}; width: 120px")
        track = "".join(f'<span style="{part}"></span>' for part in parts)
        row = f'<span style="opacity: 0.6">{escape(slider)} {track}</span> {row}'
    return f'<div style="{TEXT_STYLE} margin-top: 4px">{row}</div>'


def still_page(png: str, line: str, width: int, above: str = "", below: str = "") -> str:
    """Return HTML with the picture (a base64 PNG) and the line, between what stands above and below them."""
    image = f'<img src="data:image/png;base64,{png}" alt="{escape(line)}" style="width: {width}px; max-width: 100%">'
    text = f'<div style="{TEXT_STYLE}">{escape(line)}</div>'
    return ONE_OF_TWO + still(above + image + text + below, str(TRY_FALLBACK) if below else "")


def still(inside: str, hint: str, attributes: str = "") -> str:
    """Return what a notebook shows without a kernel. hint: how to make it interactive, if that is not said inside."""
    return f'<div class="blocklab-still"{attributes}>{inside}{HINT.format(hint) if hint else ""}</div>'
