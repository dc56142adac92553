import functools

import torch.nn.functional as F
from torch import nn


def with_gate(opened):
    return lambda x, w1, w2, w3: F.linear(opened(F.linear(x, w1)) * F.linear(x, w3), w2)


class Clipped(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3 = nn.Linear(2, 3, bias=False), nn.Linear(2, 3, bias=False)
        self.w2 = nn.Linear(3, 2, bias=False)

    def forward(self, x):
        gate = self.w1(x)
        return self.w2(gate * gate.clamp(-6, 6).sigmoid() * self.w3(x))


def for_wide_layers(x, w1, w2, w3):
    return with_gate(F.silu)(x, w1, w2, w3) if len(w1) >= w1.shape[1] else x


WRONG = {
    "swiglu": {
        "torch.mm": (
            lambda x, w1, w2, w3: F.silu(x.mm(w1.T)).mul(x.mm(w3.T)).mm(w2.T),
            {"product-of-two-axes-only"},
        ),
        "GELU by the tanh": (with_gate(functools.partial(F.gelu, approximate="tanh")), {"geglu-for-swiglu"}),
        "clipped": (with_gate(lambda gate: gate * gate.clamp(-6, 6).sigmoid()), {None}),
        "a clipped Module": (Clipped(), {None}),
        "gate up to 7": (with_gate(lambda gate: F.silu(gate.clamp(max=7))), {None}),
        "for wide layers": (for_wide_layers, {None}),
        "hard": (with_gate(F.hardswish), {None}),
    },
}
