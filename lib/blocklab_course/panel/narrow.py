"""The two arrangements of a picture: one for wide pages, one for phones."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

NARROW = 6.0
"""Inches. A figure of less width is arranged for a phone. Such a page shows it about 366 px wide, so that letters of
9 points in a figure of 4.6 inches have 10 px."""

Place = tuple[float, float, float, float]


def is_narrow(figure: Figure) -> bool:
    """Return whether the picture is drawn for a phone."""
    return figure.get_figwidth() < NARROW


def add_axes(figure: Figure, wide: Place, narrow: Place) -> Axes:
    """Add axes at (left, bottom, width, height), as fractions of the figure."""
    return figure.add_axes(narrow if is_narrow(figure) else wide)


def subplots(figure: Figure, count: int, wide: dict, narrow: dict, **options) -> np.ndarray:
    """Add axes in a row, or in a column on a phone; `wide` and `narrow` are their `gridspec_kw`."""
    if is_narrow(figure):
        return figure.subplots(count, 1, gridspec_kw=narrow, **options)
    return figure.subplots(1, count, gridspec_kw=wide, **options)
