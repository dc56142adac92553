"""Which known mistakes give what the learner's function gave? A name that might not be true is not told."""

import itertools
from dataclasses import replace

import torch

from .attempt import Attempt
from .comparison import Comparison
from .exercise import Case, Exercise, Mistake, is_float
from .modules import CannotBeSaid
from .outcome import Outcome, by_position, differing, run
from .surroundings import settled

MOST_AT_ONCE = 3  # mistakes that are looked for together
MOST_CONFIRMED = 3  # inputs besides the table's on which several mistakes have to agree as well


def recognize(attempt: Attempt, comparisons: list[Comparison]) -> tuple[Mistake, ...]:
    """The known mistake that gives the same on every input of the table, or several that do so together.

    An error is the same if its words are. Where wrong numbers agree too, its class is enough for one mistake alone. A
    function that only raises makes no several mistakes, and these have to agree on inputs besides the table's too.
    """
    exercise = attempt.exercise
    of_table = [c for c in comparisons if c.case in exercise.cases and c.case.advice is None]
    of_table.sort(key=lambda c: (c.differs is None, c.case.gradient, c.case.size))
    if not any(c.differs for c in of_table):
        return ()
    numbers_differ = any(c.differs and c.got.error is None for c in of_table)

    def explains(mistakes: tuple[Mistake, ...]) -> bool:
        lenient = numbers_differ and len(mistakes) == 1
        return all(_same(exercise, mistakes, c.case, c.got, lenient) for c in of_table)

    alone = next(filter(explains, exercise.combinations(1)), ())
    if alone or all(c.got.error is not None for c in of_table):
        return alone
    sets = itertools.chain.from_iterable(exercise.combinations(count) for count in range(2, MOST_AT_ONCE + 1))
    others = None
    for mistakes in filter(explains, sets):
        others = _others(attempt, comparisons, of_table) if others is None else others
        if all(_same(exercise, mistakes, case, got) for case, got in others):
            return mistakes
    return ()


def _same(exercise: Exercise, mistakes: tuple[Mistake, ...], case: Case, got: Outcome, lenient: bool = False) -> bool:
    outcome = run(by_position(exercise.variant(*mistakes)), case)
    if lenient and outcome.error is not None and got.error is not None:
        return type(outcome.error) is type(got.error)
    return differing(outcome, got, case.tolerance) is None


def _others(attempt: Attempt, comparisons: list[Comparison], of_table: list[Comparison]) -> list[tuple[Case, Outcome]]:
    """What the learner's function gives on the larger input, and on inputs near those of the table."""
    found = [(c.case, c.got) for c in comparisons if c.case.name == "larger"]
    near = [_near(c.case) for c in of_table if any(map(is_float, c.case.arguments.values()))]
    with settled():
        for case in near[:MOST_CONFIRMED]:
            try:
                found.append((case, attempt.on(case)))
            except CannotBeSaid:
                continue
    return found


def _near(case: Case) -> Case:
    """Every float a little larger or smaller: zeros, signs and infinities stay."""

    def moved(x: object) -> object:
        if not is_float(x):
            return x
        place = torch.arange(x.numel(), dtype=torch.float64).view(x.shape)
        return (x * (1 + 0.2 * torch.sin(place * place + 1))).to(x.dtype)

    return replace(case, arguments={name: moved(x) for name, x in case.arguments.items()})
