"""Find the known mistakes that reproduce the results of the learner's function. Name none if in doubt."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from .case import Case, is_float
from .exercise import Exercise, expected_outcome
from .isolation import isolated
from .mistake import AnyError, Mistake
from .modules import UnsupportedModule
from .outcome import Comparison, Outcome, first_difference
from .submission import Attempt

MAX_COMBINED = 3  # mistakes tried together
MAX_CONFIRMING = 3  # perturbed inputs on which a combination of mistakes must agree as well


def diagnose(attempt: Attempt, comparisons: list[Comparison], returned: bool) -> tuple[Mistake, ...]:
    """Return the known mistake that gives the same result on every input of the table, or several that do together.

    A single mistake must also agree on those derived inputs on which the function is wrong.

    Where no mistake agrees exactly, 16-bit results may differ in the last place.

    Two errors agree if their messages do. For a single mistake that also explains wrong numbers, equal classes suffice.

    If the function is wrong only on inputs with advice, and not as the advice says, these inputs are explained instead.

    Combinations are tried only if they could give the smallest wrong result: a function that always raises, or that
    returns another kind of value than any mistake does, has some other fault. If the function `returned` its input, a
    mistake has to agree exactly.
    """
    exercise = attempt.exercise
    deciding = [c for c in comparisons if c.case.advice is None]
    if not any(c.differs for c in deciding):
        deciding += [c for c in comparisons if c.wrong]
    of_table = [c for c in deciding if c.case in exercise.cases]
    beside = [c for c in deciding if c.differs and c.case not in exercise.cases]
    if returned:
        exact = [replace(c, case=replace(c.case, tolerance=0.0)) for c in of_table]
        return find_mistake(exercise, exact, beside)
    if not any(_unit(c.case) > c.case.tolerance for c in (*of_table, *beside)):
        return _search(attempt, comparisons, of_table, beside)
    loose, loose_beside = list(map(_loosen, of_table)), list(map(_loosen, beside))
    roughly = _search(attempt, comparisons, loose, [c for c in loose_beside if c.differs])
    if not roughly and any(c.differs for c in loose):
        return ()  # what does not agree roughly does not agree exactly
    return _search(attempt, comparisons, of_table, beside) or roughly


def _by_size(of_table: list[Comparison]) -> list[Comparison]:
    return sorted(of_table, key=lambda c: (c.differs is None, c.case.gradient, c.case.size))


def _loosen(comparison: Comparison) -> Comparison:
    """Compare 16-bit numbers up to two units in the last place: the same mistake may round in another order."""
    case = comparison.case
    if _unit(case) <= case.tolerance:
        return comparison
    loose = replace(case, tolerance=2 * _unit(case))
    return replace(comparison, case=loose, differs=first_difference(comparison.got, comparison.wanted, loose.tolerance))


def _unit(case: Case) -> float:
    """Return the last place of its 16-bit numbers, relative to the number, or 0 if it has none."""
    return torch.finfo(case.narrow_type).eps if case.narrow_type else 0.0


def _search(
    attempt: Attempt, comparisons: list[Comparison], of_table: list[Comparison], beside: list[Comparison]
) -> tuple[Mistake, ...]:
    exercise, of_table = attempt.exercise, _by_size(of_table)
    known = find_mistake(exercise, of_table, beside)
    if known or not any(c.differs for c in of_table):
        return known
    smallest = of_table[0]
    kinds = {_metadata(expected_outcome(exercise, (mistake,), smallest.case)) for mistake in exercise.mistakes}
    possible = _metadata(smallest.got) in kinds | {_metadata(smallest.wanted)}
    if not possible or all(c.got.error for c in of_table):
        return ()
    return _find_combination(attempt, comparisons, of_table)


def find_mistake(
    exercise: Exercise, of_table: list[Comparison], beside: Sequence[Comparison] = ()
) -> tuple[Mistake, ...]:
    """Return the one mistake that explains all comparisons, or an empty tuple."""
    if not any(c.differs for c in of_table):
        return ()
    of_table = _by_size(of_table)
    lenient = any(c.differs and c.got.error is None for c in of_table)
    for mistake in exercise.mistakes:
        if mistake.value_range:
            if _in_value_range(of_table[0].got, mistake.value_range):
                return (mistake,)
        elif _explains(exercise, (mistake,), [*of_table, *beside], lenient):
            return (mistake,)
    return ()


def _in_value_range(got: Outcome, value_range: tuple[float, float]) -> bool:
    """Return whether the result is a single number within the range."""
    low, high = value_range
    result = got.values.get("result")
    single = isinstance(result, Tensor) and result.numel() == 1
    return single and not result.is_complex() and result.device.type == "cpu" and low < result.item() < high


def _find_combination(
    attempt: Attempt, comparisons: list[Comparison], of_table: list[Comparison]
) -> tuple[Mistake, ...]:
    """Return a combination of mistakes that agrees on the table's inputs and on the confirming ones.

    Each must by itself be wrong on some input. Two mistakes may cancel on some inputs. To save time, three are tried
    only from mistakes that are wrong nowhere but where the function is.
    """
    exercise, confirming, possible = attempt.exercise, None, None
    for count in range(2, MAX_COMBINED + 1):
        if count == 3:
            possible = _plausible_mistakes(exercise, of_table)
        for mistakes in exercise.combinations(count, possible):
            if _explains(exercise, mistakes, of_table) and all(_wrong_cases(exercise, m, of_table) for m in mistakes):
                if confirming is None:
                    confirming = _confirming_comparisons(attempt, comparisons, of_table)
                if _explains(exercise, mistakes, confirming):
                    return mistakes
    return ()


def _plausible_mistakes(exercise: Exercise, of_table: list[Comparison]) -> set[Mistake]:
    """Return the mistakes that show on some input, and only on inputs on which the function is wrong."""
    shown_on = {mistake: _wrong_cases(exercise, mistake, of_table) for mistake in exercise.mistakes}
    wrong = {c.case for c in of_table if c.differs}
    return {mistake for mistake, cases in shown_on.items() if cases and cases <= wrong}


def _wrong_cases(exercise: Exercise, mistake: Mistake, of_table: list[Comparison]) -> set[Case]:
    """Return the inputs on which a single mistake is wrong."""
    outcomes = ((c, expected_outcome(exercise, (mistake,), c.case)) for c in of_table)
    return {c.case for c, outcome in outcomes if first_difference(outcome, c.wanted, c.case.tolerance)}


def _explains(
    exercise: Exercise, mistakes: tuple[Mistake, ...], comparisons: list[Comparison], lenient: bool = False
) -> bool:
    return all(_agrees(expected_outcome(exercise, mistakes, c.case), c, lenient) for c in comparisons)


def _agrees(outcome: Outcome, comparison: Comparison, lenient: bool) -> bool:
    """Return whether an outcome is that of the learner's function."""
    got = comparison.got
    if isinstance(outcome.error, AnyError):
        return got.failing_line is not None  # not where the function cannot be called with these arguments at all
    if lenient and outcome.error and got.error:
        return type(outcome.error) is type(got.error)
    return first_difference(outcome, got, comparison.case.tolerance) is None


def _metadata(outcome: Outcome) -> tuple:
    """Return the class of the error, whether there is one result, and the types and dtypes of the values.

    Not how many there are: two mistakes together may well give a list of another length than each alone.
    """
    kinds = frozenset((type(x), getattr(x, "dtype", None)) for x in outcome.values.values())
    return type(outcome.error), "result" in outcome.values, kinds


def _confirming_comparisons(
    attempt: Attempt, comparisons: list[Comparison], of_table: list[Comparison]
) -> list[Comparison]:
    """Compare on the larger input and on perturbed inputs of the table."""
    found = [c for c in comparisons if c.case.name == "larger"]
    near = [replace(c, case=_perturb_case(c.case)) for c in of_table if any(map(is_float, c.case.arguments.values()))]
    with isolated():
        for comparison in near[:MAX_CONFIRMING]:
            try:
                found.append(replace(comparison, got=attempt.run(comparison.case)))
            except UnsupportedModule:
                continue
    return found


def _perturb_case(case: Case) -> Case:
    """Change every float a little. Zeros, signs and infinities stay."""
    return replace(case, arguments={name: _perturb(x) if is_float(x) else x for name, x in case.arguments.items()})


def _perturb(x: Tensor) -> Tensor:
    place = torch.arange(x.numel(), dtype=torch.float64).view(x.shape)
    return (x * (1 + 0.2 * torch.sin(place * place + 1))).to(x.dtype)
