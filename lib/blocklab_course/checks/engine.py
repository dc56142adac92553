"""Compare what a learner wrote with the reference, and where it differs find out which known mistake it is."""

from collections.abc import Iterator

import torch

from .advice import advice_applies
from .attempt import Attempt
from .cannot_compare import CannotCompare, describe_difference, error_location
from .comparison import Comparison
from .counterexample import find_counterexample, format_value, label
from .diagnosis import diagnose
from .exercise import LARGE, SMALL, Exercise
from .expected import expected_outcome
from .failures import count_failure, reset_failures
from .isolation import CapturedOutput, isolated
from .messages import ADVICE, LEFT_OUT, MESSAGES, RIGHT, RIGHT_ANSWER, RIGHT_NUMBER, RIGHT_WITH_GRADIENT, SEVERAL, SLOW
from .mistake import Mistake
from .modules import UnsupportedModule
from .outcome import Outcome, first_difference, is_close
from .safe_repr import truncate
from .timeout import Interrupted, TimeLimit
from .verdict import Verdict

PATIENCE = 10.0  # seconds; no right function takes a tenth of it


def check_against(exercise: Exercise, candidate: object, patience: float = PATIENCE) -> Verdict:
    """`check` with the exercise itself, from whatever table."""
    sheet = CapturedOutput()
    try:
        with isolated(), TimeLimit(patience) as watch:
            return _verdict(exercise, candidate, watch, sheet)
    finally:
        sheet.hand_on()


def _verdict(exercise: Exercise, candidate: object, watch: TimeLimit, sheet: CapturedOutput) -> Verdict:
    patience = watch.left
    try:
        with isolated():
            attempt = Attempt(exercise, candidate, watch)
        exercise = attempt.exercise
        comparisons = list(_compare(attempt, sheet))
        _check_any_compared(exercise, comparisons)
        if _all_right(comparisons):
            return _accept(exercise, comparisons, attempt.steps())
        return _explain_failure(attempt, comparisons)
    except Interrupted:
        seconds = {"seconds": patience - watch.left}
        return _reject(exercise, CannotCompare("stopped" if watch.stopped else "interrupted", seconds))
    except CannotCompare as complaint:
        return _reject(exercise, complaint)


def _compare(attempt: Attempt, sheet: CapturedOutput) -> Iterator[Comparison]:
    """The comparison on every input that can be given to the candidate; what it prints for the first one is shown."""
    exercise = attempt.exercise
    cases = sorted(exercise.all_cases, key=lambda case: case.advice is not None)  # the deciding ones get the time
    answers = [expected_outcome(exercise, (), case) for case in cases]  # before the candidate touches anything
    with isolated(sheet):
        for case, wanted in zip(cases, answers, strict=True):
            try:
                got = attempt.on(case)
            except UnsupportedModule:
                continue
            if not sheet.full:
                sheet.full = True
                _check_not_stub(got)
            differs = first_difference(got, wanted, case.tolerance)
            weak = differs is not None and advice_applies(exercise, attempt.on, case, got, wanted)
            yield Comparison(case, got, wanted, differs, weak)


def _check_not_stub(first: Outcome) -> None:
    """Refuse a function that is still the empty one of the exercise."""
    values = list(first.values.values())
    if isinstance(first.error, NotImplementedError) or any(value is ... for value in values):
        raise CannotCompare("not-written-yet", {})
    if first.values.get("result", ...) is None:
        raise CannotCompare("no-return", {})


def _check_any_compared(exercise: Exercise, comparisons: list[Comparison]) -> None:
    """Refuse a Module that lacks what every input sets: nothing of it has been seen."""
    if all(c.case.advice for c in comparisons):
        raise CannotCompare("module-attributes", {"wanted": exercise.signature})


def _all_right(comparisons: list[Comparison]) -> bool:
    return not any(c.got.spoiled or c.got.tangled or c.wrong for c in comparisons)


def _reject(exercise: Exercise, complaint: CannotCompare) -> Verdict:
    """The verdict on what could not be compared. An exercise that is not begun, or not done, is no failure."""
    stuck = 0 if complaint.id in ("not-written-yet", "stopped") else count_failure(exercise.name, complaint.id)
    about = {name: truncate(value) if isinstance(value, str) else value for name, value in complaint.about.items()}
    return Verdict(exercise, False, complaint.id, messages=(MESSAGES[complaint.id].format(**about),), failures=stuck)


def _accept(exercise: Exercise, comparisons: list[Comparison], steps: tuple[int, int] | None) -> Verdict:
    reset_failures(exercise.name)
    fragile = [c for c in comparisons if c.weak]
    told = [_success_message(exercise, comparisons, len(comparisons) - len(fragile))]
    if len(comparisons) < len(exercise.all_cases):
        told.append(LEFT_OUT.format(count=len(exercise.all_cases) - len(comparisons)))
    advice = {c.case.name: str(c.case.advice.text) for c in fragile}
    if steps:
        advice["slow"] = SLOW.format(sizes=(SMALL, LARGE), steps=steps)
    told += [ADVICE.format(advice=text) for text in advice.values()]
    seen = fragile[0] if fragile else None
    telling = seen and find_counterexample(exercise, seen.case, seen.got, seen.wanted, seen.differs)
    return Verdict(exercise, True, advice=tuple(advice), messages=tuple(told), counterexample=telling)


def _success_message(exercise: Exercise, comparisons: list[Comparison], tried: int) -> str:
    """Of a function how much was compared, of an answer what comes of it where that is one number."""
    if not exercise.evaluate:
        right = RIGHT_WITH_GRADIENT if any(c.case.gradient for c in comparisons) else RIGHT
        return right.format(cases=tried)
    result = comparisons[0].wanted.values["result"]
    if len(comparisons) > 1 or result.numel() > 1:
        return str(RIGHT_ANSWER)
    return RIGHT_NUMBER.format(what=label(exercise, "result"), value=format_value(result))


def _explain_failure(attempt: Attempt, comparisons: list[Comparison]) -> Verdict:
    """The verdict on a function that differs: known mistakes, something general, or an unknown one."""
    exercise = attempt.exercise
    spoiled = next((c.got.spoiled[0] for c in comparisons if c.got.spoiled), None)
    if spoiled:
        return _reject(exercise, CannotCompare("mutates-input", {"name": spoiled}))
    wrong = [c for c in comparisons if c.wrong]
    if not wrong:
        name = next(c.got.tangled[0] for c in comparisons if c.got.tangled)
        return _reject(exercise, CannotCompare("graph-kept", {"name": name}))
    returned = all(_returns_input(c) for c in comparisons if c.case.advice is None)
    known = diagnose(attempt, comparisons, returned)
    seen = _choose_counterexample(wrong, known)
    if known:
        name = "+".join(mistake.id for mistake in known)
        told = [SEVERAL.format(count=len(known))] * (len(known) > 1) + [str(mistake.hint) for mistake in known]
    elif returned:
        name, told = "input-returned", [str(MESSAGES["input-returned"])]
    else:
        name, told = describe_difference(seen.got, seen.wanted, seen.differs, seen.case.tolerance)
        if name is None and _is_single_answer(exercise):
            told = [str(MESSAGES["unknown-answer"])]
    told += error_location(seen.got)
    telling = find_counterexample(exercise, seen.case, seen.got, seen.wanted, seen.differs)
    return Verdict(
        exercise, False, name, messages=tuple(told), counterexample=telling, failures=count_failure(exercise.name, name)
    )


def _is_single_answer(exercise: Exercise) -> bool:
    """Whether it asks for one answer that is compared as it is."""
    return bool(exercise.evaluate) and not any(case.arguments for case in exercise.all_cases)


def _returns_input(comparison: Comparison) -> bool:
    """Whether the result is the first tensor as it came in, to the last bit."""
    x = next(filter(torch.is_tensor, comparison.case.arguments.values()), None)
    return x is not None and is_close(comparison.got.values.get("result"), x, 0.0)


def _choose_counterexample(wrong: list[Comparison], known: tuple[Mistake, ...]) -> Comparison:
    """The input to show: of a known mistake the one that its row names, or else the first; of others the smallest."""
    if known:
        named = {mistake.shown_on for mistake in known}
        return min(wrong, key=lambda c: c.case.name not in named)
    return min(wrong, key=lambda c: (c.case.advice is not None, c.case.gradient, c.case.size))
