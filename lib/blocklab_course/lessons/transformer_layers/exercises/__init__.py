"""The exercises of transformer_layers, in the order of the lesson."""

from .encoder_layer import ENCODER_LAYER
from .norm_order import POST_NORM_LAYER
from .pre_norm import PRE_NORM
from .sandwich import SANDWICH_LAYER
from .smollm2_layer import SMOLLM2_LAYER

EXERCISES = (PRE_NORM, SANDWICH_LAYER, SMOLLM2_LAYER, POST_NORM_LAYER, ENCODER_LAYER)
