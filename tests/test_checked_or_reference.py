import pytest

from blocklab.batch_statistics import merge_statistics
from blocklab_course import checked_or_reference


def mine(*parts):
    return merge_statistics(*parts)


@pytest.mark.parametrize(
    ("candidate", "taken"),
    [(mine, mine), (lambda *parts: ..., merge_statistics), (lambda *parts: parts[:3], merge_statistics)],
    ids=["right", "not written", "wrong"],
)
def test_a_lesson_goes_on_with_what_check_accepts_and_else_with_the_courses_own(candidate, taken):
    assert checked_or_reference("merge_statistics", candidate) is taken


def test_an_exercise_that_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match="merge_statistics"):
        checked_or_reference("merge_statistic", mine)
