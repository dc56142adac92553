"""Sliders and a picture that answers at once. Nothing else in the package knows ipywidgets."""

from blocklab.panel.controls import Choice, Slider, Toggle
from blocklab.panel.panel import Panel

__all__ = ["Choice", "Panel", "Slider", "Toggle"]
