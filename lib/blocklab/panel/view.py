"""What of a panel stands in a page: widgets while a kernel answers, a still when a saved notebook is opened again."""

from collections.abc import Callable, Iterator
from html import escape

import ipywidgets as widgets

from blocklab.language import Text
from blocklab.panel.canvas import DPI
from blocklab.panel.controls import Control, Toggle, width_of

VIEW = "application/vnd.jupyter.widget-view+json"

RESET = Text(en="Reset", zh="重置")
RUN_THE_CELL = Text(en="Run the cell to move it.", zh="运行这个单元格，就可以移动滑块。")
WORDS = "line-height: 1.5; font-size: 14px;"
HINT = f'<div style="{WORDS} opacity: 0.75">{{}}</div>'

# A front end marks a view whose kernel does not answer any more.
UNANSWERED = "<style>.blocklab-panel:not(.jupyter-widgets-disconnected) > .blocklab-unanswered {display: none}</style>"

# The still stands in an output of its own, in front of the widgets' output. JupyterLab and Notebook 7 show one of them:
# a living panel hides the still, and the still hides what they say about widgets that they do not find.
OUTPUT = ".jp-OutputArea-child"
STILL = f"{OUTPUT}:has(.blocklab-still)"
LIFELESS = f"{OUTPUT}:not(:has(> .jp-OutputArea-output > *))"
ONE_OF_TWO = f"<style>{STILL}:has(+ {OUTPUT} .blocklab-panel), {STILL} + {LIFELESS} {{display: none}}</style>"


class View:
    """The widgets of a panel: the controls above, the picture, the line, and what to do when no kernel answers."""

    def __init__(self, size: tuple[float, float], controls: dict[str, Control], reset: Callable[[], None]):
        width = f"{size[0] * DPI:g}px"
        self.line = widgets.HTML(layout=widgets.Layout(width=width, max_width="100%", margin="0 2px"))
        self.image = widgets.Image(
            format="jpeg",
            # Width and height tell the page the shape before the picture is decoded, so nothing jumps; the layout lets
            # a narrow page make it smaller without changing that shape.
            width=f"{size[0] * DPI:g}",
            height=f"{size[1] * DPI:g}",
            layout=widgets.Layout(width=width, max_width="100%", height="auto", object_fit="contain"),
        )
        unanswered = widgets.HTML(UNANSWERED + HINT.format(RUN_THE_CELL), layout=widgets.Layout(margin="0 2px"))
        unanswered.add_class("blocklab-unanswered")
        titles = {name: control.title(name) for name, control in controls.items()}
        sliding = [title for name, title in titles.items() if not isinstance(controls[name], Toggle)]
        widest = max(map(width_of, sliding), default=0)
        for name, control in controls.items():
            control.build(titles[name], widest)
            control.show()
        button = widgets.Button(
            description=str(RESET), icon="undo", layout=widgets.Layout(width="auto", margin="2px 0")
        )
        button.on_click(lambda _button: reset())
        self.bar = widgets.HBox(
            [*(control.widget for control in controls.values()), *([button] if controls else [])],
            layout=widgets.Layout(
                flex_flow="row wrap", max_width="100%", width=width, align_items="center", margin="0 0 4px"
            ),
        )
        self.root = widgets.VBox(
            [self.bar, self.image, self.line, unanswered], layout=widgets.Layout(max_width="100%", overflow="hidden")
        )
        self.root.add_class("blocklab-panel")

    def say(self, line: str, style: str = "") -> None:
        # "status" makes a screen reader read the line when it changes.
        self.line.value = f'<div role="status" style="{WORDS} {style}">{escape(line)}</div>'

    def close(self) -> None:
        """Close every widget: ipywidgets lets go of a widget only then."""
        for widget in list(tree(self.root)):
            widget.close()


def tree(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    """A widget with its layout, its style and all that it holds."""
    yield widget
    for name in widget.keys:
        held = getattr(widget, name)
        for part in held if isinstance(held, tuple | list) else (held,):
            if isinstance(part, widgets.Widget):
                yield from tree(part)


def view_of(widget: widgets.Widget) -> dict:
    """What an output says to show a widget."""
    return {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}


def still(png: str, line: str, width: int) -> str:
    """A page with the picture (a PNG in base64), the line, and what to do to move it."""
    image = f'<img src="data:image/png;base64,{png}" alt="{escape(line)}" style="width: {width}px; max-width: 100%">'
    words = f'<div style="{WORDS}">{escape(line)}</div>{HINT.format(RUN_THE_CELL)}'
    return f'{ONE_OF_TWO}<div class="blocklab-still">{image}{words}</div>'
