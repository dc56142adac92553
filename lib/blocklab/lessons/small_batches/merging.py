"""Which `merge_statistics` the lesson runs on: the learner's, once it is right."""

from collections.abc import Callable

from blocklab.batch_statistics import merge_statistics
from blocklab.checks.engine import check_against

from .exercises import MERGE_STATISTICS


def accepted_merge(candidate: Callable) -> Callable:
    """The candidate, or the package's function as long as `check` would not accept it."""
    return candidate if check_against(MERGE_STATISTICS, candidate).passed else merge_statistics
