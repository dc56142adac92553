"""Where a token stands, told by rotations: sines that are added to it, or a rotation of the token itself.

Both use the same d/2 frequencies, one for every pair of features. Axis letters:  L position,  d feature.
"""

import contextlib
import math

import torch
from torch import Tensor

from blocklab.arguments import (
    LARGEST_TABLE,
    want_choice,
    want_dtype,
    want_float,
    want_integer,
    want_number,
    want_one_device,
    want_range,
    want_room,
    want_shape,
    want_tensor,
    widen,
)

# Up to here, the range of a 32-bit integer, an angle in float64 is off by less than 1e-6: float32 could not tell.
# From a base of 1 on, no pair turns faster than the first, whose angle is the position.
FARTHEST = 2**31


def sinusoidal_encoding(
    length: int, d_model: int, base: float = 10000.0, *, dtype: torch.dtype = torch.float32
) -> Tensor:
    """The table of sines and cosines that is added to the token vectors, one row for every position.

        PE(k, 2i) = sin(k w_i),   PE(k, 2i + 1) = cos(k w_i),   w_i = base**(-2i / d),   0 <= k < L,   0 <= i < d/2

    Result: (L, d). Every row has the norm sqrt(d/2), and the inner product of two depends on their distance only.

    Computed in float64 and rounded once to dtype; in float32 the angles would be off by 4e-4 at k = 5000.

    Raises ValueError for a negative length, an odd d_model, a base that is not above 0, more than 2**27 numbers and an
    angle beyond 2**31; TypeError for anything but integers, a number and a floating point dtype.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5
    """
    length = want_integer("sinusoidal_encoding", "length", length, 0, FARTHEST)
    frequencies = _checked_frequencies("sinusoidal_encoding", d_model, base, dtype, length)
    want_room("sinusoidal_encoding", "length x d_model", length, d_model, most=LARGEST_TABLE)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies  # (L, d/2)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(dtype)


def wavelengths(d_model: int, base: float = 10000.0, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """How many positions each pair of features takes for one turn.

        2 pi / w_i = 2 pi base**(2i / d),   0 <= i < d/2

    Result: (d/2,), from 2 pi on, each longer than the last by the same factor; the last stays below 2 pi base.

    Computed in float64 and rounded once to dtype, inf where it ends. Raises as `sinusoidal_encoding`.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5
    """
    return (2 * math.pi / _checked_frequencies("wavelengths", d_model, base, dtype)).to(dtype)


def shift_matrix(offset: float, d_model: int, base: float = 10000.0, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix that moves every row of the sinusoidal table by the same offset, whatever its position.

        PE(k + offset) = M PE(k),   blocks of M:  [[cos a, sin a], [-sin a, cos a]],   a = offset w_i

    Result: (d, d), a rotation of each pair of features; its inverse is its transpose, the shift back. offset: any
    integer or float. For a table of shape (L, d), whose rows are the PE(k), write table @ M.T.

    Computed in float64 and rounded once to dtype. Raises as `sinusoidal_encoding`, and for an offset beyond 2**31.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5, "linear function"
    """
    offset = want_range("shift_matrix", "offset", offset, -FARTHEST, FARTHEST)
    angles = offset * _checked_frequencies("shift_matrix", d_model, base, dtype, abs(offset))
    want_room("shift_matrix", "d_model x d_model", d_model, d_model, most=LARGEST_TABLE)
    cos, sin = angles.cos(), angles.sin()
    rows = torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)
    return torch.block_diag(*torch.stack(rows, -2)).to(dtype)


def rotary_embedding(
    x: Tensor,
    positions: Tensor,
    base: float = 10000.0,
    pairing: str = "adjacent",
    frequencies: Tensor | None = None,
) -> Tensor:
    """Rotate every pair (a, b) of features by position * w_i, w_i = base**(-2i / d); queries and keys alike.

        (a, b) -> (a cos - b sin, a sin + b cos)

    x: (*, L, d); positions, integer or float: (L,), or (*, L) with as many axes as x has before d, each of x's length
    or 1; result: shape and dtype of x. Norms are kept, and a query times a key depends on their distance only.
    pairing="adjacent" rotates features (2i, 2i + 1), as Meta's code; "half" rotates (i, i + d/2), as Hugging Face's.
    frequencies: the w_i themselves, (d/2,), in place of base, which is not looked at then; gradients reach them too.

    Angles in float64, the rest in float32 or wider, rounded once. Raises ValueError for a wrong shape, an odd d, a base
    not above 0, another pairing, positions, frequencies or angles beyond 2**31, TypeError for anything but tensors of
    numbers.

    Source: Su et al. 2021, arXiv:2104.09864
    """
    want_float("rotary_embedding", or_none={"frequencies": frequencies}, x=x)
    if x.dim() < 2:
        raise ValueError(f"rotary_embedding wants x of shape (*, L, d), got {tuple(x.shape)}")
    _want_even("rotary_embedding", "the last axis of x", x.shape[-1])
    want_shape("rotary_embedding", (x.shape[-1] // 2,), frequencies=frequencies)
    if frequencies is None:
        base = _want_base("rotary_embedding", base, x.shape[-1])
    _want_positions("rotary_embedding", positions, x, base, frequencies)
    want_choice("rotary_embedding", "pairing", pairing, "adjacent", "half")

    wide = widen(x)
    if frequencies is None:
        frequencies = _frequencies(x.shape[-1], base, x.device)
    angles = positions.double()[..., None] * frequencies.double()  # (*, L, d/2)
    cos, sin = angles.cos().to(wide.dtype), angles.sin().to(wide.dtype)
    if pairing == "adjacent":
        a, b = wide.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(x.dtype)
    a, b = wide.tensor_split(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)


def pair_frequencies(function: str, name: str, d: int, base: float, farthest: float = 1) -> Tensor:
    """w_i = base**(-2i / d) of a width that `function` calls `name`: (d/2,), in float64.

    Raises what `sinusoidal_encoding` raises for the width and the base; farthest: the position that angles are for.
    """
    d = want_integer(function, name, d, 1, FARTHEST)
    _want_even(function, name, d)
    want_room(function, name, d, most=LARGEST_TABLE)
    return _frequencies(d, _want_base(function, base, d, farthest))


def _checked_frequencies(function: str, d_model: int, base: float, dtype: torch.dtype, farthest: float = 1) -> Tensor:
    frequencies = pair_frequencies(function, "d_model", d_model, base, farthest)
    want_dtype(function, dtype)
    return frequencies


def _frequencies(d: int, base: float, device: torch.device | None = None) -> Tensor:
    """w_i = base**(-2i / d), one for every pair of features, (d/2,), in float64."""
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=device) / d)


def _want_even(function: str, name: str, d: int) -> None:
    if d % 2:
        raise ValueError(f"{function} wants {name} to be even, a sine and a cosine for every frequency, got {d}")


def _want_base(function: str, base: float, d: int, farthest: float = 1) -> float:
    """The base as a float. Refuses one that is not above 0, or with which an angle would pass FARTHEST."""
    base = want_number(function, "base", base)
    if not 0 < base < math.inf:
        raise ValueError(f"{function} wants base to be finite and above 0, got {base}")
    if base < 1 and max(farthest, 1) > _reach(base, d):
        raise ValueError(f"{function} wants base so large that no angle passes {FARTHEST}, got {base}")
    return base


def _reach(base: float, d: int) -> float:
    """The position at which the angle of the fastest pair is FARTHEST."""
    return FARTHEST if base >= 1 or d < 2 else FARTHEST * base ** (1 - 2 / d)


def _reach_at(function: str, frequencies: Tensor) -> float:
    """As `_reach`, and as far as FARTHEST at most. Refuses, with a ValueError, a frequency beyond it."""
    frequencies = frequencies.detach().double()
    outside = ~(frequencies.abs() <= FARTHEST)  # NaN too
    if outside.any():
        got = frequencies[outside][0].item()
        raise ValueError(f"{function} wants frequencies between {-FARTHEST} and {FARTHEST}, got {got}")
    fastest = max(frequencies.abs().tolist(), default=0.0)
    return FARTHEST if fastest <= 1 else FARTHEST / fastest


def _want_positions(function: str, positions: Tensor, x: Tensor, base: float, frequencies: Tensor | None) -> None:
    """Refuse positions that are not one for every token of x, (*, L, d), or that float64 angles cannot tell."""
    want_tensor(function, "positions", positions)
    if positions.is_floating_point():
        want_float(function, positions=positions)
    elif positions.is_complex() or positions.dtype == torch.bool:
        raise TypeError(f"{function} wants positions of an integer or floating point type, got {positions.dtype}")
    want_one_device(function, x=x, positions=positions)
    shape = x.shape[:-1]
    fits = positions.dim() == len(shape) and all(p in (1, n) for p, n in zip(positions.shape, shape, strict=True))
    if tuple(positions.shape[-1:]) != tuple(shape[-1:]) or not (positions.dim() == 1 or fits):
        wanted = f"({shape[-1]},)" if len(shape) == 1 else f"({shape[-1]},) or {tuple(shape)}"
        raise ValueError(f"{function} wants positions of shape {wanted}, got {tuple(positions.shape)}")
    if torch.compiler.is_compiling() or positions.is_meta:
        return  # no numbers to look at
    with contextlib.suppress(RuntimeError):  # under vmap these are several answers, and none of them to be looked at
        reach = _reach(base, x.shape[-1]) if frequencies is None else _reach_at(function, frequencies)
        beyond = ~(positions.detach().double().abs() <= reach)  # NaN too
        if beyond.any():
            got = positions[beyond][0].item()
            raise ValueError(f"{function} wants positions between {-reach} and {reach}, got {got}")
