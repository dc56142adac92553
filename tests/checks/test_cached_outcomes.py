"""Outcomes of known mistakes are cached: later checks of an exercise only run the learner's function."""

from dataclasses import replace

import pytest

from blocklab_course.checks import exercise as exercise_module
from blocklab_course.checks.engine import check_against
from blocklab_course.checks.exercise import expected_outcome
from blocklab_course.lessons.catalog import EXERCISES


@pytest.fixture
def exercise():
    return replace(EXERCISES["rms_norm"])  # with an empty cache


@pytest.fixture
def runs(monkeypatch):
    """Record the inputs on which the reference and known mistakes are run."""
    seen, run = [], exercise_module.run_trusted
    monkeypatch.setattr(
        exercise_module, "run_trusted", lambda function, case: seen.append(case.name) or run(function, case)
    )
    return seen


def test_second_check_uses_cached_outcomes(exercise, runs):
    wrong = exercise.variant(exercise.mistakes[0])
    first = check_against(exercise, wrong)
    assert len(runs) > len(exercise.cases)
    runs.clear()
    second = check_against(exercise, wrong)
    cached = {case.name for case in exercise.all_cases if case.size <= exercise_module.MAX_CACHED}
    assert cached.isdisjoint(runs)
    assert (second.data, second.messages, second.counterexample) == (first.data, first.messages, first.counterexample)


def test_cache_distinguishes_mistakes_and_cases(exercise):
    case, mistakes = exercise.cases[0], exercise.mistakes
    found = [expected_outcome(exercise, each, case) for each in ((), (mistakes[0],), (mistakes[1],))]
    assert expected_outcome(exercise, (), case) is found[0]
    assert expected_outcome(exercise, (mistakes[1],), case) is found[2]
    assert expected_outcome(exercise, (), exercise.cases[1]) is not found[0]


def test_cache_compares_arguments_by_identity(exercise, runs):
    case = exercise.cases[0]
    expected_outcome(exercise, (), case)
    expected_outcome(exercise, (), replace(case, arguments=dict(case.arguments)))
    expected_outcome(exercise, (), replace(case, tolerance=0.0))
    assert runs == [case.name] * 2


def test_combinations_and_large_inputs_are_not_cached(exercise, monkeypatch):
    monkeypatch.setattr(exercise_module, "MAX_CACHED", 0)
    expected_outcome(exercise, (), exercise.cases[0])
    monkeypatch.undo()
    expected_outcome(exercise, next(exercise.combinations(2)), exercise.cases[0])
    assert exercise.cached_outcomes == {}
