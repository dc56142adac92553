"""How long our activations, gated units and position encodings take.

torch has no SwiGLU, no sinusoidal table and no rotary embedding. For these the reference is what people write:
F.silu(gate) * value, a table in float32, and Meta's rotation by complex numbers. Ours computes angles in float64.
"""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab.feed_forward import gelu, glu, relu, silu, swiglu
from blocklab.positional_encoding import rotary_embedding, sinusoidal_encoding

from .ratios import Case, case, compare

TINY = {"rows": 2, "hidden": 4, "length": 4, "d_model": 8, "d_head": 4, "rounds": 2}
BOTH = (None, None)  # as written and compiled, without a goal


def usual_table(length: int, d_model: int) -> Tensor:
    angles = torch.arange(length)[:, None] * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = torch.zeros(length, d_model)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


def complex_rotation(x: Tensor, positions: Tensor) -> Tensor:
    d = x.shape[-1]
    angles = torch.outer(positions, 10000.0 ** (-torch.arange(0, d, 2) / d))
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turns).flatten(-2)


def cases(rows: int, hidden: int, length: int, d_model: int, d_head: int) -> dict[str, Case]:
    x, gate, value = torch.randn(3, rows, hidden)
    query, positions = torch.randn(2, 8, length, d_head), torch.arange(length)
    half_split = partial(rotary_embedding, pairing="half")
    return {
        "relu": case(F.relu, relu, x),
        "gelu": case(F.gelu, gelu, x, goals=BOTH),
        "gelu, tanh": case(F.gelu, gelu, x, approximate="tanh", goals=BOTH),
        "silu": case(F.silu, silu, x, goals=BOTH),
        "silu, bfloat16": case(F.silu, silu, x.bfloat16()),
        "glu": case(F.glu, glu, x, goals=BOTH),
        "swiglu": case(lambda gate, value: F.silu(gate) * value, swiglu, gate, value, goals=BOTH),
        f"table, {length} x {d_model}": case(usual_table, sinusoidal_encoding, length, d_model),
        "rotary, adjacent": case(complex_rotation, rotary_embedding, query, positions),
        "rotary, half": case(complex_rotation, half_split, query, positions),
    }


def main(
    rows: int = 1024, hidden: int = 4096, length: int = 2048, d_model: int = 512, d_head: int = 64, rounds: int = 31
) -> None:
    compare(partial(cases, rows, hidden, length, d_model, d_head), f"{rows} x {hidden} float32, forward", rounds)
