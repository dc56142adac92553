"""The palette in light and dark pages: contrast, and colours that match their names in the lessons."""

import re
from colorsys import rgb_to_hsv
from pathlib import Path

import pytest
from matplotlib.colors import to_rgb, to_rgba

from blocklab_course import panel
from blocklab_course.panel import css
from blocklab_course.panel.palette import (
    GROUPS,
    INK,
    INK_ON_COLOUR,
    MOVED,
    PAPER,
    PAPER_ON_COLOUR,
    POKED,
    QUIET,
    SHADES,
    STILL,
    TRUE,
    fixed,
    letters_on,
    shade,
)
from contrast import contrast

LOOK = Path(panel.__file__).with_name("panel.css").read_text("utf-8")
NAMED = {name: values for name, *values in re.findall(r"--bl-([a-z0-9-]+): light-dark\((#\w{6}), (#\w{6})\)", LOOK)}
PALETTE = INK, PAPER, QUIET, STILL, MOVED, POKED, TRUE, *GROUPS


@pytest.fixture(params=["light", "dark"])
def seen(request):
    """Map a colour of a picture to the colour shown in this theme."""
    theme = ["light", "dark"].index(request.param)
    return lambda colour: to_rgb(NAMED[css.NAMES[colour]][theme] if colour in css.NAMES else colour)


def test_css_defines_every_palette_colour():
    """Stills, plain panels and browsers without `light-dark` show the light colours."""
    assert {name: light for name, (light, _dark) in NAMED.items()} == {css.NAMES[each]: each for each in PALETTE}
    spare = re.findall(r"var\(--bl-([a-z0-9-]+), (#\w{6})\)", LOOK)
    assert set(spare) <= {(name, light) for name, (light, _dark) in NAMED.items()}


@pytest.mark.parametrize("colour", [INK, QUIET, POKED, TRUE])
def test_text_contrast_on_paper(seen, colour):
    assert contrast(seen(colour), seen(PAPER)) >= 4.5


@pytest.mark.parametrize("face", [PAPER, STILL, MOVED, POKED, TRUE, *GROUPS])
def test_text_contrast_on_palette_colours(seen, face):
    assert contrast(seen(letters_on(face)), seen(face)) >= 4.5


@pytest.mark.parametrize("mark", [INK, QUIET, MOVED, POKED, TRUE])
def test_mark_contrast_on_paper(seen, mark):
    assert contrast(seen(mark), seen(PAPER)) >= 3


def test_colours_match_their_names_in_lessons(seen):
    """ "The orange curve", "the red one", "the blue one", "the grey band"."""
    for colour, lowest, highest in ((MOVED, 25, 40), (POKED, 335, 360), (TRUE, 205, 215)):
        hue, strength, _ = rgb_to_hsv(*seen(colour))
        assert lowest <= 360 * hue <= highest
        assert strength > 0.6
    assert all(rgb_to_hsv(*seen(colour))[1] < 0.35 for colour in (STILL, QUIET))


def test_shade_follows_its_colour():
    front, side = (css.colour(to_rgba(shade(GROUPS[0], light))) for light in SHADES)
    assert front == "color-mix(in srgb,var(--bl-group-0,#7fb3e6),#000 16%)"
    assert side == "color-mix(in srgb,var(--bl-group-0,#7fb3e6),#000 30%)"


def test_palette_values_are_unique():
    shades = [shade(colour, light) for colour in PALETTE for light in SHADES]
    every = [*PALETTE, *shades, *map(fixed, PALETTE)]
    assert len(set(every)) == len(every)


def test_fixed_colour_is_the_same_in_every_theme():
    for colour in PALETTE:
        assert css.colour(to_rgba(fixed(colour))) == fixed(colour)
        assert max(abs(a - b) for a, b in zip(to_rgb(fixed(colour)), to_rgb(colour), strict=True)) < 1.01 / 255
    assert contrast(to_rgb(INK_ON_COLOUR), to_rgb(PAPER_ON_COLOUR)) > 14
