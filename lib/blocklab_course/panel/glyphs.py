"""The letters of a text: their outlines, and where matplotlib puts them.

Agg hints widths for the screen and sets letters at whole pixels. A layout without hinting is some pixels shorter and
moves every letter, so we use Agg's positions. The outlines are unhinted, because a browser scales them.
"""

from typing import NamedTuple

import numpy as np
from matplotlib import _text_helpers
from matplotlib.backends.backend_agg import get_hinting_flag
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.ft2font import FT2Font, LoadFlags
from matplotlib.mathtext import MathTextParser
from matplotlib.path import Path

from blocklab_course.panel.svg_path import relative

EM = 1000
"""Outline units per em."""

PARSER = MathTextParser("path")


class Letter(NamedTuple):
    """A glyph of a font, its size relative to the text, and its position in thousandths of an em."""

    font: FT2Font
    glyph: int
    share: float
    x: int
    y: int


Bar = tuple[int, int, int, int]
"""A fraction bar or root line: left, bottom, width and height in thousandths of an em."""


def layout_text(text: str, prop: FontProperties, dpi: float, features, language) -> list[Letter]:
    """Return the letters of a line without formulas."""
    font, points = get_font(fontManager._find_fonts_by_props(prop)), prop.get_size_in_points()
    font.clear()
    font.set_size(points, dpi)
    pixel = EM / (points * dpi / 72)
    if hasattr(font, "_layout"):
        items = font._layout(text, flags=get_hinting_flag(), features=features, language=language)
        placed = [(item.ft_object, item.glyph_index, item.x, item.y) for item in items]
    else:  # matplotlib 3.10
        placed = [(item.ft_object, item.glyph_idx, item.x, 0) for item in _text_helpers.layout(text, font)]
    return [Letter(each, glyph, 1, round(x * pixel), round(y * pixel)) for each, glyph, x, y in placed]


def layout_formula(text: str, prop: FontProperties, dpi: float) -> tuple[list[Letter], list[Bar]]:
    """Return the letters and bars of a line with formulas."""
    parse, points = PARSER.parse(text, dpi, prop), prop.get_size_in_points()
    pixel = EM / (points * dpi / 72)
    letters = []
    for font, size, code, *glyph, x, y in parse.glyphs:  # matplotlib 3.10 omits the glyph index
        number = glyph[0] if glyph else font.get_char_index(code)
        letters.append(Letter(font, number, size / points, round(x * pixel), round(y * pixel)))
    return letters, [tuple(round(side * pixel) for side in thicken(*rectangle)) for rectangle in parse.rects]


def thicken(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Make a bar at least one pixel thick, as Agg does."""
    wide, high = max(width, 1), max(height, 1)
    return x - (wide - width) / 2, y - (high - height) / 2, wide, high


def outline(font: FT2Font, glyph: int, share: float) -> str:
    """Return the SVG path of a glyph, y down; "" for a space."""
    font.set_size(EM, 72)
    font.load_glyph(glyph, flags=LoadFlags.NO_HINTING)
    corners, codes = font.get_path()
    return relative(corners * (share, -share), codes)


def bar_outline(width: int, height: int) -> str:
    """Return the SVG path of a bar, from its lower left corner."""
    corners = [(0, 0), (width, 0), (width, -height), (0, -height), (0, 0)]
    return relative(np.array(corners), [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY])
