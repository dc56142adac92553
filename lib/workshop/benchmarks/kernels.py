"""How long our activations, gated units and position tables take beside torch's:  python -m workshop.benchmarks.kernels

torch has no swiglu, no table and no rotary embedding: there the other arm is what people write, F.silu(gate) * value,
a table in float32, and Meta's rotation by complex numbers. Ours build their angles in float64.
"""

import math

import torch
import torch.nn.functional as F

from blocklab.feed_forward import gelu, glu, relu, silu, swiglu
from blocklab.positional_encoding import rotary_embedding, sinusoidal_encoding

from . import ratios

ROWS, HIDDEN = 1024, 4096
L, D_MODEL = 2048, 512
N, HEADS, D_HEAD = 2, 8, 64


def usual_table():
    angles = torch.arange(L)[:, None] * torch.exp(torch.arange(0, D_MODEL, 2) * (-math.log(10000.0) / D_MODEL))
    table = torch.zeros(L, D_MODEL)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


def complex_rotation(x):
    angles = torch.outer(torch.arange(L), 10000.0 ** (-torch.arange(0, D_HEAD, 2) / D_HEAD))
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turns).flatten(-2)


def arms() -> ratios.Arms:
    x, gate, value = torch.randn(3, ROWS, HIDDEN)
    half = x.bfloat16()
    query, places = torch.randn(N, HEADS, L, D_HEAD), torch.arange(L)

    def pair(theirs, ours, *arguments, compiled=True):
        hows = [("as written", lambda: ours(*arguments), None)]
        if compiled:
            fused = torch.compile(ours, fullgraph=True)
            hows.append(("compiled", lambda: fused(*arguments), None))
        return (lambda: theirs(*arguments)), hows

    return {
        "relu": pair(F.relu, relu, x, compiled=False),
        "gelu": pair(F.gelu, gelu, x),
        "gelu, tanh": pair(lambda x, a: F.gelu(x, approximate=a), gelu, x, "tanh"),
        "silu": pair(F.silu, silu, x),
        "silu, bfloat16": pair(F.silu, silu, half, compiled=False),
        "glu": pair(F.glu, glu, x),
        "swiglu": pair(lambda gate, value: F.silu(gate) * value, swiglu, gate, value),
        f"table, {L} x {D_MODEL}": pair(usual_table, lambda: sinusoidal_encoding(L, D_MODEL), compiled=False),
        "rotary, adjacent": pair(complex_rotation, lambda x: rotary_embedding(x, places), query, compiled=False),
        "rotary, half": pair(
            complex_rotation, lambda x: rotary_embedding(x, places, pairing="half"), query, compiled=False
        ),
    }


if __name__ == "__main__":
    ratios.run(lambda: ratios.compare(arms, f"{ROWS} x {HIDDEN} float32, forward, no gradient", rounds=31))
