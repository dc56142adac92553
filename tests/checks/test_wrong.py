"""Wrong solutions that no table was made from are refused too, and no name that they are given is untrue."""

import pytest

from blocklab.checks import check
from checks.wrong import WRONG

SOLUTIONS = [
    pytest.param(exercise, *pair, id=f"{exercise}:{name}")
    for exercise, solutions in WRONG.items()
    for name, pair in solutions.items()
]


@pytest.mark.parametrize(("exercise", "solution", "mistake"), SOLUTIONS)
def test_no_wrong_solution_passes(exercise, solution, mistake):
    verdict = check(exercise, solution)
    assert not verdict.passed
    assert verdict.mistake == mistake
