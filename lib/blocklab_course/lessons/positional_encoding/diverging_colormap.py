"""Colours for numbers from −1 to 1: the sign is a hue, the size its strength, and 0 is white.

The ends differ in lightness too, so that grey print tells −1 from 1.
"""

from matplotlib.colors import LinearSegmentedColormap

from blocklab_course.panel.palette import PAPER_ON_COLOUR, TRUE, fixed

WAVE = LinearSegmentedColormap.from_list("wave", ["#0b2545", fixed(TRUE), PAPER_ON_COLOUR, "#f8cf99", "#e8851c"])
