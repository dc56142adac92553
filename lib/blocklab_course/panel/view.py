"""What of a panel stands in a page: widgets while a kernel answers, a still when a saved notebook is opened again."""

from collections.abc import Iterator
from html import escape

import ipywidgets as widgets

from blocklab_course.panel.messages import RUN_THE_CELL, TRY_FALLBACK, TWO_SENTENCES

VIEW = "application/vnd.jupyter.widget-view+json"

TEXT_STYLE = "line-height: 1.5; font-size: 14px;"
HINT = f'<div style="{TEXT_STYLE} opacity: 0.75">{{}}</div>'

# The still stands in an output of its own, in front of the widgets' output. JupyterLab and Notebook 7 show one of them:
# a living panel hides the still, and the still hides what they say about widgets that they do not find.
OUTPUT = ".jp-OutputArea-child"
STILL = f"{OUTPUT}:has(.blocklab-still)"
LIFELESS = f"{OUTPUT}:not(:has(> .jp-OutputArea-output > *))"
ONE_OF_TWO = f"<style>{STILL}:has(+ {OUTPUT} .blocklab-panel), {STILL} + {LIFELESS} {{display: none}}</style>"


def walk(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    """A widget with its layout, its style and all that it holds."""
    yield widget
    for name in widget.keys:
        held = getattr(widget, name)
        for part in held if isinstance(held, tuple | list) else (held,):
            if isinstance(part, widgets.Widget):
                yield from walk(part)


def close_all(root: widgets.Widget) -> None:
    """Close a widget with all that it holds: ipywidgets lets go of a widget only then."""
    for widget in list(walk(root)):
        widget.close()


def view_data(widget: widgets.Widget) -> dict:
    """What an output says to show a widget."""
    return {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}


def still_page(png: str, line: str, width: int) -> str:
    """A page with the picture (a PNG in base64), the line, and what to do to move it."""
    image = f'<img src="data:image/png;base64,{png}" alt="{escape(line)}" style="width: {width}px; max-width: 100%">'
    what_to_do = TWO_SENTENCES.format(first=RUN_THE_CELL, second=TRY_FALLBACK)
    words = f'<div style="{TEXT_STYLE}">{escape(line)}</div>{HINT.format(what_to_do)}'
    return f'{ONE_OF_TWO}<div class="blocklab-still">{image}{words}</div>'
