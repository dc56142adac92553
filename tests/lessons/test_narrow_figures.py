"""Every figure on a phone: all of its letters and handles are in the picture, and none is too small to read."""

import re
from functools import cache

import numpy as np
import pytest

from blocklab_course.i18n import use_language
from blocklab_course.panel import Panel
from blocklab_course.panel.drag import handles
from blocklab_course.session import set_language
from lessons.test_lesson_figures import PANELS, WITHOUT_CONTROLS, corners, outline, panel_of

PICTURE = 366  # px: the picture of a panel on a page 390 px wide
SMALLEST_LETTER = 9  # px
TURNED = re.compile(r"translate\((\S+) (\S+)\)(?: rotate\((\S+)\))? scale\((\S+)\)")
WITHOUT_NARROW: set[str] = set()
"""Figures that a phone scrolls sideways. This set may only shrink."""


@cache
def glyph_corners(d: str) -> np.ndarray:
    return corners(d)


def letters(canvas, drawing) -> list[tuple[str, np.ndarray, float, bool]]:
    """Each text: its words, the corners of its letters and its size in pixels of the picture, whether it is clipped."""
    records, found = canvas.records, []
    for number in [*records[drawing.rest][1], *(number for slot in drawing.moving for number in slot)]:
        if not number or records[number][0] != "text":
            continue
        _, _, clip, transform, glyphs, says = records[number]
        x, y, turn, scale = (float(part or 0) for part in TURNED.fullmatch(transform).groups())
        points = [
            np.add(glyph_corners(records[glyph][1]), (x, y)) for glyph, x, y in np.reshape(glyphs, (-1, 3)).tolist()
        ]
        cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        placed = scale * np.concatenate(points) @ [[cos, sin], [-sin, cos]] + (x, y)
        found.append((says, placed / 10, 100 * scale, bool(clip)))
    return found


def states(panel: Panel) -> list[list[int]]:
    """The initial state, and the two ends of each control."""
    first, found = panel.places, [panel.places]
    for number, control in enumerate(panel.controls.values()):
        found += [[*first[:number], control.place_of(end), *first[number + 1 :]] for end in control.ends()]
    return found


def check_letters(canvas, drawing) -> None:
    size = canvas.figure.bbox.size
    for says, points, height, clipped in letters(canvas, drawing):
        assert height * PICTURE / size[0] >= SMALLEST_LETTER, says
        assert clipped or (np.nanmin(points) >= 0 and (np.nanmax(points, 0) <= size).all()), says


def check_handles(canvas, drawing, controls) -> None:
    size = canvas.figure.bbox.size
    for slot, _control, kind, _places, *points in handles(canvas.moving_artists, controls, size[1]):
        if kind == "drag":
            line = np.reshape(points, (-1, 2)) / 10
            assert (line >= 0).all()
            assert (line <= size).all()
        for number in drawing.moving[slot]:
            stroke = outline(canvas.records, number)[0] / 10
            assert (np.nanmax(stroke, 0) >= 0).all()
            assert (np.nanmin(stroke, 0) <= size).all()


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("figure", sorted({*PANELS, *WITHOUT_CONTROLS}))
def test_figure_on_a_phone_has_all_letters_and_handles_in_sight(figure):
    for language in ("zh", "en"):
        set_language(language)
        with use_language(language):
            panel = panel_of(figure)
            assert (panel.narrow is None) == (figure in WITHOUT_NARROW)
            panel.arrange(narrow=True)
            for places in states(panel)[: None if language == "en" else 1]:
                with panel.at_state(places) as (canvas, _line):
                    if panel.is_narrow:
                        check_letters(canvas, canvas.strokes())
                        check_handles(canvas, canvas.strokes(), panel.controls)
            panel.close()
