"""Decide whether a difference on one input is only the weakness that the input's advice describes."""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from .case import Case
from .exercise import Exercise
from .outcome import Outcome, TookTooLong, by_position, first_difference, run


def advice_applies(
    exercise: Exercise, run_candidate: Callable[[Case], Outcome], case: Case, got: Outcome, wanted: Outcome
) -> bool:
    """Return whether `got`, which differs from `wanted`, is the weakness that the advice of the case describes."""
    advice = case.advice
    if advice is None:
        return False
    if isinstance(got.error, TookTooLong):
        return advice.endless
    if got.error is not None:
        return isinstance(got.error, advice.raises)
    if first_difference(got, wanted, advice.within) is None:
        return True
    if any(
        first_difference(got, run(by_position(weak), case), case.tolerance) is None for weak in advice.weak_functions
    ):
        return True
    if advice.milder is None or not _same_kinds(got, wanted):
        return False
    return _passes_on(exercise, run_candidate, case, advice.milder)


def _same_kinds(got: Outcome, wanted: Outcome) -> bool:
    """Return whether only the numbers differ, not the number of values, their shapes, dtypes or devices."""
    if got.values.keys() != wanted.values.keys():
        return False
    return all(_metadata(x) == _metadata(y) for x, y in zip(got.values.values(), wanted.values.values(), strict=True))


def _metadata(x: object) -> tuple:
    return (x.shape, x.dtype, x.device) if isinstance(x, Tensor) else (type(x),)


def _passes_on(
    exercise: Exercise, run_candidate: Callable[[Case], Outcome], case: Case, arguments: dict[str, object]
) -> bool:
    milder = replace(case, arguments=arguments)
    wanted = run(by_position(exercise.reference), milder)
    return first_difference(run_candidate(milder), wanted, case.tolerance) is None
