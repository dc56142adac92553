"""The live view: the browser draws strokes that the kernel recorded, and requests states that it does not have."""

import os
import re
from pathlib import Path
from time import perf_counter
from typing import Any

import anywidget
import traitlets
from matplotlib.figure import Figure
from matplotlib.text import Text

from blocklab_course import i18n
from blocklab_course.panel import view
from blocklab_course.panel.canvas import DPI, Canvas
from blocklab_course.panel.drag import handles
from blocklab_course.panel.messages import WORDS

HERE = Path(__file__).parent
AHEAD = "BLOCKLAB_AHEAD"  # set to 0 in the environment to disable prefetching, for a shared server


def script() -> str:
    """Return the player as one script, for a widget or a page on disk.

    `panel.js` imports all other files, so that their own imports can go.
    """
    imported = re.compile(r'^import .* from "\./(\w+\.js)";\n', re.MULTILINE)
    main = (HERE / "panel.js").read_text("utf-8")
    return imported.sub(lambda found: imported.sub("", (HERE / found[1]).read_text("utf-8")), main)


class Live(anywidget.AnyWidget):
    """The widget: what the player needs to start, the state of the panel, and the reader's prediction."""

    _esm = script()
    _css = (HERE / "panel.css").read_text("utf-8")
    spec = traitlets.Dict().tag(sync=True)
    first = traitlets.Dict().tag(sync=True)
    at = traitlets.List(traitlets.Int()).tag(sync=True)
    guessed = traitlets.Union([traitlets.Int(), traitlets.Unicode()], default_value=None, allow_none=True).tag(
        sync=True
    )


class LiveView:
    """A panel in a page. Sends requested states, each record once, and keeps track of where the reader moves."""

    def __init__(self, panel: Any, canvas: Canvas):
        self._panel = panel
        self._sent: set[int] = set()
        self._setting = False
        first = {"kind": "state", "at": panel.places, "narrow": panel.is_narrow, **self._packet(canvas, panel.line)}
        self.root = Live(spec=spec(panel, canvas), first=first, at=panel.places, guessed=chosen_option(panel))
        self.root.observe(self._on_moved, "at")
        self.root.observe(lambda change: panel.answer(change["new"]), "guessed")
        self.root.on_msg(self._on_message)

    def show(self, canvas: Canvas, line: str) -> None:
        """Send the current state, after code has moved the panel."""
        self._push(self._packet(canvas, line))

    def fail(self, line: str) -> None:
        self._push({"line": line, "failed": True})

    def show_answer(self, choice: int) -> None:
        self.root.guessed = choice

    def close(self) -> None:
        view.close_all(self.root)

    def _push(self, packet: dict) -> None:
        places = self._panel.places
        narrow = self._panel.is_narrow
        self.root.send({"kind": "state", "at": places, "narrow": narrow, "took": 0, "ahead": False, **packet})
        self._setting = True  # setting `at` here is not a move by the reader
        try:
            self.root.at = places
        finally:
            self._setting = False

    def _on_moved(self, change: dict) -> None:
        if not self._setting and self._panel.is_valid_state(change["new"]):
            self._panel.sync(change["new"])

    def _on_message(self, _widget: anywidget.AnyWidget, message: Any, _buffers: list) -> None:
        """Answer a request for a state; ignore other messages and invalid states."""
        if message.get("kind") != "ask" or not self._panel.is_valid_state(message.get("at")):
            return
        began, places, ahead = perf_counter(), message["at"], bool(message.get("ahead"))
        self._panel.arrange(message.get("narrow") is True)
        answer = {"kind": "state", "at": places, "narrow": self._panel.is_narrow, "ahead": ahead}
        try:
            with self._panel.at_state(places) as (canvas, line):
                answer |= self._packet(canvas, line, whole=bool(message.get("whole")))
        except BaseException as error:
            answer |= {"line": self._panel.error_line(error, self._panel.values_at(places)), "failed": True}
            if not ahead or not isinstance(error, Exception):
                raise
        finally:
            self.root.send({**answer, "took": round(1000 * (perf_counter() - began), 1)})

    def _packet(self, canvas: Canvas, line: str, whole: bool = False) -> dict:
        """Return a state as it is sent: the drawing and the records that the page does not have yet."""
        drawing = canvas.strokes()
        touched = handles(canvas.moving_artists, self._panel.controls, canvas.figure.bbox.height)
        handled = canvas.records.number(("handles", touched))
        known = set() if whole else self._sent
        new = drawing.uses(canvas.records, known) | ({handled} - known)
        self._sent |= new
        if len(self._sent) > 2 * len(canvas.records):  # most are dropped, and numbers are not reused
            self._sent = {number for number in self._sent if number in canvas.records}
        records = {str(number): canvas.records[number] for number in sorted(new)}
        return {"line": line, "rest": drawing.rest, "moving": drawing.moving, "handles": handled, "new": records}


class LiveQuestion:
    """A question without a picture in a page."""

    def __init__(self, question: Any):
        prediction = question.prediction
        self.root = Live(**question.stored(), at=[], guessed=prediction.choice)
        self.root.observe(lambda change: question.answer(change["new"]), "guessed")

    def show_answer(self, choice: int | str) -> None:
        self.root.guessed = choice

    def close(self) -> None:
        view.close_all(self.root)


def chosen_option(panel: Any) -> int | None:
    return None if panel.prediction is None else panel.prediction.choice


def smallest_font(figure: Figure) -> float:
    """Return the smallest font size in a picture, in CSS pixels."""
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return min(sizes, default=10) * DPI / 72


def spec(panel: Any, canvas: Canvas) -> dict:
    """Describe a panel, apart from its states, for the player."""

    def pixels(size: tuple[float, float]) -> list[int]:
        return [round(side * DPI) for side in size]

    return {
        "size": pixels(panel.size),
        "narrow": panel.narrow and pixels(panel.narrow),
        "smallest": smallest_font(canvas.figure),
        "language": i18n.get_language(),
        "ahead": os.environ.get(AHEAD) != "0",
        "controls": [control.spec(name) for name, control in panel.controls.items()],
        "guess": None if panel.prediction is None else panel.prediction.spec(),
        "words": {name: str(text) for name, text in WORDS.items()},
    }
