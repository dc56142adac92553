"""The exercises of why_normalize, in the order of the lesson."""

from .feature_axes import FEATURE_AXES
from .standardize import STANDARDIZE

EXERCISES = (STANDARDIZE, FEATURE_AXES)
