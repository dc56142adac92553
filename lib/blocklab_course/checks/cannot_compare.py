"""Report what rules out a comparison, and describe differences that match no known mistake."""

from dataclasses import dataclass

from torch import Tensor

from .messages import A_KIND, A_TENSOR, A_TUPLE_OR_LIST, ERROR_AT, MESSAGES, NUMBERS_TOO
from .outcome import NotComparable, NotDifferentiable, Outcome, is_close
from .results import Unsupported
from .safe_repr import type_name


@dataclass(eq=False)
class CannotCompare(NotComparable):
    """The comparison cannot be made: an id in `messages.MESSAGES`, and what fills the gaps in its message."""

    id: str
    details: dict[str, object]


def describe_difference(got: Outcome, wanted: Outcome, differs: str, tolerance: float) -> tuple[str | None, list[str]]:
    """Return the id and the messages of a difference. The id is None if only the numbers differ."""
    if differs == "error":
        if isinstance(got.error, NotDifferentiable):
            return _message("not-differentiable")
        if got.error is None:
            return _unknown()
        return _message(
            "raises", error=f"{type_name(got.error)}: {got.message}" if got.message else type_name(got.error)
        )
    if got.values.keys() != wanted.values.keys():
        return _message("wrong-type", got=_describe_result(got), wanted=_describe_result(wanted))
    x, y = got.values[differs], wanted.values[differs]
    if isinstance(x, Tensor) != isinstance(y, Tensor) or not isinstance(x, Tensor | type(y)):
        return _message("wrong-type", got=_describe_kind(x), wanted=_describe_kind(y))
    if not isinstance(y, Tensor):
        return _unknown()
    for id, one, other in (
        ("wrong-shape", tuple(x.shape), tuple(y.shape)),
        ("wrong-dtype", x.dtype, y.dtype),
        ("wrong-device", x.device, y.device),
    ):
        if one != other:
            name, messages = _message(id, got=f"`{one}`", wanted=f"`{other}`")
            numbers_too = id == "wrong-dtype" and not _close_after_cast(x, y, tolerance)
            return name, messages + [str(NUMBERS_TOO)] * numbers_too
    if x.is_floating_point() and bool((y.isfinite() & ~x.isfinite()).any()):
        return _message("nan")
    return _unknown()


def _message(id: str, **details: object) -> tuple[str, list[str]]:
    return id, [MESSAGES[id].format(**details)]


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


def error_location(got: Outcome) -> list[str]:
    """Say which line of the learner's code raised the error. The list is empty if the line is unknown."""
    if got.failing_line is None:
        return []
    number, line = got.failing_line
    return [ERROR_AT.format(line=number, code=f"`{line}`")]
