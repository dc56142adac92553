"""The exercises on whole layers."""

from .encoder_layer import ENCODER_LAYER
from .norm_order import POST_NORM_LAYER, PRE_NORM_LAYER

EXERCISES = (PRE_NORM_LAYER, POST_NORM_LAYER, ENCODER_LAYER)
