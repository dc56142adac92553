"""Interactive figures. The only package that imports ipywidgets and anywidget."""

from blocklab_course.panel.controls import Choice, Slider, Toggle
from blocklab_course.panel.linked_picture import LinkedPicture
from blocklab_course.panel.panel import Panel
from blocklab_course.panel.prediction import Prediction
from blocklab_course.panel.question import predict

__all__ = ["Choice", "LinkedPicture", "Panel", "Prediction", "Slider", "Toggle", "predict"]
