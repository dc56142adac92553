"""Colours for numbers from −1 to 1: night sea to sand. They grow lighter all the way, so that grey print keeps them."""

from matplotlib.colors import LinearSegmentedColormap

from blocklab.panel.palette import TRUE, fixed

WAVE = LinearSegmentedColormap.from_list("wave", ["#0b2545", fixed(TRUE), "#9db8cc", "#f5bf77", "#fff0d6"])
