"""What a reader moves: sliders, choices, toggles.

A control is a description until a panel takes a copy of it, and has widgets only while the panel is shown.
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
"""Widths in em: of a slider, of its number box, and of the buttons of a choice before it becomes a list."""

MOST_STOPS, LARGEST = 100_000, 2**53
"""Beyond the first a reader cannot tell the stops of a slider apart, beyond the second a browser the whole numbers."""

Label = Text | str
NOTHING = object()


class Control:
    """What all controls share.

    `value` is what the picture is given. Setting it checks it, moves the widgets and redraws the panel once.
    """

    widget: widgets.Widget | None = None

    def __init__(self, value: Any, label: Label | None):
        if label is not None:
            check_label(type(self).__name__, label)
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
        """Take a value to which the reader has moved in a page that has drawn it already."""
        self._value = value

    def move(self, value: Any) -> None:
        """Take a value that is known to be good, tell the panel whether it is another, and show it in the widgets."""
        self._panel.check_movable()
        changed = not same_value(value, self._value)
        self._value = value
        try:
            self._panel.control_moved(changed)
        finally:  # after the picture, which is what the reader waits for, and also when it failed
            self.show()

    def bound_to(self, panel: Any) -> "Control":
        """A copy that belongs to a panel: it asks `panel.check_movable()` and tells `panel.moved(changed)`."""
        live = copy.copy(self)
        live._panel = panel
        return live

    def title(self, name: str) -> str:
        return name if self.label is None else str(self.label)

    def show(self) -> None:
        """Set the widgets, if there are any, to the value."""
        if self.widget is None:
            return
        self._listening = False  # to the widgets, which would answer with this same value
        try:
            self.update_widgets()
        finally:
            self._listening = True

    def _observe(self, widget: widgets.Widget, trait: str, read: Callable[[Any], Any]) -> None:
        """Move when the reader moves `widget`; `read` turns what it says into a value, or into NOTHING."""

        def moved(change: dict) -> None:
            if self._listening and (value := read(change["new"])) is not NOTHING:
                self.move(value)

        widget.observe(moved, trait)

    # What a kind of control says about itself:

    def validate(self, value: Any) -> Any:
        """The value, or TypeError or ValueError naming what was wanted and what came."""
        raise NotImplementedError

    def stops(self) -> tuple:
        """The values that `Panel.sweep` visits."""
        raise NotImplementedError

    @property
    def place(self) -> int:
        """The number of the value among all that there are; -1 for no choice."""
        return self.place_of(self.value)

    def place_of(self, value: Any) -> int:
        """The number of a value that it can have."""
        raise NotImplementedError

    def has(self, place: int) -> bool:
        """Whether there is a value with this number."""
        raise NotImplementedError

    def at(self, place: int) -> Any:
        """The value with this number, of those that there are."""
        raise NotImplementedError

    def spec(self, name: str) -> dict:
        """What the browser has to know of the control."""
        return {"kind": type(self).__name__.lower(), "name": name, "label": self.title(name), "at": self.place}

    def ends(self) -> tuple:
        """Those of them that it visits in pairs with other controls."""
        return self.stops()

    def build(self, title: str, label_width: float) -> None:
        """Make `widget`; its label is that many em wide."""
        raise NotImplementedError

    def update_widgets(self) -> None:
        """Set the widgets to the value."""
        raise NotImplementedError


class Slider(Control):
    """A slider with a number box. It stops at start, start + step, start + 2 step, … up to stop.

    All four ints: the picture is given ints, otherwise floats. With log=True it stops at start, start * step, …
    (start and step are then plain numbers too, not exponents: `Slider(1e-8, 1, 10, value=1e-5, log=True)`). An arrow
    key goes one stop on. A number typed into the box goes to the nearest stop; a value set from code must be one.

    Raises ValueError if the stops are none or too many, do not end at `stop`, or do not hold `value`; TypeError for no
    number.
    """

    def __init__(self, start, stop, step, *, value, label: Label | None = None, log: bool = False):
        if not isinstance(log, bool):
            raise TypeError(f"Slider wants True or False for log, got {short_repr(log)}")
        for name, number in {"start": start, "stop": stop, "step": step}.items():
            if not is_number(number) or not is_finite(number):
                raise TypeError(f"Slider wants a finite number for {name}, got {short_repr(number)}")
        if log and not (start > 0 and step > 1):
            raise ValueError(f"a logarithmic Slider wants start > 0 and step > 1, got start={start!r}, step={step!r}")
        if not log and not step > 0:
            raise ValueError(f"Slider wants step > 0, got {step!r}")
        if not start < stop:
            raise ValueError(f"Slider wants start < stop, got {start!r} and {stop!r}")
        self.whole = all(isinstance(n, Integral) for n in (start, stop, step))
        kind = int if self.whole else float
        self.log, self.start, self.step, self._stop = log, kind(start), kind(step), kind(stop)
        if max(abs(self.start), abs(self._stop), self.step) > LARGEST:
            raise ValueError(f"Slider wants numbers up to 2**53, got {start!r}, {stop!r}, {step!r}")
        self.last = self._count()
        super().__init__(value, label)

    def _count(self) -> int:
        """How many steps lead from start to stop."""
        steps = math.log(self._stop / self.start, self.step) if self.log else (self._stop - self.start) / self.step
        if not steps < MOST_STOPS:
            raise ValueError(
                f"Slider wants at most {MOST_STOPS} stops, got a step of {self.step!r}, too small for that"
            )
        last = round(steps)
        if not math.isclose(steps, last, rel_tol=1e-9, abs_tol=1e-6):
            raise ValueError(
                f"Slider wants a stop that steps of {self.step!r} from {self.start!r} reach, got {self._stop!r}"
            )
        if self.at(0) == self.at(1) or self.at(last - 1) == self.at(last):
            raise ValueError(f"Slider wants a step that tells its stops apart, got {self.step!r} at {self._stop!r}")
        return last

    def at(self, index: int) -> float:
        """The stop with this number, free of the dust of float arithmetic: 0.3, not 0.30000000000000004."""
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
        wanted = f"{'a whole number' if self.whole else 'a number'} from {low} to {high} in steps of " + (
            f"times {self.step}" if self.log else f"{self.step}"
        )
        if not is_number(value) or (self.whole and not isinstance(value, Integral)):
            raise TypeError(f"Slider wants {wanted}, got {short_repr(value)} ({type(value).__name__})")
        if not (low <= value <= high) or not math.isclose(near := self.nearest(value), value, rel_tol=1e-9):
            raise ValueError(f"Slider wants {wanted}, got {short_repr(value)}")
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
    """One of several values, each with a label: buttons side by side, or a list if they need much room.

    `Choice({Text(en="rows", zh="行"): 0, Text(en="columns", zh="列"): 1}, value=0)`. value=None, if None is not among
    the values, means that nothing is chosen yet.

    Raises TypeError for what is no dict with labels, ValueError for labels or values that are not told apart.
    """

    def __init__(self, options: dict[Label, Any], value: Any, label: Label | None = None):
        kind = type(self).__name__
        if not isinstance(options, dict):
            raise TypeError(f"{kind} wants a dict from labels to values, got {short_repr(options)}")
        if not options:
            raise ValueError(f"{kind} wants at least one option, got none")
        self.options = dict(options)
        for name in self.options:
            check_label(kind, name)
        for language in LANGUAGES:
            wordings = [getattr(name, language, name) for name in self.options]
            if twice := [wording for wording in wordings if wordings.count(wording) > 1]:
                raise ValueError(f"{kind} wants another label for each option, got {twice[0]!r} twice")
        for number, each in enumerate(self.options.values()):
            if self.index(each) != number:
                raise ValueError(f"{kind} wants another value for each option, got {short_repr(each)} twice")
        super().__init__(value, label)

    def index(self, value: Any) -> int | None:
        """The number of the option with this value; True is not 1 here."""
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
            wanted = ", ".join(map(short_repr, self.options.values()))
            raise ValueError(
                f"{type(self).__name__} wants one of {wanted}, or None for no choice, got {short_repr(value)}"
            )
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
            # The description of buttons would stand above them; a label of its own stands beside them.
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
    """Yes or no: a box to tick."""

    def __init__(self, value: bool, label: Label | None = None):
        super().__init__(value, label)

    def validate(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"Toggle wants True or False, got {short_repr(value)} ({type(value).__name__})")
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

    def build(self, title, label_width):  # noqa: ARG002  the text stands behind the box
        box = widgets.Checkbox(description=title, indent=False, layout=widgets.Layout(width="auto", margin="2px 0"))
        self._observe(box, "value", bool)
        self.widget = control_row([box])

    def update_widgets(self):
        self.box.value = self.value


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(number: Real) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that no float can hold
        return False


def same_value(one: Any, other: Any) -> bool:
    """Whether two values are one choice: 1 is not True, and an array, whose == says many things, is only itself."""
    if one is other:
        return True
    try:
        return type(one) is type(other) and bool(one == other)
    except (RuntimeError, TypeError, ValueError):
        return False


def check_label(kind: str, label: Any, what: str = "a label") -> None:
    if not isinstance(label, Text | str):
        raise TypeError(f"{kind} wants a Text or a str for {what}, got {short_repr(label)}")
    if isinstance(label, str) and not label.strip():
        raise ValueError(f"{kind} wants {what} that says something, got {label!r}")


def short_repr(value: Any) -> str:
    """A value in one short line, whatever its repr is."""
    try:
        shown = " ".join(repr(value).split())
    except Exception:
        return f"a {type(value).__name__} without a repr"
    return shown if len(shown) <= 80 else f"{shown[:79]}…"


def control_row(parts: list[widgets.Widget], width: float | None = None) -> widgets.HBox:
    """The widgets of one control in a row, so many em wide, or as wide as they are; narrower where the page is."""
    wide = "auto" if width is None else f"calc({width}em + 10px)"
    layout = widgets.Layout(width=wide, max_width="100%", margin="0 12px 0 0", align_items="center", overflow="visible")
    return widgets.HBox(parts, layout=layout)


def text_width(label: str) -> float:
    """The width of a label in em, a little generous: a Chinese character takes one, a Latin letter about half."""
    return round(sum(1.0 if east_asian_width(c) in "WF" else 0.56 for c in label) + 0.8, 1)
