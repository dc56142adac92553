"""Sliders and a picture that answers at once. Nothing else in the package knows ipywidgets or anywidget."""

from blocklab.panel.controls import Choice, Slider, Toggle
from blocklab.panel.guess import Guess
from blocklab.panel.linked_picture import LinkedPicture
from blocklab.panel.panel import Panel

__all__ = ["Choice", "Guess", "LinkedPicture", "Panel", "Slider", "Toggle"]
