import torch
from torch import nn

import blocklab.positional_encoding


def angles_of(positions, d, base):
    return torch.outer(positions.double(), base ** (-torch.arange(0, d, 2).double() / d))


def stacked(x, positions, base=10000.0):
    angles = angles_of(positions, x.shape[-1], base)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def with_complex_numbers(x, positions, base=10000.0):
    angles = angles_of(positions, x.shape[-1], base)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turn).flatten(-2).type_as(x)


def in_place_on_its_own_copy(x, positions, base=10000.0):
    angles = angles_of(positions, x.shape[-1], base)
    y = x.double().clone()
    y[..., 0::2] = x[..., 0::2] * angles.cos() - x[..., 1::2] * angles.sin()
    y[..., 1::2] = x[..., 0::2] * angles.sin() + x[..., 1::2] * angles.cos()
    return y.to(x.dtype)


def by_matrices(x, positions, base=10000.0):
    angles = angles_of(positions, x.shape[-1], base)
    rows = torch.stack([angles.cos(), -angles.sin()], -1), torch.stack([angles.sin(), angles.cos()], -1)
    turned = torch.einsum("lirc,...lic->...lir", torch.stack(rows, -2), x.double().unflatten(-1, (-1, 2)))
    return turned.flatten(-2).to(x.dtype)


def by_the_shift_matrix(x, positions, base=10000.0):
    """What shifts the sinusoidal table turns the other way round."""
    d = x.shape[-1]
    shift = blocklab.positional_encoding.shift_matrix
    matrices = torch.stack([shift(position, d, base, dtype=torch.float64) for position in positions.tolist()])
    return (x.double()[..., None, :] @ matrices).squeeze(-2).to(x.dtype)


def every_other_turned(x, positions, base=10000.0):
    """As in GPT-J, with every angle twice in a row."""
    d = x.shape[-1]
    frequencies = 1.0 / base ** (torch.arange(0, d, 2) / d)
    angles = (positions[:, None] * frequencies).repeat_interleave(2, -1)
    partner = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * angles.cos().to(x.dtype) + partner * angles.sin().to(x.dtype)


def complex_in_float32(x, positions, base=10000.0):
    """As in Meta's code."""
    d = x.shape[-1]
    frequencies = 1.0 / (base ** (torch.arange(0, d, 2)[: d // 2].float() / d))
    angles = torch.outer(positions.float(), frequencies)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)


def in_float32(x, positions, base=10000.0):
    """The tables are cast to the type of x, as in Hugging Face's code; the angles never are."""
    d = x.shape[-1]
    angles = positions[:, None].float() * (1.0 / base ** (torch.arange(0, d, 2).float() / d))
    cos, sin = (table.repeat_interleave(2, -1).to(x.dtype) for table in (angles.cos(), angles.sin()))
    partner = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * cos + partner * sin


def frequencies_in_the_type_of_x(x, positions, base=10000.0):
    d = x.shape[-1]
    frequencies = (1.0 / base ** (torch.arange(0, d, 2).double() / d)).to(x.dtype)
    angles = positions[:, None].double() * frequencies.double()
    a, b = x[..., 0::2], x[..., 1::2]
    y = torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)
    return y.flatten(-2).to(x.dtype)


class Rotary(nn.Module):
    def forward(self, x, positions, base=10000.0):
        return stacked(x, positions, base)


RIGHT = {
    "rotary_embedding": {
        "ours": blocklab.positional_encoding.rotary_embedding,
        "stacked": stacked,
        "in place on its own copy": in_place_on_its_own_copy,
        "by matrices": by_matrices,
        "a Module": Rotary(),
        "compiled": torch.compile(stacked, backend="eager"),
    }
}
ADVISED = {
    "rotary_embedding": {
        "at whole positions": (lambda x, k, base=10000.0: stacked(x, k.long(), base), ("between-positions",)),
        "by the shift matrix": (by_the_shift_matrix, ("slow", "empty")),
        "with complex numbers": (with_complex_numbers, ("non-contiguous", "empty")),
        "every other turned": (every_other_turned, ("far-positions", "float64")),
        "tables cast": (in_float32, ("far-positions", "float64")),
        "frequencies in the type of x": (
            frequencies_in_the_type_of_x,
            ("far-positions", "in-float16"),
        ),
        "complex in float32": (complex_in_float32, ("far-positions", "non-contiguous", "empty", "float64")),
    }
}
