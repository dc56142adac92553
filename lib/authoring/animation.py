"""Turn one or more states of a panel into an SVG, for a README or a page without JavaScript. Several are animated.

Each frame consists of the strokes that the panel shows. What several frames share is stored and drawn once; CSS shows
and hides the rest. The picture follows the reader's light or dark theme. For readers who asked for reduced motion it
stands still on its last frame.
"""

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import zip_longest

from blocklab_course.panel import Panel

from .site.svg import Sheet

SECONDS = 0.7  # per frame
HOLD = 4  # frames for which the last one stays

_COLOUR = re.compile(r"(--bl-[\w-]+): light-dark\((#\w+), (#\w+)\)")


def animate(panel: Panel, frames: Sequence[dict[str, object]], title: str, letters: bool = True) -> str:
    """Return an SVG of the panel's picture in each state of `frames`, which are values of its controls.

    title: what the picture shows, for screen readers. letters: without them a small picture is calmer.

    Raises ValueError if the static part of the picture differs between two frames.
    """
    drawings = []
    for values in frames:
        panel.move(**values)
        drawings.append(panel.canvas.strokes())
    if len({drawing.rest for drawing in drawings}) > 1:
        raise ValueError(f"animate: expected the static part of {panel.name} to be the same in all frames")
    canvas = panel.canvas
    width, height = (round(side) for side in canvas.figure.bbox.size)
    film = _Film(Sheet(canvas.records, 10 * height, "c"), len(frames), letters)
    slots = iter(zip(*(drawing.moving for drawing in drawings), strict=True))
    shown = "".join(
        film.stroke(stroke, range(len(frames))) if stroke else film.slot(next(slots))
        for stroke in canvas.records[drawings[0].rest][1]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {10 * width} {10 * height}" role="img"><title>{escape(title)}</title>'
        f"<style>{_palette()}{film.css()}</style><defs>{film.definitions()}</defs>{shown}</svg>\n"
    )


class _Film:
    """Collects the strokes, each defined once, and the sets of frames in which they are visible."""

    def __init__(self, sheet: Sheet, count: int, letters: bool):
        self._sheet, self._count, self._letters = sheet, count, letters
        self._elements: dict[int, str] = {}
        self._classes: dict[tuple[int, ...], str] = {}

    def slot(self, moving: Sequence[list[int]]) -> str:
        """Draw what a moving artist shows in each frame."""
        layers = zip_longest(*moving, fillvalue=0)
        return "".join(self._layer(layer) for layer in layers)

    def _layer(self, strokes: Sequence[int]) -> str:
        different = dict.fromkeys(filter(None, strokes))
        return "".join(self.stroke(n, [i for i, each in enumerate(strokes) if each == n]) for n in different)

    def stroke(self, number: int, visible: Sequence[int]) -> str:
        """Draw a stroke in the frames in which it is visible."""
        if not self._letters and self._sheet.is_text(number):
            return ""
        if number not in self._elements:
            self._elements[number] = f'<g id="s{number}">{self._sheet.element(number)}</g>'
        if len(visible) == self._count:
            return f'<use href="#s{number}"/>'
        name = self._classes.setdefault(tuple(visible), f"v{len(self._classes)}")
        return f'<use href="#s{number}" class="{name}"/>'

    def definitions(self) -> str:
        elements = "".join(self._elements.values())
        return "".join(self._sheet.defined.values()) + elements

    def css(self) -> str:
        """Return the visibility over time. Without motion only the last frame is visible."""
        if self._count == 1:
            return ""
        last, steps = self._count - 1, self._count + HOLD
        still = "".join(f".{name}{{visibility:hidden}}" for frames, name in self._classes.items() if last not in frames)
        moving = "".join(
            f".{name}{{animation:{name} {steps * SECONDS:g}s step-end infinite}}@keyframes {name}{{{marks}}}"
            for frames, name in self._classes.items()
            for marks in [self._keyframes(frames, steps)]
        )
        return f"{still}@media(prefers-reduced-motion:no-preference){{{moving}}}"

    def _keyframes(self, frames: tuple[int, ...], steps: int) -> str:
        """Name the visibility at the start and wherever it changes."""
        on = [index in frames for index in range(self._count)]
        changes = [index for index in range(self._count) if index == 0 or on[index] != on[index - 1]]
        return "".join(
            f"{100 * index / steps:.4g}%{{visibility:{'visible' if on[index] else 'hidden'}}}" for index in changes
        )


def _palette() -> str:
    """Return the palette of the panels, for both themes, without `light-dark()`, which older viewers do not know."""
    css = files("blocklab_course.panel").joinpath("panel.css").read_text("utf-8")
    colours = _COLOUR.findall(css)
    light = ";".join(f"{name}:{colour}" for name, colour, _ in colours)
    dark = ";".join(f"{name}:{colour}" for name, _, colour in colours)
    return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
