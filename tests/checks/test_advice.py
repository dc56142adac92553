"""An advice excuses the weakness that it describes, and nothing else on the same input."""

import pytest
import torch
from tables import TABLES, same_value

from blocklab_course.checks.case import Case
from blocklab_course.checks.engine import check_against
from blocklab_course.checks.outcome import by_position

ADVISING = [
    pytest.param(exercise, case, id=f"{exercise.name}:{case.name}")
    for exercise in TABLES.values()
    for case in exercise.all_cases
    if case.advice and type(case) is Case and not exercise.only_module
]


def break_on(exercise, break_result, *inputs):
    """Return the reference with its result broken on these inputs only."""

    def candidate(*given):
        arguments = [list(one.values()) for one in inputs]
        hit = any(len(one) == len(given) and all(map(same_value, one, given)) for one in arguments)
        result = exercise.reference(*given)
        if not hit:
            return result
        return tuple(map(break_result, result)) if isinstance(result, tuple) else break_result(result)

    return candidate


def raise_error(_result):
    raise RuntimeError


def change_shape(result):
    return result[None] if isinstance(result, torch.Tensor) else [result]


def change_dtype(result):
    if not isinstance(result, torch.Tensor):
        return float(result)
    return result.half() if result.dtype == torch.bfloat16 else result.bfloat16()


def change_numbers(result):
    return 3 * result + 1 if not isinstance(result, torch.Tensor) or result.numel() else result.new_ones(1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("break_result", [raise_error, change_shape, change_dtype, change_numbers])
@pytest.mark.parametrize(("exercise", "case"), ADVISING)
def test_advice_does_not_excuse_other_faults_on_its_input(exercise, case, break_result):
    milder = [case.advice.milder] * (case.advice.milder is not None)
    candidate = break_on(exercise, break_result, case.arguments, *milder)
    verdict = check_against(exercise, candidate, patience=60)  # the largest input is slow on a busy machine
    excused = break_result is raise_error and issubclass(RuntimeError, case.advice.raises)
    assert verdict.passed == excused
    assert excused == (case.name in verdict.advice)


@pytest.mark.parametrize(("exercise", "case"), [one for one in ADVISING if one.values[1].advice.weak_functions])
def test_described_weakness_passes_with_advice(exercise, case):
    for weak in case.advice.weak_functions:

        def candidate(*given, weak=weak):
            arguments = list(case.arguments.values())
            hit = len(arguments) == len(given) and all(map(same_value, arguments, given))
            return weak(*given) if hit else by_position(exercise.reference)(dict(enumerate(given)))

        verdict = check_against(exercise, candidate)
        assert verdict.passed, str(verdict)
        assert case.name in verdict.advice
        assert str(case.advice.text) in str(verdict)
