"""Every figure on a phone: all of its letters and handles are in the picture, and none is too small to read."""

import re
from functools import cache

import numpy as np
import pytest

from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.panel import Panel
from blocklab_course.panel.drag import handles
from blocklab_course.session import set_language
from lessons.test_lesson_figures import PANELS, corners, outline, panel_of

PICTURE = 366  # px: the picture of a panel on a page 390 px wide
SMALLEST_LETTER = 9  # px
TURNED = re.compile(r"translate\((\S+) (\S+)\)(?: rotate\((\S+)\))? scale\((\S+)\)")
WITHOUT_NARROW = {
    "start_here.idle_slider",
}
"""Figures that a phone scrolls sideways."""

NARROW = [figure for figure in PANELS if figure not in WITHOUT_NARROW]


@cache
def glyph_corners(d: str) -> np.ndarray:
    return corners(d)


def letters(canvas, drawing) -> list[tuple[str, np.ndarray, float, bool]]:
    """Each text: what it says, the corners of its letters and its size in pixels of the picture, whether it is clipped."""
    records, found = canvas.records, []
    for number in [*records[drawing.rest][1], *(number for slot in drawing.moving for number in slot)]:
        if not number or records[number][0] != "text":
            continue
        _, _, clip, transform, glyphs, says = records[number]
        x, y, turn, scale = (float(part or 0) for part in TURNED.fullmatch(transform).groups())
        points = [glyph_corners(records[glyph][1]) + (x, y) for glyph, x, y in np.reshape(glyphs, (-1, 3)).tolist()]
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


def narrow_drawings(figure: str, language: str):
    """Of each state of a figure on a phone: the canvas, its drawing, its size in pixels, and the panel's controls."""
    set_language(language)
    with use_language(language):
        panel = panel_of(figure)
        panel.arrange(narrow=True)
        for places in states(panel):
            with panel.at_state(places) as (canvas, _line):
                yield canvas, canvas.strokes(), canvas.figure.bbox.size, panel.controls
        panel.close()


def test_only_listed_figures_have_no_narrow_arrangement():
    assert {figure for figure in PANELS if panel_of(figure).narrow is None} == WITHOUT_NARROW


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("figure", NARROW)
def test_letters_on_a_phone_can_be_read(figure, language):
    for canvas, drawing, size, _controls in narrow_drawings(figure, language):
        texts = letters(canvas, drawing)
        for says, points, height, clipped in texts:
            assert height * PICTURE / size[0] >= SMALLEST_LETTER, says
            assert clipped or (np.nanmin(points) >= 0 and (np.nanmax(points, 0) <= size).all()), says


@pytest.mark.parametrize("figure", NARROW)
def test_handles_on_a_phone_are_in_the_picture(figure):
    for canvas, drawing, size, controls in narrow_drawings(figure, "en"):
        for slot, _control, kind, _places, *points in handles(canvas.moving_artists, controls, size[1]):
            strokes = [outline(canvas.records, number)[0] for number in drawing.moving[slot]]
            if kind == "drag":
                line = np.reshape(points, (-1, 2)) / 10
                assert (line >= 0).all()
                assert (line <= size).all()
            middle = np.array([(np.nanmin(stroke, 0) + np.nanmax(stroke, 0)) / 20 for stroke in strokes])
            assert (middle >= 0).all()
            assert (middle <= size).all()
