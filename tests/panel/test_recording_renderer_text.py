"""Recorded letters are where Agg puts them."""

import re

import matplotlib
import numpy as np
import pytest
from matplotlib.ft2font import FT2Font
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from blocklab_course.panel.canvas import Canvas
from blocklab_course.session import set_language

pytestmark = pytest.mark.usefixtures("lesson_undone")
beside_agg = pytest.mark.skipif(
    not hasattr(FT2Font, "_layout"), reason="the Agg of matplotlib 3.10 draws letters at whole pixels, up to 1.5 away"
)

CODES = {"m": [Path.MOVETO], "l": [Path.LINETO], "q": [Path.CURVE3] * 2, "c": [Path.CURVE4] * 3}
PLACE = re.compile(r"translate\((\S+) (\S+)\)(?: rotate\((\S+)\))? scale\((\S+)\)")
TEXTS = (
    "Hello wording 123",
    "iiiillj",
    "step 3 → 7",
    r"$x^2 + \frac{a}{b} \cdot \sqrt{c}$",
    "two\nlines",
    "归一化：均值 $\\mu$",
)


def path_of(d: str) -> Path:
    """Parse a path of relative commands."""
    corners, codes, at, start = [], [], np.zeros(2), np.zeros(2)
    for letter, numbers in re.findall(r"([mlqcz])([^mlqcz]*)", d):
        points = np.array(re.findall(r"-?\d+", numbers), float).reshape(-1, 2)
        for n in range(0, len(points), step := max(len(CODES.get(letter, ())), 1)):
            corners += list(points[n : n + step] + at)
            codes += CODES[letter if n == 0 or letter != "m" else "l"]
            at = corners[-1]
        if letter == "m":
            start = at
        if letter == "z":
            corners.append(start)
            codes.append(Path.CLOSEPOLY)
            at = start
    return Path(corners, codes)


def drawn_by_agg(text: str, **look) -> tuple[np.ndarray, Canvas]:
    canvas = Canvas((5, 3), 1)
    canvas.figure.text(0.51234, 0.4987, text, ha="center", va="center", **look)
    return 255.0 - canvas.frame()[..., 0], canvas


def drawn_again(canvas: Canvas) -> np.ndarray:
    """Draw the recorded letters as shapes."""
    reference = Canvas((5, 3), 1)
    strokes = [canvas.records[number] for number in canvas.records[canvas.strokes().rest][1]]
    for _, _, _, place, letters, _ in [stroke for stroke in strokes if stroke[0] == "text"]:
        x, y, turn, scale = (float(number or 0) for number in PLACE.fullmatch(place).groups())
        for glyph, right, down in zip(letters[::3], letters[1::3], letters[2::3], strict=True):
            there = Affine2D().translate(right, down).scale(scale).rotate_deg(turn).translate(x, y)
            shape = path_of(canvas.records[glyph][1])
            patch = PathPatch(shape, transform=there.scale(0.1, -0.1).translate(0, 300), snap=False, lw=0, fc="black")
            reference.figure.add_artist(patch)
    return 255.0 - reference.frame()[..., 0]


def shift(one: np.ndarray, other: np.ndarray, axis: int) -> float:
    """Return the shift in pixels along an axis at which the profiles of two pictures agree best."""
    first, second = one.sum(1 - axis), np.fft.rfft(other.sum(1 - axis))
    waves = -2j * np.pi * np.fft.rfftfreq(len(first))
    apart = {by: np.fft.irfft(second * np.exp(waves * by), len(first)) - first for by in np.arange(-1.5, 1.51, 0.05)}
    return -min(apart, key=lambda by: np.square(apart[by]).sum())


@beside_agg
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("angle", [0, 35])
@pytest.mark.parametrize("size", [7, 12, 30])
def test_unhinted_letters_match_agg(text, angle, size):
    set_language("zh" if "归" in text else "en")
    with matplotlib.rc_context({"text.hinting": "no_hinting"}):  # so that Agg draws unhinted shapes, too
        wanted, canvas = drawn_by_agg(text, size=size, rotation=angle, color="black")
        found = drawn_again(canvas)
    assert abs(shift(wanted, found, 0)) <= 0.2
    assert abs(shift(wanted, found, 1)) <= 0.2
    assert found.sum() == pytest.approx(wanted.sum(), rel=0.1)  # no letter is missing


@beside_agg
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [7, 12, 30])
def test_hinted_letters_match_agg(text, size):
    set_language("zh" if "归" in text else "en")
    wanted, canvas = drawn_by_agg(text, size=size, color="black")
    # Horizontally only: hinting changes the height of letters, not their position.
    assert abs(shift(wanted, drawn_again(canvas), 1)) <= 0.3


def test_text_keeps_string_and_cached_layout():
    canvas = Canvas((5, 3), 1)
    text = canvas.figure.text(0.5, 0.5, "ha", animated=True)
    (first,) = canvas.strokes().moving
    text.set_position((0.2, 0.3))
    (second,) = canvas.strokes().moving
    there, here = (canvas.records[number] for number in first + second)
    assert there[5] == "ha"
    assert there[4] == here[4]
    assert there[3] != here[3]


def test_glyph_is_stored_once_for_all_sizes():
    canvas = Canvas((5, 3), 1)
    for size in (8, 9, 20):
        canvas.figure.text(0.5, 0.5, "aaa", size=size)
    used = canvas.strokes().uses(canvas.records)
    assert [canvas.records[number][0] for number in used].count("glyph") == 1


def test_superscript_glyph_is_smaller():
    canvas = Canvas((5, 3), 1)
    canvas.figure.text(0.5, 0.5, "$x^x$", animated=True)
    ((stroke,),) = canvas.strokes().moving
    large, small = (path_of(canvas.records[glyph][1]).get_extents() for glyph in canvas.records[stroke][4][::3])
    assert small.height == pytest.approx(0.7 * large.height, rel=0.02)
