import math

import torch

import blocklab.positional_encoding


def alternating(length, d_model, base=10000.0):
    table = torch.zeros(length, d_model, dtype=torch.float64)
    angles = torch.arange(length)[:, None] / base ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table.float()


def phases(length, d_model, base=10000.0):
    """A cosine is a sine a quarter turn ahead."""
    column = torch.arange(d_model, dtype=torch.float64)
    frequency = torch.exp(-(column // 2) * 2 / d_model * math.log(base))
    turn = torch.outer(torch.arange(length, dtype=torch.float64), frequency)
    return torch.sin(turn + math.pi / 2 * (column % 2)).to(torch.float32)


def on_the_circle(length, d_model, base=10000.0):
    """The imaginary part is the sine, the real part the cosine."""
    frequency = base ** (-torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.einsum("l,i->li", torch.arange(length).double(), frequency)
    points = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))
    return points.flip(-1).reshape(length, d_model).float()


def of_a_published_tutorial(length, d_model, base=10000.0):
    position = torch.arange(length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(base) / d_model))
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def number_by_number(length, d_model, base=10000.0):
    table = torch.zeros(length, d_model)
    for k in range(length):
        for i in range(0, d_model, 2):
            table[k, i] = math.sin(k / base ** (i / d_model))
            table[k, i + 1] = math.cos(k / base ** (i / d_model))
    return table


def rows_of_a_list(length, d_model, base=10000.0):
    rows = []
    for k in range(length):
        angles = [k / base ** (2 * i / d_model) for i in range(d_model // 2)]
        rows.append([wave(angle) for angle in angles for wave in (math.sin, math.cos)])
    return torch.tensor(rows)


def in_float32(length, d_model, base=10000.0):
    angles = torch.arange(length)[:, None] * base ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def block_by_block(offset, d_model, base=10000.0):
    m = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / base ** (i / d_model)
        m[i, i] = m[i + 1, i + 1] = math.cos(angle)
        m[i, i + 1], m[i + 1, i] = math.sin(angle), -math.sin(angle)
    return m


def by_the_exponential(offset, d_model, base=10000.0):
    """A rotation is the exponential of the generator of rotations."""
    frequency = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    quarter_turn = torch.tensor([[0.0, 1], [-1, 0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(offset * torch.kron(frequency.diag(), quarter_turn)).float()


def step_by_step(offset, d_model, base=10000.0):
    return torch.linalg.matrix_power(block_by_block(1, d_model, base).double(), offset).float()


def two_diagonals(offset, d_model, base=10000.0):
    pair = torch.arange(d_model, dtype=torch.float64) // 2
    angle = offset * base ** (-2 * pair / d_model)
    beside = angle.sin()[:-1].clone()
    beside[1::2] = 0
    return (angle.cos().diag() + beside.diag(1) - beside.diag(-1)).float()


def from_the_table(offset, d_model, base=10000.0):
    """The one matrix that takes d_model positions to those that lie the offset further."""
    frequency = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)

    def rows(positions):
        angles = positions[:, None] * frequency
        return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)

    places = torch.linspace(0, 2 * base, 40 * d_model, dtype=torch.float64)
    return torch.linalg.lstsq(rows(places), rows(places + offset)).solution.T.float()


def blocks_in_float32(offset, d_model, base=10000.0):
    angles = offset * torch.exp(-math.log(base) * torch.arange(0, d_model, 2) / d_model)
    cos, sin = torch.cos(angles), torch.sin(angles)
    return torch.block_diag(*torch.stack([cos, sin, -sin, cos], -1).view(-1, 2, 2))


RIGHT = {
    "sinusoidal_encoding": {
        "ours": blocklab.positional_encoding.sinusoidal_encoding,
        "alternating": alternating,
        "phases": phases,
        "on the circle": on_the_circle,
        "compiled": torch.compile(alternating, backend="eager"),
    },
    "shift_matrix": {
        "ours": blocklab.positional_encoding.shift_matrix,
        "block by block": block_by_block,
        "by the exponential": by_the_exponential,
        "two diagonals": two_diagonals,
        "from the table": from_the_table,
        "compiled": torch.compile(two_diagonals, backend="eager"),
    },
}
ADVISED = {
    "sinusoidal_encoding": {
        "of a published tutorial": (of_a_published_tutorial, ("far-positions",)),
        "in float32": (in_float32, ("far-positions",)),
        "number by number": (number_by_number, ("slow",)),
        "rows of a list": (rows_of_a_list, ("slow", "empty")),
    },
    "shift_matrix": {
        "blocks in float32": (blocks_in_float32, ("far-positions",)),
        "step by step": (step_by_step, ("far-positions",)),
    },
}
