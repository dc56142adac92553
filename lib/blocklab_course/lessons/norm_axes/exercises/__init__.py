"""The exercises of norm_axes, in the order of the lesson."""

from .by_axes import BATCH_NORM_BY_AXES, LAYER_NORM_BY_AXES, ONE_MEAN_AXES
from .group_norm import GROUP_NORM
from .outputs_that_move import OUTPUTS_THAT_MOVE

EXERCISES = (OUTPUTS_THAT_MOVE, BATCH_NORM_BY_AXES, LAYER_NORM_BY_AXES, ONE_MEAN_AXES, GROUP_NORM)
