"""The two arrangements of a picture: one for wide pages, one for phones."""

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
