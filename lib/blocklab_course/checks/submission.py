"""Make a submission callable on named arguments, or say why that is impossible."""

import inspect
from collections.abc import Callable
from functools import partial

from torch import nn

from blocklab_course.i18n import Text

from .cannot_compare import CannotCompare
from .exercise import Exercise
from .messages import A_FUNCTION, A_KIND, A_MODULE, THE_ANSWER, THE_TEXT
from .outcome import by_position
from .safe_repr import class_name, safe_repr, truncate, type_name
from .timeout import Interrupted


def as_callable(exercise: Exercise, candidate: object) -> Callable[[dict], object]:
    """Return the candidate as a function of the named arguments of a case. Raises CannotCompare if it is not one."""
    if candidate is None or candidate is ...:
        raise CannotCompare("not-written-yet", {})
    if exercise.evaluate:
        return partial(_evaluate_answer, exercise, candidate)
    if issubclass(type(candidate), type):
        if not issubclass(candidate, nn.Module):
            raise CannotCompare("wrong-kind", {"wanted": _expected_kind(exercise), "got": _describe_kind(candidate)})
        raise CannotCompare("class-not-instance", {"got": class_name(candidate)})
    if issubclass(type(candidate), nn.Module) and exercise.module:
        return lambda arguments: exercise.module(candidate, exercise, arguments)
    if exercise.only_module or not callable(candidate):
        raise CannotCompare("wrong-kind", {"wanted": _expected_kind(exercise), "got": _describe_kind(candidate)})
    if _is_stub(candidate):
        raise CannotCompare("not-written-yet", {})
    _check_signature(exercise, candidate)
    return by_position(candidate)


def _evaluate_answer(exercise: Exercise, answer: object, arguments: dict[str, object]) -> object:
    """Evaluate an answer. Raises CannotCompare if that fails."""
    try:
        if answer.__class__ is not type(answer):  # a false `__class__` can crash torch
            raise TypeError
        return exercise.evaluate(answer)(*arguments.values())
    except Interrupted:
        raise
    except BaseException:
        got = (THE_TEXT if issubclass(type(answer), str) else THE_ANSWER).format(answer=safe_repr(answer))
        raise CannotCompare("wrong-kind", {"wanted": exercise.expects, "got": got}) from None


def _expected_kind(exercise: Exercise) -> Text:
    return A_MODULE if exercise.only_module else A_FUNCTION


def _describe_kind(candidate: object) -> str:
    return A_KIND.format(kind=type_name(candidate))


def _is_stub(function: Callable) -> bool:
    """Return whether a function's body is only `pass` or a docstring. One that returns `...` is found when it runs."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_code in _STUB_BODIES and code.co_consts[-1] is None


def _stub():
    pass


def _stub_with_docstring():  # its bytecode differs: the docstring moves the constant None by one place
    """Docstring."""


_STUB_BODIES = {f.__code__.co_code for f in (_stub, _stub_with_docstring)}


def _check_signature(exercise: Exercise, function: Callable) -> None:
    """Raise CannotCompare if the function cannot be called with the arguments of the fullest case."""
    try:
        signature = inspect.signature(function)
    except Exception:
        return  # written in C++, or with a signature that cannot be read
    fullest = max((case.arguments for case in exercise.cases), key=len)
    try:
        signature.bind(*fullest.values())
    except TypeError:
        raise CannotCompare(
            "signature", {"wanted": exercise.signature, "got": _format_signature(function, signature)}
        ) from None


def _format_signature(function: Callable, signature: inspect.Signature) -> str:
    """Format the function's name and parameters, with defaults cut to fit."""
    name = str(getattr(function, "__name__", type_name(function)))
    return truncate(f"{truncate(name, 60)}({', '.join(map(_format_parameter, signature.parameters.values()))})")


def _format_parameter(parameter: inspect.Parameter) -> str:
    bare = str(parameter.replace(default=parameter.empty, annotation=parameter.empty))
    return bare if parameter.default is parameter.empty else f"{bare}={safe_repr(parameter.default)}"
