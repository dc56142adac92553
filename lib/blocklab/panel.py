"""A panel: controls above a picture, one line of text below it. The only file that knows ipywidgets.

Everything happens inside the observer of the control that moved: no threads, no timers, no waiting. The front end sends
one message at a time and merges the moves that come meanwhile.
"""

import copy
import math
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from itertools import combinations, product
from numbers import Integral, Real
from typing import Any
from unicodedata import east_asian_width

import ipywidgets as widgets
from IPython.display import display

from blocklab.canvas import DPI, Canvas, jpeg, png
from blocklab.language import Text

LIVE_SCALE, LIVE_QUALITY = 2, 85
"""Pixels per CSS pixel of a frame, and its JPEG quality, as `tests/bench/panel.py` measured them."""

SAVED_SCALE = 2

RESET = Text(en="Reset", zh="重置")
FAILED = Text(
    en="The picture could not be drawn for {values}. {error}: {reason}",
    zh="在 {values} 时无法画出图像。{error}：{reason}",
)

Label = Text | str


class Control:
    """What all controls share. Each is a description until a panel shows a copy of it, in the language of that moment.

    `value` is what the picture is given. Setting it checks it, moves the widgets and redraws the panel once.
    """

    widget: widgets.Widget

    def __init__(self, value: Any, label: Label | None):
        self.default = self._value = self.checked(value)
        self.label = label

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self.move(self.checked(value))

    def move(self, value: Any) -> None:
        """Take a value that is known to be good, show it in the widgets, and tell the panel if it is another one."""
        changed = value != self._value or type(value) is not type(self._value)
        self._value = value
        self._showing = True
        try:
            self.show(value)
        finally:
            self._showing = False
        if changed:
            self._report()

    def shown(self, name: str, report: Callable[[], None], label_width: float) -> "Control":
        """A copy with widgets, which calls `report` whenever its value changes."""
        live = copy.copy(self)
        live.name, live._report, live._showing = name, report, False
        live.build(live.title(name), f"{label_width:.1f}em")
        live.move(live._value)
        return live

    def title(self, name: str) -> str:
        return name if self.label is None else str(self.label)

    def follow(self, widget: widgets.Widget, trait: str, read: Callable[[Any], Any]) -> None:
        """Move when the reader moves `widget`; `read` turns what it says into a value, or NOTHING if it says nothing."""

        def moved(change: dict) -> None:
            if not self._showing and (value := read(change["new"])) is not NOTHING:
                self.move(value)

        widget.observe(moved, trait)

    # What a kind of control says about itself:

    def checked(self, value: Any) -> Any:
        """The value, or TypeError or ValueError naming what was wanted and what came."""
        raise NotImplementedError

    def stops(self) -> tuple:
        """The values that `Panel.sweep` visits."""
        raise NotImplementedError

    def ends(self) -> tuple:
        """Those of them that it visits in pairs with other controls."""
        return self.stops()

    def build(self, title: str, label_width: str) -> None:
        """Make `widget`."""
        raise NotImplementedError

    def show(self, value: Any) -> None:
        """Set the widgets to a value."""
        raise NotImplementedError


NOTHING = object()


class Slider(Control):
    """A slider with a number box. It stops at start, start + step, start + 2 step, … up to stop.

    All four ints: the picture is given ints, otherwise floats. With log=True it stops at start, start * step, … (start
    and step are then plain numbers too, not exponents: `Slider(1e-8, 1, 10, 1e-5, log=True)`). An arrow key goes one
    stop on. A number typed into the box goes to the nearest stop; a value set from code must be one.

    Raises ValueError if the stops are none, do not end at `stop`, or do not hold `value`; TypeError for no number.
    """

    def __init__(self, start, stop, step, value, label: Label | None = None, log: bool = False):
        for name, number in {"start": start, "stop": stop, "step": step}.items():
            if not is_number(number) or not math.isfinite(number):
                raise TypeError(f"Slider wants a finite number for {name}, got {number!r}")
        if log and not (start > 0 and step > 1):
            raise ValueError(f"a logarithmic Slider wants start > 0 and step > 1, got start={start!r}, step={step!r}")
        if not log and not step > 0:
            raise ValueError(f"Slider wants step > 0, got {step!r}")
        if not start < stop:
            raise ValueError(f"Slider wants start < stop, got {start!r} and {stop!r}")
        self.log, self.start, self.step = log, start, step
        self.whole = all(isinstance(n, Integral) for n in (start, stop, step))
        steps = math.log(stop / start, step) if log else (stop - start) / step
        self.last = round(steps)
        if not math.isclose(steps, self.last, rel_tol=1e-9, abs_tol=1e-6):
            raise ValueError(f"Slider wants a stop that steps of {step!r} from {start!r} reach, got {stop!r}")
        super().__init__(value, label)

    def at(self, index: int) -> float:
        """The stop with this number, free of the dust of float arithmetic: 0.3, not 0.30000000000000004."""
        value = self.start * self.step**index if self.log else self.start + self.step * index
        return int(value) if self.whole else float(f"{value:.12g}")

    def nearest(self, number: float) -> float:
        low, high = self.at(0), self.at(self.last)
        number = min(max(number, low), high)
        place = math.log(number / self.start, self.step) if self.log else (number - self.start) / self.step
        return self.at(round(place))

    def checked(self, value):
        low, high = self.at(0), self.at(self.last)
        wanted = f"{'a whole number' if self.whole else 'a number'} from {low} to {high} in steps of " + (
            f"times {self.step}" if self.log else f"{self.step}"
        )
        if not is_number(value) or (self.whole and not isinstance(value, Integral)):
            raise TypeError(f"Slider wants {wanted}, got {value!r} ({type(value).__name__})")
        if not (low <= value <= high) or not math.isclose(near := self.nearest(value), value, rel_tol=1e-9):
            raise ValueError(f"Slider wants {wanted}, got {value!r}")
        return near

    def stops(self):
        return tuple(dict.fromkeys((self.at(0), self.default, self.at(self.last))))

    def ends(self):
        return self.at(0), self.at(self.last)

    def build(self, title, label_width):
        low, high = self.at(0), self.at(self.last)
        layout = widgets.Layout(width=f"calc({label_width} + 17em)", min_width="0", flex="1 1 auto", margin="2px 0")
        shared = {"description": title, "readout": False, "layout": layout, "continuous_update": True}
        if self.log:
            exponents = {"min": math.log10(low), "max": math.log10(high), "step": math.log10(self.step)}
            self.slider = widgets.FloatLogSlider(value=low, base=10, **exponents, **shared)
        else:
            kind = widgets.IntSlider if self.whole else widgets.FloatSlider
            self.slider = kind(value=low, min=low, max=high, step=self.step, **shared)
        self.slider.style.description_width = label_width
        kind = widgets.BoundedIntText if self.whole else widgets.BoundedFloatText
        free = {"step": None} if self.log else {"step": self.step}
        self.box = kind(value=low, min=low, max=high, **free, layout=widgets.Layout(width="7em", margin="2px 0 2px 6px"))
        self.follow(self.slider, "value", self.nearest)
        self.follow(self.box, "value", self.nearest)
        self.widget = widgets.HBox([self.slider, self.box], layout=row_layout())

    def show(self, value):
        self.slider.value = self.box.value = value


class Choice(Control):
    """One of several values, each with a label: buttons side by side, or a list if they need much room.

    `Choice({Text(en="rows", zh="行"): 0, Text(en="columns", zh="列"): 1}, value=0)`. value=None, if None is not among
    the values, means that nothing is chosen yet, as before a prediction.
    """

    def __init__(self, options: dict[Label, Any], value: Any, label: Label | None = None):
        if not options:
            raise ValueError("Choice wants at least one option, got none")
        self.options = dict(options)
        super().__init__(value, label)

    def index(self, value: Any) -> int | None:
        """The number of the option with this value; True is not 1 here."""
        same = (i for i, v in enumerate(self.options.values()) if v is value or (type(v) is type(value) and v == value))
        return next(same, None)

    def checked(self, value):
        if self.index(value) is None and value is not None:
            wanted = ", ".join(map(repr, self.options.values()))
            raise ValueError(f"Choice wants one of {wanted}, or None for no choice, got {value!r}")
        return value

    def stops(self):
        values = tuple(self.options.values())
        return values if self.index(self.default) is not None else (self.default, *values)

    def build(self, title, label_width):
        labels = [str(label) for label in self.options]
        kind = widgets.ToggleButtons if sum(map(width_of, labels)) + 2 * len(labels) <= 46 else widgets.Dropdown
        self.buttons = kind(options=labels, index=None, description=title, layout=widgets.Layout(margin="2px 0"))
        self.buttons.style.description_width = label_width
        if kind is widgets.ToggleButtons:
            self.buttons.style.button_width = "auto"
        values = tuple(self.options.values())
        self.follow(self.buttons, "index", lambda index: NOTHING if index is None else values[index])
        self.widget = widgets.HBox([self.buttons], layout=row_layout())

    def show(self, value):
        self.buttons.index = self.index(value)


class Toggle(Control):
    """Yes or no: a box to tick."""

    def __init__(self, value: bool, label: Label | None = None):
        super().__init__(value, label)

    def checked(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"Toggle wants True or False, got {value!r} ({type(value).__name__})")
        return value

    def stops(self):
        return False, True

    def build(self, title, label_width):  # noqa: ARG002  the text stands behind the box
        self.box = widgets.Checkbox(description=title, indent=False, layout=widgets.Layout(width="auto", margin="2px 0"))
        self.follow(self.box, "value", bool)
        self.widget = widgets.HBox([self.box], layout=row_layout())

    def show(self, value):
        self.box.value = value


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
        self._line = widgets.HTML()
        width = f"{size[0] * DPI:g}px"
        self.image = widgets.Image(
            value=self._frame(),
            format="jpeg",
            # Without a height of its own the image keeps its shape when a narrow page makes it smaller.
            layout=widgets.Layout(width=width, max_width="100%", height="auto", object_fit="contain"),
        )
        reset = widgets.Button(description=str(RESET), icon="undo", layout=widgets.Layout(width="auto", margin="2px 0"))
        reset.on_click(lambda _button: self.reset())
        bar = widgets.HBox(
            [*(c.widget for c in self.controls.values()), *([reset] if controls else [])],
            layout=widgets.Layout(flex_flow="row wrap", max_width="100%", width=width, align_items="center"),
        )
        # The page around may be dark; the picture is not.
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
        self.image.value = self._frame()

    def _frame(self) -> bytes:
        """Update the picture and the line, and draw. An error takes the place of the line, and goes on."""
        try:
            line = self._update(**self.values)
            if not isinstance(line, str) or not line.strip():
                raise TypeError(f"update wants to return the line under the picture, a non-empty str, got {line!r}")
            frame = jpeg(self.canvas.frame(), LIVE_QUALITY)
        except Exception as error:
            values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
            line = FAILED.format(values=values, error=type(error).__name__, reason=error)
            self._say(line, "color: var(--jp-error-color1, #b00020)")
            raise
        self._say(line, "")
        return frame

    def _say(self, line: str, style: str) -> None:
        self._text = line
        # "status" makes a screen reader read the line when it changes.
        self._line.value = f'<div role="status" style="line-height: 1.4; {style}">{escape(line)}</div>'

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


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def row_layout() -> widgets.Layout:
    return widgets.Layout(margin="0 24px 0 0", max_width="100%", align_items="center")


def width_of(label: str) -> float:
    """The width of a label in em, a little generous: a Chinese character takes one, a Latin letter about half."""
    return sum(1.0 if east_asian_width(c) in "WF" else 0.56 for c in label) + 0.8
