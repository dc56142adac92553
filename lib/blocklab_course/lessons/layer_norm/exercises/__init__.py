"""The exercises of layer_norm, in the order of the lesson."""

from .catch_layer_norm import CATCH_LAYER_NORM
from .half_size import HALF_SIZE
from .layer_norm import LAYER_NORM
from .layer_norm_backward import LAYER_NORM_BACKWARD

EXERCISES = (LAYER_NORM, HALF_SIZE, CATCH_LAYER_NORM, LAYER_NORM_BACKWARD)
