"""The exercises of ema_momentum, in the order of the lesson."""

from .batch_norm import BATCH_NORM
from .ema_update import EMA_UPDATE

EXERCISES = (BATCH_NORM, EMA_UPDATE)
