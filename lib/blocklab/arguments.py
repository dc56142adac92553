"""What every kernel asks of its arguments, and the one rule for the type it computes in.

An error names the function, what it wanted and what came. What would broadcast silently is refused here.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def widen(x: Tensor) -> Tensor:
    """x in the type that kernels compute in: float32, or its own type where that is wider."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def want_float(function: str, also_complex: bool = False, **tensors: Tensor) -> None:
    """Refuse, with a TypeError, what is not a tensor of floating point numbers."""
    for name, x in tensors.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{function} wants {name} to be a tensor, got {type(x).__name__}")
        if not (x.is_floating_point() or (also_complex and x.is_complex())):
            raise TypeError(f"{function} wants {name} of a floating point type, got {x.dtype}")


def want_float_or_none(function: str, also_complex: bool = False, **tensors: Tensor | None) -> None:
    """`want_float` for tensors that may be left out."""
    want_float(function, also_complex, **{name: x for name, x in tensors.items() if x is not None})


def want_shape(function: str, shape: Sequence[int], **tensors: Tensor | None) -> None:
    """Refuse, with a ValueError, a tensor of another shape, which would broadcast. None was left out and passes."""
    for name, x in tensors.items():
        if x is not None and tuple(x.shape) != tuple(shape):
            raise ValueError(f"{function} wants {name} of shape {tuple(shape)}, got {tuple(x.shape)}")


def is_integer(value: object) -> bool:
    """Whether a value may count or number something; what torch.compile keeps open is one, too."""
    # It knows isinstance of a number that it keeps open, but not hasattr.
    return isinstance(value, int) or hasattr(value, "__index__")


def want_ending(function: str, x: Tensor, normalized_shape: Sequence[int]) -> None:
    """Refuse a normalized_shape that is no tuple of integers (TypeError) or not how x ends (ValueError)."""
    if not isinstance(normalized_shape, list | tuple) or not all(map(is_integer, normalized_shape)):
        raise TypeError(f"{function} wants normalized_shape to be a tuple of integers, got {normalized_shape!r}")
    if not normalized_shape or tuple(x.shape[-len(normalized_shape) :]) != tuple(normalized_shape):
        raise ValueError(f"{function} wants x to end in {tuple(normalized_shape)}, got x of {tuple(x.shape)}")


def want_range(function: str, name: str, value: float, low: float, high: float = float("inf")) -> None:
    """Refuse, with a ValueError, a number outside [low, high], NaN included."""
    # torch.compile knows isinstance of a number that it keeps open, but not hasattr.
    if not isinstance(value, int | float) and not hasattr(value, "__float__"):
        raise TypeError(f"{function} wants {name} to be a number, got {type(value).__name__}")
    if not low <= value <= high:
        wanted = f"at least {low}" if high == float("inf") else f"between {low} and {high}"
        raise ValueError(f"{function} wants {name} to be {wanted}, got {value}")


def want_integer(function: str, name: str, value: int, low: int) -> None:
    """Refuse what is not an integer (TypeError) or is below `low` (ValueError)."""
    if isinstance(value, bool) or not is_integer(value):
        raise TypeError(f"{function} wants {name} to be an integer, got {type(value).__name__}")
    if value < low:
        raise ValueError(f"{function} wants {name} to be at least {low}, got {value}")
