"""A panel: controls above a picture, one line of text below it.

The kernel draws only in response to a message from the page or to code that moves the panel: no threads, no timers.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import matplotlib
from IPython.display import display
from matplotlib.figure import Figure

from blocklab_course import i18n
from blocklab_course.i18n import Text
from blocklab_course.panel import backend, live_panels
from blocklab_course.panel.canvas import DPI, Canvas, png
from blocklab_course.panel.controls import Control, Slider, short_repr
from blocklab_course.panel.prediction import Prediction
from blocklab_course.panel.view import VIEW, ghost, guess_in_words, still_page, view_data

LIVE_SCALE, SAVED_SCALE = 1, 2
"""Pixels per CSS pixel of a frame and of a saved picture. Frames at scale 2 would be sharper on some screens, but the
browser takes 20 to 30 ms longer to decode one, more than everything else in a move."""

FAILED = Text(
    en="The picture could not be drawn for {values}. {error}: {reason}",
    zh="在 {values} 时无法画出图像。{error}：{reason}",
)
STOPPED = Text(
    en="Interrupted before the picture was drawn for {values}. The next move draws it.",
    zh="{values} 的图还没有画完就中断了。再移动一次，就会重新画。",
)
CLOSED = Text(
    en="This panel is closed. Run the cell that makes it, and there is a new one.",
    zh="这个面板已经关闭。运行创建它的单元格，就会得到一个新的面板。",
)


if TYPE_CHECKING:
    from blocklab_course.panel.fallback_view import FallbackView
    from blocklab_course.panel.live_view import LiveView


@dataclass
class _Drawing:
    """The picture in one arrangement."""

    canvas: Canvas
    update: Callable[..., str]
    state: list[int] | None = None  # what the figure shows; None before the first update and after a failed one


class Panel:
    """Controls, the picture that they change, and a line of text that describes it.

    `picture(figure)` creates its artists once and returns `update(**values) -> str`. After each move the panel calls
    `update` with the value of every control; it returns the line. Create artists that change with `animated=True`.

    A panel with a size for `narrow` pages calls `picture` once more, with a figure of that size, if a page on a phone
    asks for it; `narrow.is_narrow` tells `picture` which of the two it draws.

    If `update` raises, the panel shows the error in place of the line and raises it; the next move draws as usual. A
    panel keeps the language in which it was created. It has widgets only while a cell shows it: when that cell runs
    again, the panel releases its widgets and figure, and recreates them if it is shown or moved again.
    """

    def __init__(
        self,
        picture: Callable,
        size: tuple[float, float] = (10, 4),
        narrow: tuple[float, float] | None = None,
        **controls: Control,
    ):
        for name, control in controls.items():
            if not isinstance(control, Control):
                raise TypeError(f"Panel: expected {name} to be a control, got {short_repr(control)}")
        self.size, self.narrow = size, narrow
        self.is_narrow = False
        bound = {name: control.bound_to(self) for name, control in controls.items()}
        self.controls = {name: control for name, control in bound.items() if not isinstance(control, Prediction)}
        predictions = [control for control in bound.values() if isinstance(control, Prediction)]
        if len(predictions) > 1:
            raise ValueError(f"Panel: expected at most one Prediction, got {len(predictions)}")
        self.prediction = predictions[0] if predictions else None
        self._language, self._font = i18n.get_language(), matplotlib.rcParams["font.family"]
        self._picture: Callable | None = picture
        self._drawings: dict[bool, _Drawing] = {}  # by `is_narrow`
        self._view: FallbackView | LiveView | None = None
        self._batching = self._is_drawing = False
        self._redraw()

    @property
    def name(self) -> str:
        """The name of the picture's module, without its package."""
        picture = self._picture
        while hasattr(picture, "func"):
            picture = picture.func
        return picture.__module__.rpartition(".")[2]

    @property
    def line(self) -> str:
        """The text under the picture."""
        if self._stale:
            with suppress(Exception):  # the line then shows the error
                self._redraw()
        return self._line

    @property
    def values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    @property
    def canvas(self) -> Canvas:
        """The figure, drawn with the current values."""
        if self.is_narrow not in self._drawings or self._drawing.state != self.places:
            self._redraw()
        return self._drawing.canvas

    @property
    def _drawing(self) -> "_Drawing":
        return self._drawings[self.is_narrow]

    def arrange(self, narrow: bool) -> None:
        """Draw for a narrow page from now on, or for a wide one; a panel with one arrangement draws that one."""
        self.is_narrow = narrow and self.narrow is not None

    @property
    def view(self) -> "FallbackView | LiveView":
        """The widgets, created on first use."""
        if self._view is None:
            canvas = self.canvas
            with self._own_language():
                self._view = backend.make_view(self, canvas)
            if self._failed:
                self._view.fail(self._line)
        return self._view

    def move(self, **values: Any) -> None:
        """Set several controls and redraw once. If a value is invalid, raise before any control moves."""
        self.check_movable()
        checked = self._validate("move", values)
        self._batching = True
        try:
            for name, value in checked.items():
                self.controls[name].move(value)
        finally:
            self._batching = False
        if self._needs_redraw:
            self._redraw()

    def reset(self) -> None:
        """Move every control back to its default."""
        self.move(**{name: control.default for name, control in self.controls.items()})

    def sweep(self, pairs: bool = True) -> Iterator[tuple[dict[str, Any], str]]:
        """Visit the minimum, default and maximum of every control and every pair of extremes; yield (values, line).

        A choice visits all its options, a toggle both values. The panel is at the yielded values, and back at the
        defaults in the end. With pairs=False only one control moves at a time.
        """
        for values in self.visits(pairs):
            self.move(**values)
            yield values, self.line
        self.reset()

    def visits(self, pairs: bool = True) -> list[dict[str, Any]]:
        """Return the values that `sweep` visits: the defaults first, no values twice."""
        default = {name: control.default for name, control in self.controls.items()}
        found = [default]
        for name, control in self.controls.items():
            found += [{**default, name: value} for value in control.stops()]
        for (one, first), (other, second) in combinations(self.controls.items(), 2) if pairs else ():
            found += [{**default, one: a, other: b} for a, b in product(first.ends(), second.ends())]
        return list({repr(values): values for values in found}.values())

    def _validate(self, method: str, values: dict[str, Any]) -> dict[str, Any]:
        if unknown := values.keys() - self.controls.keys():
            names = ", ".join(self.controls) or "none"
            raise TypeError(f"{method}: expected names of controls ({names}), got {', '.join(sorted(unknown))}")
        return {name: self.controls[name].validate(value) for name, value in values.items()}

    def still(self, **values: Any) -> "Panel":
        """Return a panel without controls that shows the picture at these values, other controls as they are.

        Raises as the controls do.
        """
        self.check_movable()
        picture, fixed = self._picture, self.values | self._validate("still", values)

        def still_picture(figure: Figure) -> Callable[[], str]:
            update = picture(figure)
            return lambda: update(**fixed)

        still_picture.func = picture  # like functools.partial, see `name`
        return Panel(still_picture, self.size, self.narrow)

    def answer(self, choice: int) -> None:
        """Record the reader's prediction: the index of an option, or SKIPPED. Only the first one counts."""
        module = getattr(self._picture, "__module__", None) or ""
        if self.prediction is not None and self.prediction.accept(choice, module) and self._view is not None:
            self._view.show_answer(choice)

    # For a page that draws states itself: a state is a list with the index of each control's value.

    @property
    def places(self) -> list[int]:
        return [control.place for control in self.controls.values()]

    def is_valid_state(self, places: Any) -> bool:
        """Return whether this is a list with a valid index for each control."""
        if not isinstance(places, list) or len(places) != len(self.controls):
            return False
        return all(
            type(place) is int and control.has(place)
            for control, place in zip(self.controls.values(), places, strict=True)
        )

    def values_at(self, places: list[int]) -> dict[str, Any]:
        return {name: control.at(place) for (name, control), place in zip(self.controls.items(), places, strict=True)}

    def sync(self, places: list[int]) -> None:
        """Set the controls to the state that the page shows, without redrawing."""
        if self._picture is not None:
            self._stale = self._stale or places != self.places
            for name, value in self.values_at(places).items():
                self.controls[name].set_silently(value)

    @contextmanager
    def at_state(self, places: list[int]) -> Iterator[tuple[Canvas, str]]:
        """Draw another state, without moving the controls, and yield the canvas and the line.

        Raises what `update` raises.
        """
        self.check_movable()
        self._is_drawing = True
        try:
            with self._own_language():
                line = self._update_figure(self.values_at(places), places)
                yield self._drawing.canvas, line
        finally:
            self._is_drawing = False

    def release(self) -> None:
        """Close the widgets and drop the figure. Showing or moving the panel recreates them."""
        if self._view is not None:
            self._view.close()
        self._view, self._drawings, self.is_narrow = None, {}, False

    def close(self) -> None:
        """Release the panel for good."""
        self.release()
        live_panels.unregister(self)
        self._picture = None

    def check_movable(self) -> None:
        if self._picture is None:
            raise RuntimeError("this panel is closed; run its cell again for a new one")
        if self._is_drawing:
            raise RuntimeError("update must not move the controls of its own panel")

    @contextmanager
    def _own_language(self) -> Iterator[None]:
        """Use the language and the font with which the panel was created."""
        font = {"font.family": self._font}
        other = matplotlib.rcParams["font.family"] != self._font  # setting it takes longer than most updates
        with i18n.use_language(self._language), matplotlib.rc_context(font) if other else nullcontext():
            yield

    def control_moved(self, changed: bool) -> None:
        """Redraw after a control has moved, unless others are about to move too."""
        self._needs_redraw = self._needs_redraw or changed
        if self._needs_redraw and not self._batching:
            self._redraw()

    def _redraw(self) -> None:
        """Update and draw the picture. On an error, show it in place of the line and raise it.

        Until a redraw has succeeded, every move redraws, even one to the same values.
        """
        self.check_movable()
        self._needs_redraw = self._is_drawing = True
        self._stale = False
        with self._own_language():
            try:
                self._line, self._failed = self._update_figure(self.values, self.places), False
                if self._view is not None:
                    self._view.show(self._drawing.canvas, self._line)
                else:
                    backend.draw(self._drawing.canvas)
            except BaseException as error:  # an interrupt, too, needs a redraw later
                self._line, self._failed = self.error_line(error, self.values), True
                if self._view is not None:
                    self._view.fail(self._line)
                raise
            finally:
                self._is_drawing = False
        self._needs_redraw = False

    def _update_figure(self, values: dict[str, Any], places: list[int]) -> str:
        """Update the figure to these values and return the line."""
        if self.is_narrow not in self._drawings:
            self._drawings[self.is_narrow] = self._start_drawing()
        drawing = self._drawing
        drawing.state = None
        line = drawing.update(**values)
        if not isinstance(line, str) or not line.strip():
            raise TypeError(f"Panel: expected update to return a non-empty str, got {short_repr(line)}")
        drawing.state = places
        return line

    def _start_drawing(self) -> "_Drawing":
        # Both arrangements share their records, so that a page can hold states of both.
        records = self._drawings[not self.is_narrow].canvas.records if self._drawings else None
        canvas = Canvas(self.narrow if self.is_narrow else self.size, LIVE_SCALE, records)
        update = self._picture(canvas.figure)
        if not callable(update):
            raise TypeError(f"Panel: expected picture to return its update function, got {short_repr(update)}")
        return _Drawing(canvas, update)

    def error_line(self, error: BaseException, values: dict[str, Any]) -> str:
        """Return the line to show if the picture could not be drawn."""
        text = ", ".join(f"{name} = {short_repr(value)}" for name, value in values.items())
        with self._own_language():
            if isinstance(error, KeyboardInterrupt):
                return STOPPED.format(values=text)
            return FAILED.format(values=text, error=type(error).__name__, reason=error)

    # Display, and what a saved notebook keeps

    def __repr__(self) -> str:
        if self._picture is None:
            with self._own_language():
                return str(CLOSED)
        return self.line

    def _repr_mimebundle_(self, **_options) -> tuple[dict, dict]:
        """Return one output for every front end: widgets if it supports them, else the picture, else the line."""
        if self._picture is None:
            return {"text/plain": repr(self)}, {}
        width, height = (round(side * DPI) for side in self.size)
        view = view_data(self.view.root)  # before `still`, which invalidates the canvas
        wide = self.still().canvas if self.is_narrow else self.canvas
        saved = b64encode(png(wide.still(SAVED_SCALE))).decode()
        data = {"text/plain": self.line, "image/png": saved, VIEW: view}
        above, below = self._around_still()
        return data, {"image/png": {"width": width, "height": height}, "blocklab": {"above": above, "below": below}}

    def _around_still(self) -> tuple[str, str]:
        """Return what a still picture has above and below it: the guess, and how to begin. A panel that cannot move
        has neither."""
        if not self.controls:
            return "", ""
        with self._own_language():
            guess = self.prediction
            above = (
                ""
                if guess is None
                else guess_in_words(str(guess.question or guess.title("guess")), map(str, guess.options))
            )
            sliders = (control.title(name) for name, control in self.controls.items() if isinstance(control, Slider))
            return above, ghost(next(sliders, None), guess is not None)

    def _ipython_display_(self, **_options) -> None:
        for gone in live_panels.register(self) if self._picture is not None else ():
            gone.release()
        data, metadata = self._repr_mimebundle_()
        if VIEW in data and live_panels.in_jupyterlab():
            # Two outputs: the saved picture must not be in the output of the widgets, see `view`.
            with self._own_language():
                page = still_page(data["image/png"], self.line, round(self.size[0] * DPI), **metadata["blocklab"])
            display({"text/plain": self.line, "text/html": page}, raw=True)
            data, metadata = {VIEW: data[VIEW]}, {}
        display(data, metadata=metadata, raw=True)
