"""The exercises of transformer_layers, in the order of the lesson."""

from .by_hand import PRE_NORM_BY_HAND
from .encoder_layer import ENCODER_LAYER
from .norm_order import POST_NORM_LAYER, PRE_NORM_LAYER

EXERCISES = (PRE_NORM_BY_HAND, PRE_NORM_LAYER, POST_NORM_LAYER, ENCODER_LAYER)
