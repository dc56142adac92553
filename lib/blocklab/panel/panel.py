"""Controls above a picture, one line of text below it.

Everything happens inside the observer of the control that moved: no threads, no timers, no waiting. The front end sends
one message at a time and merges the moves that come meanwhile.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from itertools import combinations, product
from typing import Any

import ipywidgets as widgets
from IPython.display import display

from blocklab.language import Text
from blocklab.panel.canvas import DPI, Canvas, jpeg, png
from blocklab.panel.controls import Control, Toggle, width_of

LIVE_SCALE, LIVE_QUALITY = 1, 85
"""Pixels per CSS pixel of a live frame, and its JPEG quality. At 2 a frame is sharper on some screens, but the browser
takes 20 to 30 ms longer to decode it, more than all the rest of a move: `tests/bench/panel.py` measures it."""

SAVED_SCALE = 2

RESET = Text(en="Reset", zh="重置")
FAILED = Text(
    en="The picture could not be drawn for {values}. {error}: {reason}",
    zh="在 {values} 时无法画出图像。{error}：{reason}",
)


class Panel(widgets.VBox):
    """Controls, the picture that they move, and the line that says what is seen.

    `picture(figure)` builds its artists once and returns `update(**values) -> str`, which is called with the value of
    every control after each move and returns the line. What moves with a control is marked `animated=True`.

    An error inside `update` is shown in place of the line and raised; the next good move draws as if nothing had been.
    """

    def __init__(self, picture: Callable, size: tuple[float, float] = (10, 4), **controls: Control):
        self.canvas = Canvas(size, LIVE_SCALE)
        for name, control in controls.items():
            if not isinstance(control, Control):
                raise TypeError(f"Panel wants a Slider, Choice or Toggle for {name}, got {control!r}")
        self._update = picture(self.canvas.figure)
        if not callable(self._update):
            raise TypeError(f"a picture wants to return its update function, got {self._update!r}")
        self._held = True
        widest = max([width_of(c.title(name)) for name, c in controls.items() if not isinstance(c, Toggle)], default=0)
        self.controls = {name: c.shown(name, self._redraw, widest) for name, c in controls.items()}
        self._held = False
        self._size = size
        width = f"{size[0] * DPI:g}px"
        self._line = widgets.HTML(layout=widgets.Layout(width=width, max_width="100%", margin="0 2px"))
        self.image = widgets.Image(
            value=self._frame(),
            format="jpeg",
            # Width and height tell the page the shape before the picture is decoded, so nothing jumps; the layout lets
            # a narrow page make it smaller without changing that shape.
            width=f"{size[0] * DPI:g}",
            height=f"{size[1] * DPI:g}",
            layout=widgets.Layout(width=width, max_width="100%", height="auto", object_fit="contain"),
        )
        self._say(self._text)
        reset = widgets.Button(description=str(RESET), icon="undo", layout=widgets.Layout(width="auto", margin="2px 0"))
        reset.on_click(lambda _button: self.reset())
        bar = widgets.HBox(
            [*(c.widget for c in self.controls.values()), *([reset] if controls else [])],
            layout=widgets.Layout(
                flex_flow="row wrap", max_width="100%", width=width, align_items="center", margin="0 0 4px"
            ),
        )
        super().__init__([bar, self.image, self._line], layout=widgets.Layout(max_width="100%", overflow="hidden"))
        self.add_class("blocklab-panel")

    @property
    def line(self) -> str:
        """What the text under the picture says now."""
        return self._text

    @property
    def values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    def move(self, **values: Any) -> None:
        """Set several controls and draw once. Raises like the controls, before any of them moves."""
        checked = {name: self.controls[name].checked(value) for name, value in values.items()}
        with self._one_redraw():
            for name, value in checked.items():
                self.controls[name].move(value)

    def reset(self) -> None:
        """Move every control back to where it began."""
        self.move(**{name: control.default for name, control in self.controls.items()})

    def sweep(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Visit minimum, default and maximum of every control, and every pair of extremes, and yield (values, line).

        A choice goes through all its options, a toggle through both. The panel is at these values when they are
        yielded and back at the defaults in the end.
        """
        default = {name: control.default for name, control in self.controls.items()}
        visits = [default]
        for name, control in self.controls.items():
            visits += [{**default, name: value} for value in control.stops()]
        for (one, first), (other, second) in combinations(self.controls.items(), 2):
            visits += [{**default, one: a, other: b} for a, b in product(first.ends(), second.ends())]
        for values in {repr(values): values for values in visits}.values():
            self.move(**values)
            yield values, self.line
        self.reset()

    @contextmanager
    def _one_redraw(self):
        self._held, self._due = True, False
        try:
            yield
        finally:
            self._held = False
        if self._due:
            self._redraw()

    def _redraw(self) -> None:
        if self._held:
            self._due = True
            return
        self.image.value = self._frame()  # first, because it is what the reader waits for
        self._say(self._text)

    def _frame(self) -> bytes:
        """Update the picture and draw it. An error takes the place of the line, and goes on to the caller."""
        try:
            line = self._update(**self.values)
            if not isinstance(line, str) or not line.strip():
                raise TypeError(f"update wants to return the line under the picture, a non-empty str, got {line!r}")
            frame = jpeg(self.canvas.frame(), LIVE_QUALITY)
        except Exception as error:
            values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
            self._text = FAILED.format(values=values, error=type(error).__name__, reason=error)
            self._say(self._text, "color: var(--jp-error-color1, #b00020)")
            raise
        self._text = line
        return frame

    def _say(self, line: str, style: str = "") -> None:
        # "status" makes a screen reader read the line when it changes.
        self._line.value = f'<div role="status" style="line-height: 1.5; font-size: 14px; {style}">{escape(line)}</div>'

    # A saved notebook shows the line and the picture until a kernel brings the panel to life.

    def __repr__(self) -> str:
        return self.line

    def _saved(self) -> tuple[dict, dict]:
        width, height = (round(side * DPI) for side in self._size)
        data = {
            "text/plain": self.line,
            "image/png": b64encode(png(self.canvas.still(SAVED_SCALE))).decode(),
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self.model_id,
            },
        }
        return data, {"image/png": {"width": width, "height": height}}

    if hasattr(widgets.Widget, "_repr_mimebundle_"):  # ipywidgets 8

        def _repr_mimebundle_(self, **_options) -> tuple[dict, dict]:
            return self._saved()

    else:  # ipywidgets 7, which Colab brings

        def _ipython_display_(self, **_options) -> None:
            data, metadata = self._saved()
            display(data, metadata=metadata, raw=True)
