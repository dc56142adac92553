"""The exercises on whole layers."""

from .encoder_layer import ENCODER_LAYER
from .norm_order import POST_NORM_LAYER, PRE_NORM_LAYER
from .norm_order_by_hand import PRE_NORM_BY_HAND

EXERCISES = (PRE_NORM_BY_HAND, PRE_NORM_LAYER, POST_NORM_LAYER, ENCODER_LAYER)
