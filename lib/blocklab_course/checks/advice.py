"""Whether what differs on one input is the weakness that its advice describes: nothing else is forgiven there."""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from .case import Case
from .exercise import Exercise
from .outcome import Outcome, TookTooLong, by_position, first_difference, run


def advice_applies(
    exercise: Exercise, on: Callable[[Case], Outcome], case: Case, got: Outcome, wanted: Outcome
) -> bool:
    """Whether the case has an advice, and `got`, which differs from `wanted`, is what the advice speaks of.

    `on` is what the learner's function does with a case.
    """
    advice = case.advice
    if advice is None:
        return False
    if isinstance(got.error, TookTooLong):
        return advice.endless
    if got.error is not None:
        return isinstance(got.error, advice.raises)
    if first_difference(got, wanted, advice.within) is None:
        return True
    if any(first_difference(got, run(by_position(weak), case), case.tolerance) is None for weak in advice.like):
        return True
    return advice.milder is not None and _same_kinds(got, wanted) and _passes_on(exercise, on, case, advice.milder)


def _same_kinds(got: Outcome, wanted: Outcome) -> bool:
    """Whether only the numbers differ: as many values of the same kinds, shapes, types and devices."""
    if got.values.keys() != wanted.values.keys():
        return False
    return all(_metadata(x) == _metadata(y) for x, y in zip(got.values.values(), wanted.values.values(), strict=True))


def _metadata(x: object) -> tuple:
    return (x.shape, x.dtype, x.device) if isinstance(x, Tensor) else (type(x),)


def _passes_on(exercise: Exercise, on: Callable[[Case], Outcome], case: Case, arguments: dict[str, object]) -> bool:
    milder = replace(case, arguments=arguments)
    wanted = run(by_position(exercise.reference), milder)
    return first_difference(on(milder), wanted, case.tolerance) is None
