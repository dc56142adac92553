import torch
import torch.nn.functional as F
from torch import nn

import blocklab.feed_forward


def by_linear(x, w1, w2, w3):
    return F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3), w2)


def by_einsum(x, gate, down, up):
    a = torch.einsum("...d,hd->...h", x, gate)
    return torch.einsum("...h,dh,...h->...d", a * a.sigmoid(), down, torch.einsum("...d,hd->...h", x, up))


def both_at_once(x, w1, w2, w3):
    gate, value = F.linear(x, torch.cat([w1, w3])).chunk(2, -1)
    return F.silu(gate) * value @ w2.mT


def by_glu(x, w1, w2, w3):
    gate, value = x @ w1.T, x @ w3.T
    return gate * F.glu(torch.cat([value, gate], -1)) @ w2.T


def in_place_on_its_own_copy(x, w1, w2, w3):
    hidden = F.silu(x.matmul(w1.t()))
    hidden = hidden.mul_(x.matmul(w3.t()))
    return hidden.matmul(w2.t())


def by_exponential(x, w1, w2, w3):
    gate = x @ w1.T
    return (gate / (1 + torch.exp(-gate)) * (x @ w3.T)) @ w2.T


def token_by_token(x, w1, w2, w3):
    tokens = [w2 @ (F.silu(w1 @ token) * (w3 @ token)) for token in x.flatten(0, -2)]
    return torch.stack(tokens).view(x.shape)


class Learned(nn.Module):
    def __init__(self, d_model, hidden):
        super().__init__()
        self.w1 = nn.Linear(d_model, hidden, bias=False)
        self.w3 = nn.Linear(d_model, hidden, bias=False)
        self.w2 = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


RIGHT = {
    "swiglu": {
        "linear": by_linear,
        "einsum": by_einsum,
        "both at once": both_at_once,
        "by glu": by_glu,
        "in place on its own copy": in_place_on_its_own_copy,
        "ours": blocklab.feed_forward.SwiGLU(2, 3),
        "a learner's Module": Learned(2, 3),
        "a lambda": lambda x, a, b, c: (F.silu(x @ a.T) * (x @ c.T)) @ b.T,
        "compiled": torch.compile(by_linear, backend="eager"),
    }
}
ADVISED = {
    "swiglu": {
        "by the exponential": (by_exponential, ("overflows",)),
        "token by token": (token_by_token, ("slow", "empty")),
    }
}
