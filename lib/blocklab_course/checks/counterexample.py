"""Describe a difference: what is wrong, and one input with the learner's result and the expected one."""

from dataclasses import dataclass

import torch
from torch import Tensor

from blocklab_course.i18n import Text

from .case import Case, is_float
from .exercise import Exercise
from .messages import (
    A_KIND,
    A_TENSOR,
    A_TUPLE_OR_LIST,
    AFTER_CALL,
    DIFFERS_AFTER_CALL,
    ERROR_AT,
    GRADIENT,
    MESSAGES,
    NOT_DIFFERENTIABLE,
    NUMBERS_TOO,
    PART,
    RESULT,
    RESULT_PART,
)
from .outcome import NotDifferentiable, Outcome, Unsupported, is_close, max_magnitude
from .safe_repr import safe_repr, type_name


def describe_difference(got: Outcome, wanted: Outcome, differs: str, tolerance: float) -> tuple[str | None, list[str]]:
    """Return the id and the messages of a difference. The id is None if only the numbers differ."""
    if differs == "error":
        if isinstance(got.error, NotDifferentiable):
            return _message("not-differentiable")
        if got.error is None:
            return _unknown()
        return "raises", describe_error(got)
    if got.values.keys() != wanted.values.keys():
        return _message("wrong-type", got=_describe_result(got), wanted=_describe_result(wanted))
    x, y = got.values[differs], wanted.values[differs]
    if isinstance(x, Tensor) != isinstance(y, Tensor) or not isinstance(x, Tensor | type(y)):
        return _kinds_differ("wrong-type", differs, got=_describe_kind(x), wanted=_describe_kind(y))
    if not isinstance(y, Tensor):
        return _unknown()
    for id, one, other in (
        ("wrong-shape", tuple(x.shape), tuple(y.shape)),
        ("wrong-dtype", x.dtype, y.dtype),
        ("wrong-device", x.device, y.device),
    ):
        if one != other:
            name, messages = _kinds_differ(id, differs, got=f"`{one}`", wanted=f"`{other}`")
            numbers_too = id == "wrong-dtype" and not _close_after_cast(x, y, tolerance)
            return name, messages + [str(NUMBERS_TOO)] * numbers_too
    if x.is_floating_point() and bool((y.isfinite() & ~x.isfinite()).any()):
        return _message("nan")
    return _unknown()


def _message(id: str, **details: object) -> tuple[str, list[str]]:
    return id, [MESSAGES[id].format(**details)]


def _kinds_differ(id: str, value: str, **kinds: str) -> tuple[str, list[str]]:
    """Say how a result, or an argument after the call, differs in kind."""
    if value.startswith("result"):
        return _message(id, **kinds)
    return id, [DIFFERS_AFTER_CALL[id].format(name=value, **kinds)]


def _unknown() -> tuple[None, list[str]]:
    return None, [str(MESSAGES["unknown"])]


def _close_after_cast(x: Tensor, y: Tensor, tolerance: float) -> bool:
    """Return whether a result of another dtype is right after conversion."""
    return x.is_complex() == y.is_complex() and is_close(x.to(y.dtype), y, tolerance)


def _describe_result(outcome: Outcome) -> str:
    parts = [name for name in outcome.values if name.startswith("result ")]
    return A_TUPLE_OR_LIST.format(count=len(parts)) if parts else _describe_kind(outcome.values["result"])


def _describe_kind(x: object) -> str:
    if isinstance(x, Tensor):
        return str(A_TENSOR)
    return x.description if isinstance(x, Unsupported) else A_KIND.format(kind=type_name(x))


def describe_error(got: Outcome) -> list[str]:
    """Say which error was raised. The list is empty if the function ran, but something did not come of it."""
    if got.error is None or isinstance(got.error, NotDifferentiable):
        return []
    kind = type_name(got.error)
    return [MESSAGES["raises"].format(error=f"{kind}: {got.message}" if got.message else kind)]


def error_location(got: Outcome) -> list[str]:
    """Say which line of the learner's code raised the error. The list is empty if the line is unknown."""
    if got.failing_line is None:
        return []
    number, line = got.failing_line
    return [ERROR_AT.format(line=number, code=f"`{line}`")]


MAX_NUMBERS = 16  # of a larger argument only the shape is shown, of a larger result the first wrong part
MAX_EXCERPT = 4  # numbers shown of a row that is itself too long
MAX_DIGITS = 9


@dataclass(frozen=True)
class Counterexample:
    """One input and both results as text: the arguments by name, which value is compared, and the two values."""

    arguments: tuple[tuple[str, str], ...]
    what: str
    yours: str
    expected: str


def find_counterexample(
    exercise: Exercise, case: Case, got: Outcome, wanted: Outcome, value: str
) -> Counterexample | None:
    """Format a case in which `value` differs. Returns None if one result is a tuple and the other is not."""
    if value != "error" and got.values.keys() != wanted.values.keys():
        return None
    arguments = tuple((name, format_value(x)) for name, x in case.arguments.items())
    if value == "error":
        return Counterexample(arguments, str(RESULT), _format_outcome(got), _format_outcome(wanted))
    yours, expected = got.values.get(value), wanted.values.get(value)
    name = label(exercise, value)
    if _comparable(yours, expected) and expected.numel() > MAX_NUMBERS:
        where = _locate_difference(yours, expected, case.tolerance)
        name = PART.format(what=name, where=f"[{', '.join(map(_format_index, where))}]")
        yours, expected = yours[where], expected[where]
    return Counterexample(arguments, name, *_format_distinct(yours, expected))


def _format_outcome(outcome: Outcome) -> str:
    if isinstance(outcome.error, NotDifferentiable):
        return str(NOT_DIFFERENTIABLE)
    if outcome.error is not None:
        return type_name(outcome.error)
    parts = tuple(x for name, x in outcome.values.items() if name.startswith("result "))
    return format_value(parts or next(iter(outcome.values.values())))


def label(exercise: Exercise, value: str) -> str:
    """Name a value of an outcome for the reader."""
    if value in exercise.names:
        return str(exercise.names[value])
    if value.endswith(".grad"):
        return GRADIENT.format(name=value.removesuffix(".grad"))
    if value.startswith("result "):
        return RESULT_PART.format(place=int(value.removeprefix("result ")) + 1)
    return str(RESULT) if value == "result" else AFTER_CALL.format(name=value)


def _comparable(x: object, y: object) -> bool:
    return isinstance(x, Tensor) and isinstance(y, Tensor) and x.shape == y.shape and x.device == y.device


def _locate_difference(yours: Tensor, expected: Tensor, tolerance: float) -> tuple[int | slice, ...]:
    """Return the index of the row with the first wrong number, or of a short excerpt if the row is long."""
    if expected.device.type == "meta":
        return (*[0] * (expected.dim() - 1), slice(0, MAX_EXCERPT))
    x, y = yours.double(), expected.double()
    wrong = ~torch.isclose(x, y, rtol=0.0, atol=tolerance * max_magnitude(y), equal_nan=True)
    *row, place = (i.item() for i in torch.unravel_index(wrong.int().argmax(), expected.shape))
    length = expected.shape[-1]
    if length <= MAX_NUMBERS:
        return tuple(row)
    start = min(place, length - MAX_EXCERPT)
    return (*row, slice(start, start + MAX_EXCERPT))


def _format_index(place: int | slice) -> str:
    return f"{place.start}:{place.stop}" if isinstance(place, slice) else str(place)


def _format_distinct(yours: object, expected: object) -> tuple[str, str]:
    """Format both values with as many digits as it takes to tell them apart."""
    for digits in range(4, MAX_DIGITS):
        texts = format_value(yours, digits), format_value(expected, digits)
        if texts[0] != texts[1]:
            return texts
    return f"{texts[0]} {_format_type(yours)}", f"{texts[1]} {_format_type(expected)}"


def _format_type(x: object) -> str:
    return f"({x.dtype})" if isinstance(x, Tensor) else f"({type_name(x)})"


def format_value(x: object, digits: int = 4) -> str:
    """Format small tensors as nested lists, large ones by dtype and shape, and functions by name."""
    if isinstance(x, Tensor):
        if x.device.type == "meta" or x.numel() > MAX_NUMBERS:
            return f"{_dtype_name(x)} {tuple(x.shape)}"
        numbers = _format_nested(x.detach().tolist(), digits)
        return f"{numbers} ({_dtype_name(x)})" if is_float(x) and x.dtype != torch.float32 else numbers
    if isinstance(x, float):
        return _format_number(x, digits)
    if isinstance(x, Text):
        return str(x)
    if isinstance(x, Unsupported):
        return x.description.strip("` ")
    if isinstance(x, tuple | list):
        inside = ", ".join(format_value(item, digits) for item in x)
        return f"({inside},)" if len(x) == 1 else f"({inside})"
    if callable(x):
        return getattr(x, "__name__", type_name(x))
    return safe_repr(x)


def _dtype_name(x: Tensor) -> str:
    return "tensor" if x.dtype == torch.float32 else str(x.dtype).removeprefix("torch.")


def _format_nested(x: object, digits: int) -> str:
    if isinstance(x, list):
        return f"[{', '.join(_format_nested(item, digits) for item in x)}]"
    return _format_number(x, digits) if isinstance(x, float) else repr(x)


def _format_number(x: float, digits: int) -> str:
    if x.is_integer() and abs(x) < 1e6:
        return str(int(x))
    text = f"{x:.{digits}g}"
    return "0" if text == "-0" else text
