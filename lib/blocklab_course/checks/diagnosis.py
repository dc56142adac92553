"""Which known mistakes give what the learner's function gave? A name that might not be true is not told."""

from dataclasses import replace

import torch
from torch import Tensor

from .attempt import Attempt
from .case import Case, is_float
from .comparison import Comparison
from .exercise import Exercise
from .expected import expected_outcome
from .isolation import isolated
from .mistake import Mistake
from .modules import UnsupportedModule
from .outcome import Outcome, first_difference

MAX_COMBINED = 3  # mistakes that are looked for together
MAX_CONFIRMING = 3  # inputs near the table's on which several mistakes have to agree as well


def diagnose(attempt: Attempt, comparisons: list[Comparison], returned: bool) -> tuple[Mistake, ...]:
    """The known mistake that gives the same on every input of the table, or several that do so together.

    One alone also has to give the same on the inputs beside the table on which the function is wrong.
    An error is the same if its words are. Where wrong numbers agree too, its class is enough for one mistake alone.
    Several are looked for only where the smallest wrong result could come of them: a function that stops everywhere,
    or gives another kind of thing than any mistake does, has some other fault. Of a function that `returned` its input
    only a mistake is true that gives it back to the last bit.
    """
    exercise = attempt.exercise
    deciding = [c for c in comparisons if c.case.advice is None]
    of_table = [c for c in deciding if c.case in exercise.cases]
    of_table.sort(key=lambda c: (c.differs is None, c.case.gradient, c.case.size))
    wrong = [c for c in of_table if c.differs]
    if not wrong:
        return ()
    if returned:
        of_table = [replace(c, case=replace(c.case, tolerance=0.0)) for c in of_table]
        wrong = of_table[:1]
    beside = [c for c in deciding if c.differs and c.case not in exercise.cases]
    lenient = any(c.got.error is None for c in wrong)
    on_smallest = {mistake: expected_outcome(exercise, (mistake,), wrong[0].case) for mistake in exercise.mistakes}
    for mistake, outcome in on_smallest.items():
        if _in_value_range(wrong[0].got, mistake):
            return (mistake,)
        if _agrees(outcome, wrong[0], lenient) and _explains(exercise, (mistake,), [*of_table[1:], *beside], lenient):
            return (mistake,)
    kinds = {_metadata(outcome) for outcome in (wrong[0].wanted, *on_smallest.values())}
    if returned or all(c.got.error for c in of_table) or _metadata(wrong[0].got) not in kinds:
        return ()
    return _find_combination(attempt, comparisons, of_table)


def _in_value_range(got: Outcome, mistake: Mistake) -> bool:
    """Whether the result is one number, of those that this mistake gives."""
    low, high = mistake.value_range
    result = got.values.get("result")
    return isinstance(result, Tensor) and result.numel() == 1 and low < result.item() < high


def _find_combination(
    attempt: Attempt, comparisons: list[Comparison], of_table: list[Comparison]
) -> tuple[Mistake, ...]:
    """Mistakes that give the same together, on inputs besides the table's too.

    Two may undo each other's harm somewhere. Each of three, to save time, does harm where the function is wrong alone.
    """
    exercise, others, possible = attempt.exercise, None, None
    for count in range(2, MAX_COMBINED + 1):
        if count == 3:
            possible = _plausible_mistakes(exercise, of_table)
        for mistakes in exercise.combinations(count, possible):
            if _explains(exercise, mistakes, of_table):
                others = _confirming_comparisons(attempt, comparisons, of_table) if others is None else others
                if _explains(exercise, mistakes, others):
                    return mistakes
    return ()


def _plausible_mistakes(exercise: Exercise, of_table: list[Comparison]) -> set[Mistake]:
    """The mistakes that do harm, and where the function is wrong alone."""
    harm = {mistake: _wrong_cases(exercise, mistake, of_table) for mistake in exercise.mistakes}
    wrong = {c.case for c in of_table if c.differs}
    return {mistake for mistake in harm if harm[mistake] and harm[mistake] <= wrong}


def _wrong_cases(exercise: Exercise, mistake: Mistake, of_table: list[Comparison]) -> set[Case]:
    """The inputs on which the mistake alone is wrong."""
    outcomes = ((c, expected_outcome(exercise, (mistake,), c.case)) for c in of_table)
    return {c.case for c, outcome in outcomes if first_difference(outcome, c.wanted, c.case.tolerance)}


def _explains(
    exercise: Exercise, mistakes: tuple[Mistake, ...], comparisons: list[Comparison], lenient: bool = False
) -> bool:
    return all(_agrees(expected_outcome(exercise, mistakes, c.case), c, lenient) for c in comparisons)


def _agrees(outcome: Outcome, comparison: Comparison, lenient: bool) -> bool:
    """Whether mistakes gave what the learner's function gave."""
    got = comparison.got
    if lenient and outcome.error and got.error:
        return type(outcome.error) is type(got.error)
    return first_difference(outcome, got, comparison.case.tolerance) is None


def _metadata(outcome: Outcome) -> tuple:
    """What sort of thing came out: the names and types of the values, or the class of the error."""
    return type(outcome.error), *((name, type(x), getattr(x, "dtype", None)) for name, x in outcome.values.items())


def _confirming_comparisons(
    attempt: Attempt, comparisons: list[Comparison], of_table: list[Comparison]
) -> list[Comparison]:
    """What the learner's function gives on the larger input, and on inputs near those of the table."""
    found = [c for c in comparisons if c.case.name == "larger"]
    near = [replace(c, case=_perturb_case(c.case)) for c in of_table if any(map(is_float, c.case.arguments.values()))]
    with isolated():
        for comparison in near[:MAX_CONFIRMING]:
            try:
                found.append(replace(comparison, got=attempt.on(comparison.case)))
            except UnsupportedModule:
                continue
    return found


def _perturb_case(case: Case) -> Case:
    """Every float a little larger or smaller: zeros, signs and infinities stay."""
    return replace(case, arguments={name: _perturb(x) if is_float(x) else x for name, x in case.arguments.items()})


def _perturb(x: Tensor) -> Tensor:
    place = torch.arange(x.numel(), dtype=torch.float64).view(x.shape)
    return (x * (1 + 0.2 * torch.sin(place * place + 1))).to(x.dtype)
