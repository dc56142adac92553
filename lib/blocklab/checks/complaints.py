"""Words for a difference that no table knows: the kind of thing returned, its shape, its type, where an error arose."""

from torch import Tensor

from .brief import kind
from .outcome import NotDifferentiable, Outcome
from .plain import Strange
from .words import A_KIND, A_TENSOR, A_TUPLE, ERROR_AT, WORDS


def difference(got: Outcome, wanted: Outcome, differs: str) -> tuple[str | None, str]:
    """The id and the message of what is wrong; the id is None where only the numbers differ."""
    if differs == "error":
        if isinstance(got.error, NotDifferentiable):
            return _message("not-differentiable")
        if got.error is None:
            return None, str(WORDS["unknown"])
        return _message("raises", error=f"{kind(got.error)}: {got.message}" if got.message else kind(got.error))
    if got.values.keys() != wanted.values.keys():
        return _message("wrong-type", got=_returned(got), wanted=_returned(wanted))
    x, y = got.values[differs], wanted.values[differs]
    if isinstance(x, Tensor) != isinstance(y, Tensor) or not isinstance(x, Tensor | type(y)):
        return _message("wrong-type", got=_kind(x), wanted=_kind(y))
    if not isinstance(y, Tensor):
        return None, str(WORDS["unknown"])
    for id, one, other in (
        ("wrong-shape", tuple(x.shape), tuple(y.shape)),
        ("wrong-dtype", x.dtype, y.dtype),
        ("wrong-device", x.device, y.device),
    ):
        if one != other:
            return _message(id, got=f"`{one}`", wanted=f"`{other}`")
    if x.is_floating_point() and bool((y.isfinite() & ~x.isfinite()).any()):
        return _message("nan")
    return None, str(WORDS["unknown"])


def _message(id: str, **about: object) -> tuple[str, str]:
    return id, WORDS[id].format(**about)


def _returned(outcome: Outcome) -> str:
    parts = [name for name in outcome.values if name.startswith("result ")]
    return A_TUPLE.format(count=len(parts)) if parts else _kind(outcome.values["result"])


def _kind(x: object) -> str:
    if isinstance(x, Tensor):
        return str(A_TENSOR)
    return x.words if isinstance(x, Strange) else A_KIND.format(kind=kind(x))


def line_of_error(got: Outcome) -> list[str]:
    """Where in the learner's code the error arose; nothing if it is not known."""
    if got.line is None:
        return []
    number, line = got.line
    return [ERROR_AT.format(line=number, code=f"`{line}`")]
