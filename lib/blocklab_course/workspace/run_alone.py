"""Run the source code of a solution without the notebook that it is from, as later lessons do."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import CodeType

from torch import nn

from blocklab_course.checks.case import Case
from blocklab_course.checks.engine import PATIENCE
from blocklab_course.checks.exercise import Exercise, expected_outcome
from blocklab_course.checks.isolation import isolated
from blocklab_course.checks.modules import resize_cases
from blocklab_course.checks.outcome import Outcome, by_position, first_difference, run
from blocklab_course.checks.safe_repr import error_message, type_name
from blocklab_course.checks.timeout import Interrupted, TimeLimit
from blocklab_course.i18n import Text
from blocklab_course.model_swap.adapters import as_function, constructor_of, create_modules
from blocklab_course.model_swap.errors import SwapError, swap_error

from .files import Unreadable

ENDLESS = Text(en="it takes too long to run", zh="它一直没有运行完")
RAISES = Text(en="run alone, it raises {error}", zh="单独运行时报错：{error}")
OTHER_RESULT = Text(en="run alone, it gives another result", zh="单独运行时，结果不一样")
NOT_DEFINED = Text(en="it does not define `{name}`", zh="里面没有定义 `{name}`")


def run_alone(code: CodeType, exercise: Exercise, right: bool = False) -> Callable:
    """Return what the code defines, as a function with the exercise's parameters, after a call with all of them.

    right: expect the right result too. Raises Unreadable, or SwapError if the function cannot be called like this.
    """
    try:
        with isolated(), TimeLimit(PATIENCE) as limit:
            return limit.call(partial(_run, code, exercise, right))
    except Interrupted:
        raise Unreadable(ENDLESS) from None


def _run(code: CodeType, exercise: Exercise, right: bool) -> Callable:
    namespace = {"__name__": exercise.name}
    try:
        exec(code, namespace)
    except Interrupted:
        raise
    except BaseException as error:
        raise Unreadable(RAISES.format(error=f"{type_name(error)}: {error_message(error)}")) from None
    definition = namespace.get(exercise.name)
    if not callable(definition):
        raise Unreadable(NOT_DEFINED.format(name=exercise.name))
    function = as_function(exercise, definition)
    outcomes = []
    for case, wanted in _cases_with_all_arguments(exercise, definition):
        got = run(by_position(function), case)
        if not (first_difference(got, wanted, case.tolerance) if right else got.error):
            return function  # one is enough: a Module may be for inputs of some ranks only
        outcomes.append(got)
    raise _describe(outcomes[0]) if outcomes else swap_error("module-attributes", wanted=exercise.signature)


def _cases_with_all_arguments(exercise: Exercise, definition: object) -> list[tuple[Case, Outcome]]:
    """The inputs with the most arguments, of the ranks that a Module is for, with the right outcomes."""
    most, fitted = _count_given(exercise.fullest), exercise
    if isinstance(definition, type) and issubclass(definition, nn.Module):
        fitted = resize_cases(exercise, next(create_modules(constructor_of(definition), exercise.fullest.arguments)))
    fullest = fitted.fullest
    cases = [case for case in fitted.all_cases if case.advice is None and _count_given(case) == most]
    cases.sort(key=lambda case: case is not fullest)
    cases = [replace(case, arguments={**case.arguments}, gradient=False) for case in cases]  # lessons take no gradients
    return [(case, expected_outcome(fitted, (), case)) for case in cases]


def _count_given(case: Case) -> int:
    return sum(x is not None for x in case.arguments.values())


def _describe(outcome: Outcome) -> Exception:
    if isinstance(outcome.error, SwapError):
        return outcome.error
    if outcome.error is None:
        return Unreadable(OTHER_RESULT)
    return Unreadable(RAISES.format(error=f"{type_name(outcome.error)}: {outcome.message}"))
