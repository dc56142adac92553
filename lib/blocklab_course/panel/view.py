"""What a page shows of a panel: widgets while there is a kernel, a still picture in a reopened notebook."""

from collections.abc import Iterator
from html import escape

import ipywidgets as widgets

from blocklab_course.panel.messages import RUN_THE_CELL, TRY_FALLBACK, TWO_SENTENCES

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


def still_page(png: str, line: str, width: int) -> str:
    """Return HTML with the picture (a base64 PNG), the line, and how to make it interactive."""
    image = f'<img src="data:image/png;base64,{png}" alt="{escape(line)}" style="width: {width}px; max-width: 100%">'
    text = f'<div style="{TEXT_STYLE}">{escape(line)}</div>'
    return ONE_OF_TWO + still(image + text, TWO_SENTENCES.format(first=RUN_THE_CELL, second=TRY_FALLBACK))


def still(inside: str, hint: str, attributes: str = "") -> str:
    """Return what a notebook shows without a kernel. hint: how to make it interactive."""
    return f'<div class="blocklab-still"{attributes}>{inside}{HINT.format(hint)}</div>'
