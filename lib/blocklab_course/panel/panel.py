"""Controls above a picture, one line of text below it.

A picture is drawn only in answer to a message or to code that moves the panel: no threads, no timers, no waiting.
"""

import inspect
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import matplotlib
from IPython.display import display
from matplotlib.figure import Figure

from blocklab_course import i18n
from blocklab_course.i18n import Text
from blocklab_course.panel import backend, live_panels
from blocklab_course.panel.canvas import DPI, Canvas, png
from blocklab_course.panel.controls import Control, is_number, short_repr
from blocklab_course.panel.prediction import Prediction, notify
from blocklab_course.panel.view import VIEW, still_page, view_data

LIVE_SCALE, SAVED_SCALE = 1, 2
"""Pixels per CSS pixel, of a frame and of a saved picture. At 2 a frame is sharper on some screens, but the browser
takes 20 to 30 ms longer to decode it, more than all the rest of a move."""

SMALLEST, LARGEST = 0.1, 50
"""Inches: a picture has pixels, and a saved one of 10,000 x 10,000 is the most that anything shows."""

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


class Panel:
    """Controls, the picture that they move, and the line that says what is seen.

    `picture(figure)` builds its artists once and returns `update(**values) -> str`, which is called with the value of
    every control after each move and returns the line. What moves with a control is marked `animated=True`.

    An error inside `update` is shown in place of the line and raised; the next move draws as if nothing had been. All
    words of a panel are in the language in which it was made. A panel has widgets while a cell shows it: once that cell
    has run again, it gives them and its figure back, and makes them anew if it is shown or moved again.
    """

    def __init__(self, picture: Callable, size: tuple[float, float] = (10, 4), **controls: Control):
        if not callable(picture):
            raise TypeError(f"Panel wants a picture, a function that is given the figure, got {short_repr(picture)}")
        for name, control in controls.items():
            if not isinstance(control, Control):
                raise TypeError(f"Panel wants a Slider, Choice, Toggle or Guess for {name}, got {short_repr(control)}")
        self.size = check_size(size)
        taken = {name: control.bound_to(self) for name, control in controls.items()}
        self.controls = {name: control for name, control in taken.items() if not isinstance(control, Prediction)}
        self.prediction = the_only([control for control in taken.values() if isinstance(control, Prediction)])
        self._language, self._font = i18n.get_language(), matplotlib.rcParams["font.family"]
        self._picture: Callable | None = picture
        self._canvas: Canvas | None = None
        self._view: FallbackView | LiveView | None = None
        self._batching = self._is_drawing = False
        self._redraw()

    @property
    def name(self) -> str:
        """The module that draws the picture, without the package that it lies in."""
        picture = self._picture
        while hasattr(picture, "func"):
            picture = picture.func
        return picture.__module__.rpartition(".")[2]

    @property
    def line(self) -> str:
        """What the text under the picture says now."""
        if self._stale:
            with suppress(Exception):  # which the line tells
                self._redraw()
        return self._line

    @property
    def values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    @property
    def canvas(self) -> Canvas:
        """The figure, drawn as the controls stand."""
        if self._canvas is None or self._drawn_state != self.places:
            self._redraw()
        return self._canvas

    @property
    def view(self) -> "FallbackView | LiveView":
        """The widgets, made when they are first asked for."""
        if self._view is None:
            canvas = self.canvas
            with self._own_language():
                self._view = backend.make_view(self, canvas)
            if self._failed:
                self._view.fail(self._line)
        return self._view

    def move(self, **values: Any) -> None:
        """Set several controls and draw once. Raises like the controls, before any of them moves."""
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
        """Move every control back to where it began."""
        self.move(**{name: control.default for name, control in self.controls.items()})

    def sweep(self, pairs: bool = True) -> Iterator[tuple[dict[str, Any], str]]:
        """Visit minimum, default and maximum of every control, and every pair of extremes, and yield (values, line).

        A choice goes through all its options, a toggle through both. The panel is at these values when they are yielded
        and back at the defaults in the end. pairs=False: one control at a time.
        """
        for values in self.visits(pairs):
            self.move(**values)
            yield values, self.line
        self.reset()

    def visits(self, pairs: bool = True) -> list[dict[str, Any]]:
        """The values that `sweep` visits, the defaults first and none of them twice."""
        default = {name: control.default for name, control in self.controls.items()}
        found = [default]
        for name, control in self.controls.items():
            found += [{**default, name: value} for value in control.stops()]
        for (one, first), (other, second) in combinations(self.controls.items(), 2) if pairs else ():
            found += [{**default, one: a, other: b} for a, b in product(first.ends(), second.ends())]
        return list({repr(values): values for values in found}.values())

    def _validate(self, asked: str, values: dict[str, Any]) -> dict[str, Any]:
        if unknown := values.keys() - self.controls.keys():
            there = ", ".join(self.controls) or "none"
            raise TypeError(f"{asked} wants the names of controls ({there}), got {', '.join(sorted(unknown))}")
        return {name: self.controls[name].validate(value) for name, value in values.items()}

    def still(self, **values: Any) -> "Panel":
        """The picture as it stands at these values, the others as they are, in a panel that has nothing to move.

        Raises like the controls.
        """
        self.check_movable()
        picture, standing = self._picture, self.values | self._validate("still", values)

        def stood(figure: Figure) -> Callable[[], str]:
            update = picture(figure)
            return lambda: update(**standing)

        stood.func = picture  # as a partial has it
        return Panel(stood, self.size)

    def answer(self, choice: int) -> None:
        """Take the reader's guess: the number of an option, or SKIPPED. Only the first one counts."""
        if self.prediction is None or self.prediction.choice is not None or not self.prediction.is_valid_choice(choice):
            return
        self.prediction.choice = choice
        notify(self._picture, self.prediction, choice)
        if self._view is not None:
            self._view.show_answer(choice)

    # What a page that draws states itself says and asks. It names a value by its place among those that there are.

    @property
    def places(self) -> list[int]:
        return [control.place for control in self.controls.values()]

    def is_valid_state(self, places: Any) -> bool:
        """Whether this is a place for each control, and one that it has."""
        if not isinstance(places, list) or len(places) != len(self.controls):
            return False
        return all(
            type(place) is int and control.has(place)
            for control, place in zip(self.controls.values(), places, strict=True)
        )

    def values_at(self, places: list[int]) -> dict[str, Any]:
        return {name: control.at(place) for (name, control), place in zip(self.controls.items(), places, strict=True)}

    def sync(self, places: list[int]) -> None:
        """Note where the reader has moved the panel: what the page knows already is not drawn here."""
        if self._picture is not None:
            self._stale = self._stale or places != self.places
            for name, value in self.values_at(places).items():
                self.controls[name].set_silently(value)

    @contextmanager
    def at_state(self, places: list[int]) -> Iterator[tuple[Canvas, str]]:
        """The canvas and the line as if the controls stood there; they stay where they are.

        Raises what `update` raises.
        """
        self.check_movable()
        self._is_drawing = True
        try:
            with self._own_language():
                line = self._update_figure(self.values_at(places), places)
                yield self._canvas, line
        finally:
            self._is_drawing = False

    def release(self) -> None:
        """Give back widgets and figure; they are made anew when the panel is shown or moved again."""
        if self._view is not None:
            self._view.close()
        self._view = self._canvas = self._update = self._drawn_state = None

    def close(self) -> None:
        """Put the panel away for good."""
        self.release()
        live_panels.unregister(self)
        self._picture = None

    def check_movable(self) -> None:
        if self._picture is None:
            raise RuntimeError("this panel is closed; run the cell that makes it for a new one")
        if self._is_drawing:
            raise RuntimeError("update wants to leave the controls of its own panel where they are")

    @contextmanager
    def _own_language(self) -> Iterator[None]:
        """In the language and the font in which the panel was made, whatever was chosen since."""
        font = {"font.family": self._font}
        other = matplotlib.rcParams["font.family"] != self._font  # for changing it takes longer than most updates
        with i18n.use_language(self._language), matplotlib.rc_context(font) if other else nullcontext():
            yield

    def control_moved(self, changed: bool) -> None:
        """What a control tells: draw, unless others are about to move with it."""
        self._needs_redraw = self._needs_redraw or changed
        if self._needs_redraw and not self._batching:
            self._redraw()

    def _redraw(self) -> None:
        """Update the picture and draw it. An error takes the place of the line, and goes on to the caller.

        Until that has been done from end to end the picture is due, and any move does it, also one to the same place.
        """
        self.check_movable()
        self._needs_redraw = self._is_drawing = True
        self._stale = False
        with self._own_language():
            try:
                self._line, self._failed = self._update_figure(self.values, self.places), False
                if self._view is not None:
                    self._view.show(self._canvas, self._line)
                else:
                    backend.draw(self._canvas)
            except BaseException as error:  # an interrupt, too, leaves the picture where it was
                self._line, self._failed = self.error_line(error, self.values), True
                if self._view is not None:
                    self._view.fail(self._line)
                raise
            finally:
                self._is_drawing = False
        self._needs_redraw = False

    def _update_figure(self, values: dict[str, Any], places: list[int]) -> str:
        """Bring the figure to these values, and return the line."""
        self._drawn_state = None
        if self._canvas is None:
            canvas = Canvas(self.size, LIVE_SCALE)
            update = self._picture(canvas.figure)
            if not callable(update):
                raise TypeError(f"a picture wants to return its update function, got {short_repr(update)}")
            check_taken(self.controls, update)
            self._canvas, self._update = canvas, update
        line = self._update(**values)
        if not isinstance(line, str) or not line.strip():
            raise TypeError(
                f"update wants to return the line under the picture, a non-empty str, got {short_repr(line)}"
            )
        self._drawn_state = places
        return sendable(line)

    def error_line(self, error: BaseException, values: dict[str, Any]) -> str:
        """What the line says where the picture could not be drawn."""
        said = ", ".join(f"{name} = {short_repr(value)}" for name, value in values.items())
        with self._own_language():
            if isinstance(error, KeyboardInterrupt):
                return STOPPED.format(values=said)
            return sendable(FAILED.format(values=said, error=type(error).__name__, reason=reason(error)))

    # How it is shown, and what of it a saved notebook keeps

    def __repr__(self) -> str:
        if self._picture is None:
            with self._own_language():
                return str(CLOSED)
        return self.line

    def _repr_mimebundle_(self, **_options) -> tuple[dict, dict]:
        """One output for any front end: the widgets if it has them, else the picture, else the line."""
        if self._picture is None:
            return {"text/plain": repr(self)}, {}
        width, height = (round(side * DPI) for side in self.size)
        view = view_data(self.view.root)  # first: the canvas is ready, and after a still all is drawn anew
        saved = b64encode(png(self.canvas.still(SAVED_SCALE))).decode()
        data = {"text/plain": self.line, "image/png": saved, VIEW: view}
        return data, {"image/png": {"width": width, "height": height}}

    def _ipython_display_(self, **_options) -> None:
        for gone in live_panels.register(self) if self._picture is not None else ():
            gone.release()
        data, metadata = self._repr_mimebundle_()
        if VIEW in data and live_panels.in_jupyterlab():
            # Two outputs: what a saved notebook shows must not be in the widgets' own, see `view`.
            with self._own_language():
                page = still_page(data["image/png"], self.line, round(self.size[0] * DPI))
            display({"text/plain": self.line, "text/html": page}, raw=True)
            data, metadata = {VIEW: data[VIEW]}, {}
        display(data, metadata=metadata, raw=True)


def the_only(guesses: list[Prediction]) -> Prediction | None:
    if len(guesses) > 1:
        raise ValueError(f"Panel wants one Guess at most, got {len(guesses)}")
    return guesses[0] if guesses else None


def check_size(size: Any) -> tuple[float, float]:
    """Width and height in inches, or TypeError or ValueError naming what was wanted and what came."""
    if not isinstance(size, tuple | list) or len(size) != 2 or not all(map(is_number, size)):
        raise TypeError(f"Panel wants a size of two numbers, width and height in inches, got {short_repr(size)}")
    if not all(SMALLEST <= side <= LARGEST for side in size):
        raise ValueError(f"Panel wants sides from {SMALLEST} to {LARGEST} inches, got {short_repr(size)}")
    return float(size[0]), float(size[1])


def check_taken(controls: Iterable[str], update: Callable) -> None:
    """Raise TypeError for a control that `update` does not take, naming those that it does."""
    try:
        taken = inspect.signature(update).parameters
    except ValueError:  # some of Python's own functions do not say what they take
        return
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        return
    if unknown := [name for name in controls if name not in taken]:
        there = ", ".join(taken) or "none"
        raise TypeError(f"Panel wants the names of the picture's controls ({there}), got {', '.join(unknown)}")


def sendable(line: str) -> str:
    """The line, with a mark in place of what is half a letter and no message can hold."""
    return line.encode("utf-8", "replace").decode()


def reason(error: BaseException) -> str:
    """What an error says, also one that cannot say it."""
    try:
        return str(error)
    except Exception:
        return short_repr(error)
