"""Compare what a learner wrote with the reference, and where it differs find out which known mistake it is."""

import _thread
import difflib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch import Tensor

from .advice import recognized
from .attempts import count_failure, forget
from .candidate import Complaint, as_call
from .case import Case
from .complaints import difference, line_of_error
from .exercise import LARGE, SMALL, Exercise, Mistake
from .habits import steps_of_loop
from .modules import CannotBeSaid
from .outcome import Outcome, by_position, close, differing, run
from .tables import EXERCISES
from .telling import tell
from .verdict import Verdict
from .words import ADVICE, LEFT_OUT, RIGHT, RIGHT_WITH_GRADIENT, SEVERAL, SLOW, UNKNOWN_EXERCISE, WORDS

PATIENCE = 10.0  # seconds; no right function takes a tenth of it
MOST_AT_ONCE = 3  # mistakes that are looked for together


@dataclass(frozen=True)
class Comparison:
    """What the learner's function and the reference gave on one input, and the name of the first value that differs.

    `weak`: what differs is the weakness that the case's advice describes, which is no mistake.
    """

    case: Case
    got: Outcome
    wanted: Outcome
    differs: str | None
    weak: bool = False

    @property
    def wrong(self) -> bool:
        return self.differs is not None and not self.weak


def check(exercise: str, candidate: object, patience: float = PATIENCE) -> Verdict:
    """Check what a learner wrote for an exercise, and name the mistake.

    candidate: the function, or the nn.Module instance or the answer that the exercise asks for. Nothing in it is kept
    or changed. A function that does not come to its end is stopped after `patience` seconds, or by interrupting the
    kernel, and told so.

    Raises ValueError for an exercise that does not exist.
    """
    if exercise not in EXERCISES:
        near = difflib.get_close_matches(str(exercise), EXERCISES, n=1, cutoff=0.0)[0]
        raise ValueError(UNKNOWN_EXERCISE.format(name=exercise, near=near, names=", ".join(EXERCISES)))
    return check_against(EXERCISES[exercise], candidate, patience)


def check_against(exercise: Exercise, candidate: object, patience: float = PATIENCE) -> Verdict:
    """`check` with the exercise itself, from whatever table."""
    started = time.monotonic()
    try:
        call = as_call(exercise, candidate)
        with interrupted_after(patience):
            comparisons = list(_compare(exercise, call))
            _want_some(exercise, comparisons)
            steps = steps_of_loop(call, exercise.growing) if exercise.growing and _right(comparisons) else None
    except KeyboardInterrupt:
        return _refusal(exercise, Complaint("interrupted", {"seconds": time.monotonic() - started}))
    except Complaint as complaint:
        return _refusal(exercise, complaint)
    if _right(comparisons):
        return _praise(exercise, comparisons, steps)
    return _diagnosis(exercise, comparisons)


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Interrupt what runs inside, as the stop button does, when it takes longer. Only the main thread can be."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _compare(exercise: Exercise, call: Callable[[dict], object]) -> Iterator[Comparison]:
    """The comparison on every input that can be given to the candidate; what it prints is shown once."""
    quiet = False
    for case in exercise.all_cases:
        try:
            got = run(call, case, quiet)
        except CannotBeSaid:
            continue
        if not quiet:
            _want_written(got)
        quiet = True
        wanted = run(by_position(exercise.reference), case)
        differs = differing(got, wanted, case.tolerance)
        weak = differs is not None and recognized(exercise, call, case, got, wanted)
        yield Comparison(case, got, wanted, differs, weak)


def _want_written(first: Outcome) -> None:
    """Refuse a function that is still the empty one of the exercise."""
    values = list(first.values.values())
    if isinstance(first.error, NotImplementedError) or any(value is ... for value in values):
        raise Complaint("not-written-yet", {})
    if first.values.get("result", ...) is None:
        raise Complaint("no-return", {})


def _want_some(exercise: Exercise, comparisons: list[Comparison]) -> None:
    """Refuse a Module that lacks what every input sets: nothing of it has been seen."""
    if all(c.case.advice for c in comparisons):
        raise Complaint("module-attributes", {"wanted": exercise.signature})


def _right(comparisons: list[Comparison]) -> bool:
    return not any(c.got.spoiled or c.got.tangled or c.wrong for c in comparisons)


def _refusal(exercise: Exercise, complaint: Complaint) -> Verdict:
    """The verdict on what could not be compared. An exercise that is not begun is no failure."""
    stuck = 0 if complaint.id == "not-written-yet" else count_failure(exercise.name, complaint.id)
    return Verdict(exercise, False, complaint.id, told=(WORDS[complaint.id].format(**complaint.about),), stuck=stuck)


def _praise(exercise: Exercise, comparisons: list[Comparison], steps: tuple[int, int] | None) -> Verdict:
    forget(exercise.name)
    right = RIGHT_WITH_GRADIENT if any(c.case.gradient for c in comparisons) else RIGHT
    fragile = [c for c in comparisons if c.weak]
    told = [right.format(cases=len(comparisons) - len(fragile))]
    if len(comparisons) < len(exercise.all_cases):
        told.append(LEFT_OUT.format(count=len(exercise.all_cases) - len(comparisons)))
    advice = {c.case.name: str(c.case.advice.text) for c in fragile}
    if steps:
        advice["slow"] = SLOW.format(sizes=(SMALL, LARGE), steps=steps)
    told += [ADVICE.format(advice=text) for text in advice.values()]
    seen = fragile[0] if fragile else None
    telling = seen and tell(exercise, seen.case, seen.got, seen.wanted, seen.differs)
    return Verdict(exercise, True, advice=tuple(advice), told=tuple(told), telling=telling)


def _diagnosis(exercise: Exercise, comparisons: list[Comparison]) -> Verdict:
    """The verdict on a function that differs: known mistakes, something general, or an unknown one."""
    spoiled = next((c.got.spoiled[0] for c in comparisons if c.got.spoiled), None)
    if spoiled:
        return _refusal(exercise, Complaint("mutates-input", {"name": spoiled}))
    wrong = [c for c in comparisons if c.wrong]
    if not wrong:
        name = next(c.got.tangled[0] for c in comparisons if c.got.tangled)
        return _refusal(exercise, Complaint("graph-kept", {"name": name}))
    known = _recognize(exercise, comparisons)
    seen = _most_telling(wrong, known)
    if known:
        name = "+".join(mistake.id for mistake in known)
        told = [SEVERAL.format(count=len(known))] * (len(known) > 1) + [str(mistake.hint) for mistake in known]
    elif _gives_back(seen):
        name, told = "input-returned", [str(WORDS["input-returned"])]
    else:
        name, message = difference(seen.got, seen.wanted, seen.differs)
        told = [message]
    if seen.got.error is not None:
        told += line_of_error(seen.got.error)
    telling = tell(exercise, seen.case, seen.got, seen.wanted, seen.differs)
    return Verdict(exercise, False, name, told=tuple(told), telling=telling, stuck=count_failure(exercise.name, name))


def _gives_back(comparison: Comparison) -> bool:
    """Whether the result is the first argument as it came in."""
    x, y = next(iter(comparison.case.arguments.values()), None), comparison.got.values.get("result")
    return isinstance(x, Tensor) and isinstance(y, Tensor) and close(y, x, comparison.case.tolerance)


def _recognize(exercise: Exercise, comparisons: list[Comparison]) -> tuple[Mistake, ...]:
    """The known mistake that gives what the learner's function gave on every input of the table, or several at once."""
    of_table = [c for c in comparisons if c.case in exercise.cases and c.case.advice is None]
    of_table.sort(key=lambda c: (c.differs is None, c.case.gradient, c.case.size))
    if not any(c.differs for c in of_table):
        return ()

    def explains(mistakes: tuple[Mistake, ...]) -> bool:
        call = by_position(exercise.variant(*mistakes))
        outcomes = ((run(call, c.case), c) for c in of_table)
        return all(differing(outcome, c.got, c.case.tolerance) is None for outcome, c in outcomes)

    sets = itertools.chain.from_iterable(exercise.combinations(count) for count in range(1, MOST_AT_ONCE + 1))
    return next(filter(explains, sets), ())


def _most_telling(wrong: list[Comparison], known: tuple[Mistake, ...]) -> Comparison:
    """The comparison to show: the one that a known mistake names, else the smallest."""
    shows = {mistake.shows for mistake in known}
    return min(wrong, key=lambda c: (c.case.name not in shows, c.case.gradient, c.case.size))
