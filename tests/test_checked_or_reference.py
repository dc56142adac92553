import pytest

from blocklab.batch_statistics import merge_statistics
from blocklab_course import checked_or_reference


def mine(*parts):
    return merge_statistics(*parts)


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [(mine, mine), (lambda *parts: ..., merge_statistics), (lambda *parts: parts[:3], merge_statistics)],
    ids=["right", "not written", "wrong"],
)
def test_returns_reference_unless_candidate_passes(candidate, expected):
    assert checked_or_reference("merge_statistics", candidate) is expected


def test_unknown_exercise_raises():
    with pytest.raises(ValueError, match="merge_statistics"):
        checked_or_reference("merge_statistic", mine)
