"""Compare a submission with the reference, and find out which known mistake explains a difference."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from .case import Case
from .counterexample import (
    Counterexample,
    describe_difference,
    describe_error,
    error_location,
    find_counterexample,
    format_value,
    label,
)
from .diagnosis import diagnose, find_mistake
from .exercise import LARGE, SMALL, Exercise, expected_outcome
from .isolation import CapturedOutput, isolated
from .messages import (
    ADVICE,
    LEFT_OUT,
    MESSAGES,
    OR,
    RANKS,
    RIGHT,
    RIGHT_ANSWER,
    RIGHT_NUMBER,
    RIGHT_WITH_GRADIENT,
    SEVERAL,
    SLOW,
)
from .mistake import Mistake
from .modules import UnsupportedModule, rank
from .outcome import CannotCompare, Comparison, Outcome, TookTooLong, by_position, first_difference, is_close, run
from .safe_repr import truncate, type_name
from .submission import Attempt
from .timeout import Interrupted, TimeLimit
from .verdict import Verdict, count_failure, reset_failures


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


NONE = "NoneType"  # in the messages of errors that a None causes
PATIENCE = 10.0  # seconds; no right function takes a tenth of this


def check_against(exercise: Exercise, candidate: object, patience: float = PATIENCE) -> Verdict:
    """Check a candidate against an exercise, as `check` does by the exercise's name."""
    output = CapturedOutput()
    try:
        with isolated(), TimeLimit(patience) as limit:
            return _verdict(exercise, candidate, limit, output)
    finally:
        output.replay()


def _verdict(exercise: Exercise, candidate: object, limit: TimeLimit, output: CapturedOutput) -> Verdict:
    patience = limit.remaining
    try:
        with isolated():
            attempt = Attempt(exercise, candidate, limit)
        exercise = attempt.exercise
        comparisons = list(_compare(attempt, output))
        _check_any_compared(exercise, comparisons)
        if not _all_right(comparisons):
            return _explain_failure(attempt, comparisons)
        if exercise.with_all_ranks and (failed := _explain_ranks(attempt, exercise.with_all_ranks)) is not None:
            return failed
        return _accept(attempt, comparisons)
    except Interrupted:
        seconds = {"seconds": patience - limit.remaining}
        return _reject(exercise, CannotCompare("stopped" if limit.stopped else "interrupted", seconds))
    except CannotCompare as mismatch:
        return _reject(exercise, mismatch)


def _compare(attempt: Attempt, output: CapturedOutput) -> Iterator[Comparison]:
    """Compare on every input that fits the candidate. Capture what it prints for the first one."""
    exercise = attempt.exercise
    cases = sorted(exercise.all_cases, key=lambda case: case.advice is not None)  # spend the time on those that decide
    expected = [expected_outcome(exercise, (), case) for case in cases]  # before the candidate can change anything
    with isolated(output):
        for case, wanted in zip(cases, expected, strict=True):
            try:
                got = attempt.run(case)
            except UnsupportedModule:
                continue
            if not output.full:
                output.full = True
                _check_not_stub(got)
            differs = first_difference(got, wanted, case.tolerance)
            weak = differs is not None and advice_applies(exercise, attempt.run, case, got, wanted)
            yield Comparison(case, got, wanted, differs, weak)


def _check_not_stub(first: Outcome) -> None:
    """Raise CannotCompare if the function is still the exercise's stub, or returns nothing."""
    values = list(first.values.values())
    if isinstance(first.error, NotImplementedError) or any(value is ... for value in values):
        raise CannotCompare("not-written-yet", {})
    if first.values.get("result", ...) is None:
        raise CannotCompare("no-return", {})


def _check_any_compared(exercise: Exercise, comparisons: list[Comparison]) -> None:
    """Raise CannotCompare if no input that decides could be given to the Module."""
    if all(c.case.advice for c in comparisons):
        raise CannotCompare("module-attributes", {"wanted": exercise.signature})


def _all_right(comparisons: list[Comparison]) -> bool:
    return not any(c.got.mutated or c.got.holds_graph or c.wrong for c in comparisons)


def _reject(exercise: Exercise, mismatch: CannotCompare) -> Verdict:
    """Return the verdict on what could not be compared. A stub or a stopped check does not count as a failure."""
    failures = 0 if mismatch.id in ("not-written-yet", "stopped") else count_failure(exercise.name, mismatch.id)
    details = {name: truncate(value) if isinstance(value, str) else value for name, value in mismatch.details.items()}
    message = MESSAGES[mismatch.id].format(**details)
    return Verdict(exercise, False, mismatch.id, messages=(message,), failures=failures)


def _accept(attempt: Attempt, comparisons: list[Comparison]) -> Verdict:
    exercise = attempt.exercise
    reset_failures(exercise.name)
    weak = [c for c in comparisons if c.weak]
    messages = [_success_message(exercise, comparisons, len(comparisons) - len(weak))]
    if exercise.with_all_ranks:
        ranks = sorted({rank(case) for case in exercise.cases})
        messages.append(RANKS.format(ranks=str(OR).join(map(str, ranks))))
    if len(comparisons) < len(exercise.all_cases):
        messages.append(LEFT_OUT.format(count=len(exercise.all_cases) - len(comparisons)))
    advice = {c.case.name: str(c.case.advice.text) for c in weak}
    endless = any(isinstance(c.got.error, TookTooLong) for c in weak)  # then the advice is about the loop already
    if not endless and (steps := attempt.detect_loop()):
        advice["slow"] = SLOW.format(sizes=(SMALL, LARGE), steps=steps)
    messages += [ADVICE.format(advice=text) for text in advice.values()]
    shown = weak[0] if weak else None
    example = shown and find_counterexample(exercise, shown.case, shown.got, shown.wanted, shown.differs)
    return Verdict(exercise, True, advice=tuple(advice), messages=tuple(messages), counterexample=example)


def _success_message(exercise: Exercise, comparisons: list[Comparison], tried: int) -> str:
    """Say how many inputs a function passed, or for an answer its result if that is a single number."""
    if not exercise.evaluate:
        right = RIGHT_WITH_GRADIENT if any(c.case.gradient for c in comparisons) else RIGHT
        return right.format(cases=tried)
    result = comparisons[0].got.values["result"]
    if len(comparisons) > 1 or result.numel() > 1:
        return str(RIGHT_ANSWER)
    return RIGHT_NUMBER.format(what=label(exercise, "result"), value=format_value(result))


def _explain_failure(attempt: Attempt, comparisons: list[Comparison]) -> Verdict:
    """Return the verdict on a function that differs: known mistakes, a general fault, or an unknown mistake."""
    exercise = attempt.exercise
    mutating = [c for c in comparisons if c.got.mutated]
    if mutating:
        return _reject_mutation(exercise, min(mutating, key=_legibility))
    wrong = [c for c in comparisons if c.wrong]
    if not wrong:
        name = next(c.got.holds_graph[0] for c in comparisons if c.got.holds_graph)
        return _reject(exercise, CannotCompare("graph-kept", {"name": name}))
    returned = not exercise.evaluate and all(_returns_input(c) for c in comparisons if c.case.advice is None)
    return _describe_failure(attempt, exercise, wrong, diagnose(attempt, comparisons, returned), returned)


def _explain_ranks(attempt: Attempt, exercise: Exercise) -> Verdict | None:
    """Return the verdict on a Module that is right on the ranks it takes, if a known mistake explains the others."""
    taken = {rank(case) for case in attempt.exercise.cases}
    comparisons = []
    with isolated():
        for case in exercise.cases:
            wanted = expected_outcome(exercise, (), case)
            try:
                got = wanted if rank(case) in taken else attempt.run(case)
            except UnsupportedModule:
                continue
            comparisons.append(Comparison(case, got, wanted, first_difference(got, wanted, case.tolerance)))
    known = find_mistake(exercise, [c for c in comparisons if c.case.advice is None])
    return _describe_failure(attempt, exercise, [c for c in comparisons if c.wrong], known) if known else None


def _describe_failure(
    attempt: Attempt,
    exercise: Exercise,
    wrong: list[Comparison],
    known: tuple[Mistake, ...],
    returned: bool = False,
) -> Verdict:
    """Return the verdict with the known mistakes, or else with what is wrong on one input."""
    shown = _choose_counterexample(wrong, known)
    if known:
        name = "+".join(mistake.id for mistake in known)
        messages = [SEVERAL.format(count=len(known))] * (len(known) > 1) + [str(mistake.hint) for mistake in known]
    elif returned:
        name, messages = "input-returned", [str(MESSAGES["input-returned"])]
    elif stopped := [c for c in wrong if _none_used(exercise, c)]:
        shown = min(stopped, key=_legibility)
        names = ", ".join(f"`{argument}`" for argument in _none_used(exercise, shown))
        error = f"{type_name(shown.got.error)}: {shown.got.message}"
        name, messages = "none-used", [MESSAGES["none-used"].format(names=names, error=error)]
    else:
        name, messages = describe_difference(shown.got, shown.wanted, shown.differs, shown.case.tolerance)
        if name is None and _is_single_answer(exercise):
            messages = [str(MESSAGES["unknown-answer"])]
        elif name is None and (again := _compare_two_calls(attempt, wrong)):
            name = "two-results"
            messages = [MESSAGES[name].format(what=again.what, first=again.yours, second=again.expected)]
    location = error_location(shown.got)
    if known and location:  # the line is hard to understand without the error that arises in it
        messages += describe_error(shown.got)
    messages += location
    example = find_counterexample(exercise, shown.case, shown.got, shown.wanted, shown.differs)
    failures = count_failure(exercise.name, name)
    return Verdict(exercise, False, name, messages=tuple(messages), counterexample=example, failures=failures)


def _none_used(exercise: Exercise, comparison: Comparison) -> list[str]:
    """Return the arguments that are None here and appear in the line that failed because of a None."""
    got, given = comparison.got, comparison.case.arguments
    if got.failing_line is None or not isinstance(got.error, TypeError | AttributeError) or NONE not in got.message:
        return []
    absent = [p.name for p in exercise.parameters if given.get(p.name, p.default) is None]
    return [name for name in absent if re.search(rf"\b{name}\b", got.failing_line[1])]


def _reject_mutation(exercise: Exercise, comparison: Comparison) -> Verdict:
    """Return the verdict on a function that changes its input, with that input before and after the call."""
    name, after = next(iter(comparison.got.mutated.items()))
    before = comparison.case.arguments[name]
    verdict = _reject(exercise, CannotCompare("mutates-input", {"name": name}))
    if isinstance(after, Tensor) and is_close(after, before, 0.0):  # only its autograd state changed
        return verdict
    example = find_counterexample(exercise, comparison.case, Outcome({name: after}), Outcome({name: before}), name)
    return replace(verdict, counterexample=example)


def _compare_two_calls(attempt: Attempt, wrong: list[Comparison]) -> Counterexample | None:
    """Return where another call on the largest wrong input gives another result than the first, None if it does not.

    The second call may start from the same random state as the first; the third does not.
    """
    largest = max((c for c in wrong if c.case.size < sys.maxsize), key=lambda c: c.case.size, default=wrong[0])
    with isolated():
        for again in (attempt.run(largest.case), attempt.run(largest.case)):
            differs = first_difference(again, largest.got, largest.case.tolerance)
            example = differs and find_counterexample(attempt.exercise, largest.case, largest.got, again, differs)
            if example:
                return example
    return None


def _is_single_answer(exercise: Exercise) -> bool:
    """Return whether the exercise asks for a single answer that is compared without inputs."""
    return bool(exercise.evaluate) and not any(case.arguments for case in exercise.all_cases)


def _returns_input(comparison: Comparison) -> bool:
    """Return whether the result is exactly the first tensor of the input."""
    x = next(filter(torch.is_tensor, comparison.case.arguments.values()), None)
    return x is not None and is_close(comparison.got.values.get("result"), x, 0.0)


def _choose_counterexample(wrong: list[Comparison], known: tuple[Mistake, ...]) -> Comparison:
    """Choose the input to show: for a known mistake its `shown_on` or else the first, otherwise the smallest.

    For several mistakes an input without 16-bit numbers comes first: it is easier to read.
    """
    named = {mistake.shown_on for mistake in known}
    if known:
        several = len(known) > 1  # in 16 bits one of several might hardly show for the rounding
        return min(wrong, key=lambda c: (several and c.case.narrow_type is not None, c.case.name not in named))
    return min(wrong, key=_legibility)


def _legibility(comparison: Comparison) -> tuple[bool, bool, int]:
    """Return a key by which the inputs that are easiest to read come first."""
    case = comparison.case
    return case.advice is not None, case.gradient, case.size
