"""The position of a token, encoded by rotations: sines that are added to the token, or a rotation of the token itself.

Both use the same d/2 frequencies, one for every pair of features. Axis letters:  L position,  d feature. Angles and
tables are computed in float64, the rest in float32 or wider, and rounded once.
"""

import contextlib
import math

import torch
from torch import Tensor

from blocklab._validation import (
    LARGEST_TABLE,
    check_choice,
    check_dtype,
    check_float,
    check_integer,
    check_number,
    check_numel,
    check_one_device,
    check_range,
    check_shape,
    check_tensor,
    upcast,
)

FARTHEST = 2**31  # an angle of up to 2**31 in float64 is off by less than 1e-6, which float32 cannot tell


def sinusoidal_encoding(
    length: int, d_model: int, base: float = 10000.0, *, dtype: torch.dtype = torch.float32
) -> Tensor:
    """The table of sines and cosines that is added to the token vectors, one row for every position.

        PE(k, 2i) = sin(k w_i),   PE(k, 2i + 1) = cos(k w_i),   w_i = base**(-2i / d),   0 <= k < L,   0 <= i < d/2

    Result: (L, d). Every row has norm sqrt(d/2), and the inner product of two depends only on their distance.
    Raises ValueError for a negative length, an odd d_model, a base that is not above 0 and more than 2**27 elements,
    TypeError for anything but integers, a number and a floating point dtype.
    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5

    >>> sinusoidal_encoding(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    length = check_integer("sinusoidal_encoding", "length", length, 0, FARTHEST)
    frequencies = pair_frequencies("sinusoidal_encoding", "d_model", d_model, base, dtype)
    check_numel("sinusoidal_encoding", "length x d_model", length, d_model, most=LARGEST_TABLE)
    angles = torch.arange(length)[:, None] * frequencies  # (L, d/2)
    _check_exact_angles("sinusoidal_encoding", angles)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(dtype)


def wavelengths(d_model: int, base: float = 10000.0, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """How many positions each pair of features takes for one full turn.

        2 pi / w_i = 2 pi base**(2i / d),   0 <= i < d/2

    Result: (d/2,), starting at 2 pi, each longer than the last by the same factor, all below 2 pi base; inf where dtype
    overflows. Raises the errors of `sinusoidal_encoding`. Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5

    >>> wavelengths(4)
    tensor([  6.2832, 628.3185])
    """
    return (2 * math.pi / pair_frequencies("wavelengths", "d_model", d_model, base, dtype)).to(dtype)


def shift_matrix(offset: float, d_model: int, base: float = 10000.0, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix that moves every row of the sinusoidal table by the same offset, whatever its position.

        PE(k + offset) = M PE(k),   blocks of M:  [[cos a, sin a], [-sin a, cos a]],   a = offset w_i

    Result: (d, d), a rotation of each pair of features; its transpose is its inverse, the shift back. For a table of
    shape (L, d), whose rows are the PE(k), write table @ M.T.
    Raises the errors of `sinusoidal_encoding`, and ValueError for an offset beyond 2**31.
    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5, "linear function"

    >>> torch.allclose(shift_matrix(1, 4) @ sinusoidal_encoding(2, 4)[0], sinusoidal_encoding(2, 4)[1])
    True
    """
    offset = check_range("shift_matrix", "offset", offset, -FARTHEST, FARTHEST)
    angles = offset * pair_frequencies("shift_matrix", "d_model", d_model, base, dtype)
    check_numel("shift_matrix", "d_model x d_model", d_model, d_model, most=LARGEST_TABLE)
    _check_exact_angles("shift_matrix", angles)
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
    or 1; result: shape and dtype of x. Norms are kept, and a query times a key depends only on their distance.
    pairing="adjacent" rotates features (2i, 2i + 1), as Meta's code; "half" rotates (i, i + d/2), as Hugging Face's.
    frequencies: the w_i themselves, (d/2,), used instead of base; they get gradients too.
    Raises ValueError for a wrong shape, an odd d, a base that is not above 0, an unknown pairing and angles beyond
    2**31, TypeError for anything but tensors of numbers. Source: Su et al. 2021, arXiv:2104.09864

    >>> rotary_embedding(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.arange(2))
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    check_float("rotary_embedding", or_none={"frequencies": frequencies}, x=x)
    if x.dim() < 2:
        raise ValueError(f"rotary_embedding: expected x to have shape (*, L, d), got {tuple(x.shape)}")
    _check_even("rotary_embedding", "the last axis of x", x.shape[-1])
    check_shape("rotary_embedding", (x.shape[-1] // 2,), frequencies=frequencies)
    _check_positions("rotary_embedding", positions, x)
    check_choice("rotary_embedding", "pairing", pairing, "adjacent", "half")

    wide = upcast(x)
    if frequencies is None:
        frequencies = _frequencies(x.shape[-1], _check_base("rotary_embedding", base), x.device)
    angles = positions.double()[..., None] * frequencies.double()  # (*, L, d/2)
    _check_exact_angles("rotary_embedding", angles)
    cos, sin = angles.cos().to(wide.dtype), angles.sin().to(wide.dtype)
    if pairing == "adjacent":
        a, b = wide.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(x.dtype)
    a, b = wide.tensor_split(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)


def pair_frequencies(function: str, name: str, d: int, base: float, dtype: torch.dtype = torch.float64) -> Tensor:
    """w_i = base**(-2i / d), (d/2,), in float64, for `function`, which calls the width `name` and returns a dtype."""
    check_dtype(function, dtype)
    d = check_integer(function, name, d, 1, LARGEST_TABLE)
    _check_even(function, name, d)
    return _frequencies(d, _check_base(function, base))


def _frequencies(d: int, base: float, device: torch.device | None = None) -> Tensor:
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=device) / d)


def _check_even(function: str, name: str, d: int) -> None:
    if d % 2:
        raise ValueError(f"{function}: expected {name} to be even, got {d}")


def _check_base(function: str, base: float) -> float:
    base = check_number(function, "base", base)
    if not 0 < base < math.inf:
        raise ValueError(f"{function}: expected base to be finite and above 0, got {base}")
    return base


def _check_exact_angles(function: str, angles: Tensor) -> None:
    """Refuse, with a ValueError, angles whose sine float64 does not know, NaN included."""
    if torch.compiler.is_compiling():
        return  # there are no values to check
    with contextlib.suppress(RuntimeError):  # on the meta device and under vmap there is no single value
        beyond = ~(angles.detach().abs() <= FARTHEST)
        if beyond.any():
            got = angles[beyond][0].item()
            raise ValueError(f"{function}: expected angles (position * frequency) of at most 2**31, got {got:g}")


def _check_positions(function: str, positions: Tensor, x: Tensor) -> None:
    """Check that there is one position for every token of x, (*, L, d)."""
    check_tensor(function, "positions", positions)
    if positions.is_complex() or positions.dtype == torch.bool:
        raise TypeError(f"{function}: expected positions to be integers or floats, got {positions.dtype}")
    check_one_device(function, x=x, positions=positions)
    shape = x.shape[:-1]
    fits = positions.dim() == len(shape) and all(p in (1, n) for p, n in zip(positions.shape, shape, strict=True))
    if tuple(positions.shape[-1:]) != tuple(shape[-1:]) or not (positions.dim() == 1 or fits):
        wanted = f"({shape[-1]},)" if len(shape) == 1 else f"({shape[-1]},) or {tuple(shape)}"
        raise ValueError(f"{function}: expected positions to have shape {wanted}, got {tuple(positions.shape)}")
