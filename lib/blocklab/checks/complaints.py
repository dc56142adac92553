"""Words for a difference that no table knows: the kind of thing returned, its shape, its type, where an error arose."""

import linecache
import traceback

import torch
from torch import Tensor

from .outcome import NotDifferentiable, Outcome
from .words import A_KIND, A_TENSOR, A_TUPLE, ERROR_AT, WORDS


def difference(got: Outcome, wanted: Outcome, differs: str) -> tuple[str | None, str]:
    """The id and the message of what is wrong; the id is None where only the numbers differ."""
    if differs == "error":
        if isinstance(got.error, NotDifferentiable):
            return _message("not-differentiable")
        error = got.error and f"{type(got.error).__name__}: {got.error}"
        return _message("raises", error=error) if error else (None, str(WORDS["unknown"]))
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
    results = [name for name in outcome.values if name.startswith("result ")]
    return A_TUPLE.format(count=len(results)) if results else _kind(outcome.values["result"])


def _kind(x: object) -> str:
    if isinstance(x, Tensor):
        return str(A_TENSOR)
    return A_KIND.format(kind=type(x).__name__)


def line_of_error(error: Exception) -> list[str]:
    """The learner's own line in which an error arose: the last one outside torch and this package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not _foreign(frame.filename)]
    if not own:
        return []
    line = own[-1].line or linecache.getline(own[-1].filename, own[-1].lineno).strip()
    return [ERROR_AT.format(line=own[-1].lineno, code=f"`{line}`")]


def _foreign(filename: str) -> bool:
    here, torchs = __file__.rpartition("checks")[0], torch.__file__.rpartition("__init__")[0]
    return filename.startswith((here, torchs, "<frozen"))
