"""Convert what a learner returned to plain values, so that no method of theirs runs when results are compared."""

from dataclasses import dataclass

import torch
from torch import Tensor

from .messages import A_KIND, A_TUPLE, NOT_CALLED
from .safe_repr import type_name

MAX_RESULTS = 16  # of a tuple or list; no exercise asks for more than three
MAX_COPIED = 2**22  # numbers; no case has a larger tensor
_EXACT_VALUE = {bool: bool.__int__, int: int.__int__, float: float.__float__, str: str.__str__}


@dataclass(frozen=True)
class Unsupported:
    """A kind of value that no exercise asks for, with a description for the learner. It equals no expected result."""

    description: str


def to_plain(x: object) -> object:
    """Return x as an exact tensor, number or str; None and `...` unchanged; anything else as Unsupported."""
    if x is None or x is ... or type(x) is Unsupported:
        return x
    if issubclass(type(x), Tensor):
        return _plain_tensor(x)
    for exact, value in _EXACT_VALUE.items():
        if issubclass(type(x), exact):
            return x if type(x) is exact else value(x)
    if issubclass(type(x), tuple):
        return Unsupported(A_TUPLE.format(count=tuple.__len__(x)))
    return Unsupported((NOT_CALLED if callable(x) else A_KIND).format(kind=type_name(x)))


def _plain_tensor(x: Tensor) -> Tensor | Unsupported:
    """Return a dense tensor without its subclass, or Unsupported."""
    if type(x).__torch_dispatch__ is not Tensor.__torch_dispatch__:
        return Unsupported(A_KIND.format(kind=type_name(x)))
    with torch._C.DisableTorchFunctionSubclass():
        layout = Tensor.layout.__get__(x)
        if layout is not torch.strided:
            return Unsupported(A_KIND.format(kind=layout))
        if Tensor.is_nested.__get__(x) or Tensor.is_quantized.__get__(x):
            return Unsupported(
                A_KIND.format(kind="nested tensor" if Tensor.is_nested.__get__(x) else "quantized tensor")
            )
        dense = Tensor.as_subclass(x, Tensor)
    return Unsupported(A_KIND.format(kind=type_name(x))) if _is_storage_freed(dense) else dense


def _is_storage_freed(x: Tensor) -> bool:
    """Return whether the tensor's memory has been freed, so that reading it would crash the process."""
    if x.numel() == 0 or x.device.type == "meta":
        return False
    contiguous = x.is_contiguous()  # nearly always, and much faster
    span = x.numel() if contiguous else 1 + sum((n - 1) * stride for n, stride in zip(x.shape, x.stride(), strict=True))
    return x.untyped_storage().nbytes() < (x.storage_offset() + span) * x.element_size()


def named_results(returned: object) -> dict[str, object]:
    """Return the results by name: "result", or for a tuple or list "result 0", "result 1" …"""
    for sequence in (tuple, list):
        if issubclass(type(returned), sequence) and 1 <= sequence.__len__(returned) <= MAX_RESULTS:
            return {f"result {place}": to_plain(x) for place, x in enumerate(sequence.__iter__(returned))}
    return {"result": to_plain(returned)}


def snapshot(x: object) -> object:
    """Return a copy of a plain value that later writes cannot change."""
    if not isinstance(x, Tensor):
        return x
    x = x.detach()
    return x.clone() if x.numel() <= MAX_COPIED else x
