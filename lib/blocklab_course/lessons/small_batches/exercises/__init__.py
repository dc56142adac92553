"""The exercises of small_batches, in the order of the lesson."""

from .merge_statistics import MERGE_STATISTICS
from .values_per_mean import VALUES_PER_MEAN

EXERCISES = (VALUES_PER_MEAN, MERGE_STATISTICS)
