"""The exercises of activations_and_gates, in the order of the lesson."""

from .activations import GELU, GLU, SWISH
from .swiglu import SWIGLU

EXERCISES = (GELU, SWISH, GLU, SWIGLU)
