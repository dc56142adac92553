"""The exercises of start_here, in the order of the lesson."""

from .relu import RELU
from .scale import SCALE

EXERCISES = (SCALE, RELU)
