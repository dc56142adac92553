"""Controls of a panel: sliders, choices and toggles.

A control only describes itself until a panel takes a copy, and has widgets only while the panel is shown.
"""

import copy
import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any
from unicodedata import east_asian_width

import ipywidgets as widgets

from blocklab_course.i18n import LANGUAGES, Text

SLIDER, BOX, MOST_BUTTONS = 14, 6, 46
"""Widths in em: a slider, its number box, and the buttons of a choice before it becomes a list."""

Label = Text | str
NOTHING = object()


class Control:
    """Base class of all controls.

    The picture receives `value`. Setting it validates it, moves the widgets and redraws the panel once.
    """

    widget: widgets.Widget | None = None

    def __init__(self, value: Any, label: Label | None):
        self.default = self._value = self.validate(value)
        self.label = label
        self._listening = True

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self.move(self.validate(value))

    def set_silently(self, value: Any) -> None:
        """Set a value that the page has already drawn, without redrawing."""
        self._value = value

    def move(self, value: Any) -> None:
        """Set a valid value, tell the panel whether it changed, and update the widgets."""
        self._panel.check_movable()
        changed = not same_value(value, self._value)
        self._value = value
        try:
            self._panel.control_moved(changed)
        finally:  # after the picture, which the reader waits for, and also if drawing failed
            self.show()

    def bound_to(self, panel: Any) -> "Control":
        """Return a copy that calls `check_movable()` and `control_moved(changed)` of this panel."""
        live = copy.copy(self)
        live._panel = panel
        return live

    def title(self, name: str) -> str:
        return name if self.label is None else str(self.label)

    def show(self) -> None:
        """Update the widgets, if there are any."""
        if self.widget is None:
            return
        self._listening = False  # updating a widget fires its observers
        try:
            self.update_widgets()
        finally:
            self._listening = True

    def _observe(self, widget: widgets.Widget, trait: str, read: Callable[[Any], Any]) -> None:
        """Move when the reader moves `widget`. `read` converts the trait to a value, or to NOTHING."""

        def moved(change: dict) -> None:
            if self._listening and (value := read(change["new"])) is not NOTHING:
                self.move(value)

        widget.observe(moved, trait)

    # Implemented by each kind of control:

    def validate(self, value: Any) -> Any:
        """Return the value, or raise a TypeError or ValueError."""
        raise NotImplementedError

    def stops(self) -> tuple:
        """Return the values that `Panel.sweep` visits."""
        raise NotImplementedError

    @property
    def place(self) -> int:
        """The index of the current value; -1 if nothing is chosen."""
        return self.place_of(self.value)

    def place_of(self, value: Any) -> int:
        """Return the index of a valid value."""
        raise NotImplementedError

    def has(self, place: int) -> bool:
        """Return whether a value has this index."""
        raise NotImplementedError

    def at(self, place: int) -> Any:
        """Return the value with this index."""
        raise NotImplementedError

    def spec(self, name: str) -> dict:
        """Describe the control for the browser."""
        return {"kind": type(self).__name__.lower(), "name": name, "label": self.title(name), "at": self.place}

    def ends(self) -> tuple:
        """Return the values that `Panel.sweep` visits in pairs with other controls."""
        return self.stops()

    def build(self, title: str, label_width: float) -> None:
        """Create `widget`, with a label `label_width` em wide."""
        raise NotImplementedError

    def update_widgets(self) -> None:
        """Copy the value to the widgets."""
        raise NotImplementedError


class Slider(Control):
    """A slider with a number box and the stops start, start + step, start + 2 step, … up to and including stop.

    If start, stop and step are ints, the picture receives ints, otherwise floats. With log=True the stops are start,
    start * step, … (start and step are plain numbers, not exponents: `Slider(1e-8, 1, 10, value=1e-5, log=True)`). An
    arrow key moves by one stop. A number typed into the box is rounded to the nearest stop; a value set from code must
    be a stop.

    Raises:
        ValueError: if the steps do not lead from start to stop, or `value` is not a stop.
        TypeError: if `value` is not a number.
    """

    def __init__(self, start, stop, step, *, value, label: Label | None = None, log: bool = False):
        if log and not (start > 0 and step > 1):
            raise ValueError(f"Slider: expected start > 0 and step > 1 with log=True, got {start!r} and {step!r}")
        if not step > 0:
            raise ValueError(f"Slider: expected step > 0, got {step!r}")
        if not start < stop:
            raise ValueError(f"Slider: expected start < stop, got {start!r} and {stop!r}")
        self.whole = all(isinstance(n, Integral) for n in (start, stop, step))
        kind = int if self.whole else float
        self.log, self.start, self.step = log, kind(start), kind(step)
        steps = math.log(stop / start, step) if log else (stop - start) / step
        self.last = round(steps)
        if not math.isclose(steps, self.last, rel_tol=1e-9, abs_tol=1e-6):
            raise ValueError(f"Slider: expected steps of {step!r} from {start!r} to end at stop, got {stop!r}")
        super().__init__(value, label)

    def at(self, index: int) -> float:
        """Return the stop with this index, without floating-point noise: 0.3, not 0.30000000000000004."""
        value = self.start * self.step**index if self.log else self.start + self.step * index
        return int(value) if self.whole else float(f"{value:.12g}")

    def nearest(self, number: float) -> float:
        low, high = self.at(0), self.at(self.last)
        return self.at(self.place_of(min(max(number, low), high)))

    def place_of(self, value):
        return round(math.log(value / self.start, self.step) if self.log else (value - self.start) / self.step)

    def has(self, place):
        return 0 <= place <= self.last

    def spec(self, name):
        span = {"start": self.start, "step": self.step, "last": self.last, "log": self.log, "whole": self.whole}
        return super().spec(name) | span

    def validate(self, value):
        low, high = self.at(0), self.at(self.last)
        number = "a whole number" if self.whole else "a number"
        expected = f"{number} from {low} to {high} in {'factors' if self.log else 'steps'} of {self.step}"
        if not is_number(value) or (self.whole and not isinstance(value, Integral)):
            raise TypeError(f"Slider: expected {expected}, got {short_repr(value)} ({type(value).__name__})")
        if not (low <= value <= high) or not math.isclose(near := self.nearest(value), value, rel_tol=1e-9):
            raise ValueError(f"Slider: expected {expected}, got {short_repr(value)}")
        return near

    def stops(self):
        return tuple(dict.fromkeys((self.at(0), self.default, self.at(self.last))))

    def ends(self):
        return self.at(0), self.at(self.last)

    @property
    def slider(self) -> widgets.Widget:
        return self.widget.children[0]

    @property
    def box(self) -> widgets.Widget:
        return self.widget.children[1]

    def build(self, title, label_width):
        low, high = self.at(0), self.at(self.last)
        layout = widgets.Layout(width=f"{label_width + SLIDER}em", min_width="0", flex="1 1 auto", margin="2px 0")
        shared = {"description": title, "readout": False, "layout": layout}
        if self.log:
            exponents = {"min": math.log10(low), "max": math.log10(high), "step": math.log10(self.step)}
            slider = widgets.FloatLogSlider(value=low, base=10, **exponents, **shared)
        else:
            kind = widgets.IntSlider if self.whole else widgets.FloatSlider
            slider = kind(value=low, min=low, max=high, step=self.step, **shared)
        slider.style.description_width = f"{label_width}em"
        kind = widgets.BoundedIntText if self.whole else widgets.BoundedFloatText
        step = None if self.log else self.step
        layout = widgets.Layout(width=f"{BOX}em", flex="0 0 auto", margin="2px 0 2px 6px")
        box = kind(value=low, min=low, max=high, step=step, layout=layout)
        self._observe(slider, "value", self.nearest)
        self._observe(box, "value", self.nearest)
        self.widget = control_row([slider, box], label_width + SLIDER + BOX)

    def update_widgets(self):
        self.slider.value = self.box.value = self.value


class Choice(Control):
    """One of several labelled values: a row of buttons, or a list if the buttons would be too wide.

    `Choice({Text(en="rows", zh="行"): 0, Text(en="columns", zh="列"): 1}, value=0)`. With value=None nothing is chosen
    at first, unless None is one of the values.

    Raises ValueError if two labels or two values are equal, or if `value` is not an option.
    """

    def __init__(self, options: dict[Label, Any], value: Any, label: Label | None = None):
        kind = type(self).__name__
        self.options = dict(options)
        for language in LANGUAGES:
            labels = [getattr(name, language, name) for name in self.options]
            if duplicates := [each for each in labels if labels.count(each) > 1]:
                raise ValueError(f"{kind}: expected different labels, got {duplicates[0]!r} twice")
        for number, each in enumerate(self.options.values()):
            if self.index(each) != number:
                raise ValueError(f"{kind}: expected different values, got {short_repr(each)} twice")
        super().__init__(value, label)

    def index(self, value: Any) -> int | None:
        """Return the index of the option with this value; True and 1 are different values."""
        return next((number for number, each in enumerate(self.options.values()) if same_value(each, value)), None)

    def place_of(self, value):
        index = self.index(value)
        return -1 if index is None else index

    def at(self, place):
        return None if place == -1 else tuple(self.options.values())[place]

    def has(self, place):
        return (-1 if self.index(self.default) is None else 0) <= place < len(self.options)

    def spec(self, name):
        return super().spec(name) | {"options": [str(label) for label in self.options]}

    def validate(self, value):
        if self.index(value) is None and value is not None:
            expected = ", ".join(map(short_repr, self.options.values()))
            raise ValueError(f"{type(self).__name__}: expected one of {expected} or None, got {short_repr(value)}")
        return value

    def stops(self):
        values = tuple(self.options.values())
        return values if self.index(self.default) is not None else (self.default, *values)

    @property
    def buttons(self) -> widgets.Widget:
        return self.widget.children[-1]

    def build(self, title, label_width):
        labels = [str(label) for label in self.options]
        if sum(map(text_width, labels)) + 2 * len(labels) <= MOST_BUTTONS:
            # ToggleButtons put their description above the buttons; a separate label goes beside them.
            aligned = widgets.Layout(
                width=f"{label_width}em", display="flex", justify_content="flex-end", margin="2px 4px 2px 0"
            )
            buttons = widgets.ToggleButtons(options=labels, index=None, layout=widgets.Layout(margin="0"))
            buttons.style.button_width = "auto"
            parts = [widgets.Label(title, layout=aligned), buttons]
            width = label_width + sum(map(text_width, labels)) + 2 * len(labels)
        else:
            width = label_width + max(map(text_width, labels)) + 3
            layout = widgets.Layout(width=f"{width}em", max_width="100%", margin="2px 0")
            buttons = widgets.Dropdown(options=labels, index=None, description=title, layout=layout)
            buttons.style.description_width = f"{label_width}em"
            parts = [buttons]
        values = tuple(self.options.values())
        self._observe(buttons, "index", lambda index: NOTHING if index is None else values[index])
        self.widget = control_row(parts, label_width + SLIDER + BOX if width < label_width + SLIDER + BOX else None)

    def update_widgets(self):
        self.buttons.index = self.index(self.value)


class Toggle(Control):
    """A checkbox."""

    def __init__(self, value: bool, label: Label | None = None):
        super().__init__(value, label)

    def validate(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"Toggle: expected True or False, got {short_repr(value)} ({type(value).__name__})")
        return value

    def stops(self):
        return False, True

    def place_of(self, value):
        return int(value)

    def at(self, place):
        return bool(place)

    def has(self, place):
        return place in (0, 1)

    @property
    def box(self) -> widgets.Widget:
        return self.widget.children[0]

    def build(self, title, label_width):  # noqa: ARG002  the label follows the box
        box = widgets.Checkbox(description=title, indent=False, layout=widgets.Layout(width="auto", margin="2px 0"))
        self._observe(box, "value", bool)
        self.widget = control_row([box])

    def update_widgets(self):
        self.box.value = self.value


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def same_value(one: Any, other: Any) -> bool:
    """Return whether two values are the same choice: 1 is not True, and an array equals only itself."""
    if one is other:
        return True
    try:
        return type(one) is type(other) and bool(one == other)
    except (RuntimeError, TypeError, ValueError):
        return False


def short_repr(value: Any) -> str:
    """Return the repr on one line of at most 80 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def control_row(parts: list[widgets.Widget], width: float | None = None) -> widgets.HBox:
    """Put the widgets of one control in a row, `width` em wide or as wide as they need, but no wider than the page."""
    wide = "auto" if width is None else f"calc({width}em + 10px)"
    layout = widgets.Layout(width=wide, max_width="100%", margin="0 12px 0 0", align_items="center", overflow="visible")
    return widgets.HBox(parts, layout=layout)


def text_width(label: str) -> float:
    """Estimate the width of a label in em: one for a Chinese character, about half for a Latin letter."""
    return round(sum(1.0 if east_asian_width(c) in "WF" else 0.56 for c in label) + 0.8, 1)
