import math

import torch
import torch.nn.functional as F
from torch import nn

import blocklab.feed_forward


def gelu_in_place(x):
    share = torch.erf(x * 0.5**0.5)
    share += 1
    share *= 0.5
    return share.mul_(x)


def gelu_by_distribution(x):
    return x * torch.distributions.Normal(torch.zeros_like(x), 1).cdf(x)


def gelu_number_by_number(x):
    return torch.stack([t * (1 + torch.erf(t / math.sqrt(2))) / 2 for t in x.flatten()]).view(x.shape)


class LearnedGELU(nn.Module):
    def forward(self, x):
        return x * torch.special.ndtr(x)


def swish_by_exponential(x, beta=1.0):
    return x / (1 + torch.exp(-beta * x))


def swish_by_two_exponentials(x, beta=1.0):
    grown = torch.exp(beta * x)
    return x * grown / (1 + grown)


def swish_by_tanh(x, beta=1.0):
    return x * (1 + torch.tanh(beta * x / 2)) / 2


def swish_of_a_number(x, beta=1.0):
    return x * torch.sigmoid(float(beta) * x)


def swish_number_by_number(x, beta=1.0):
    return torch.stack([t * torch.sigmoid(beta * t) for t in x.flatten()]).view(x.shape)


class LearnedSwish(nn.Module):
    def forward(self, x, beta=1.0):
        return x * F.sigmoid(x * beta)


def glu_by_narrow(x, dim=-1):
    half = x.size(dim) // 2
    return torch.sigmoid(x.narrow(dim, half, half)) * x.narrow(dim, 0, half)


def glu_by_split(x, axis=-1):
    a, b = torch.split(x, x.shape[axis] // 2, axis)
    return a * (0.5 + 0.5 * torch.tanh(b / 2))


def glu_by_moving(x, dim=-1):
    value, gate = x.movedim(dim, 0).unflatten(0, (2, -1))
    return (value * gate.sigmoid()).movedim(0, dim)


def glu_by_indices(x, dim=-1):
    half = x.shape[dim] // 2
    place = torch.arange(half)
    return x.index_select(dim, place) * x.index_select(dim, place + half).sigmoid()


def glu_by_exponential(x, dim=-1):
    a, b = x.chunk(2, dim)
    return a * b.exp() / (1 + b.exp())


def glu_place_by_place(x, dim=-1):
    half = x.shape[dim] // 2
    pieces = [x.select(dim, i) * torch.sigmoid(x.select(dim, i + half)) for i in range(half)]
    return torch.stack(pieces, dim)


def glu_row_by_row(x, dim=-1):
    if dim in (-1, x.dim() - 1) and x.dim() > 1:
        return torch.stack([glu_row_by_row(row) for row in x])
    return F.glu(x, dim)


RIGHT = {
    "relu": {
        "ours": blocklab.feed_forward.relu,
        "torch's": F.relu,
        "a Module": nn.ReLU(),
        "clamped": lambda x: x.clamp(min=0),
        "a new one, in place": lambda x: x.clone().relu_(),
        "times a comparison": lambda x: x * (x > 0),
        "where": lambda x: torch.where(x > 0, x, 0.0),
        "filled": lambda x: x.masked_fill(x < 0, 0),
        "half of the sum": lambda x: (x + x.abs()) / 2,
        "the larger": lambda x: torch.maximum(x, torch.zeros_like(x)),
    },
    "gelu": {
        "torch": F.gelu,
        "torch's Module": nn.GELU(),
        "ours": blocklab.feed_forward.gelu,
        "in place on its own copy": gelu_in_place,
        "by the distribution": gelu_by_distribution,
        "a lambda": lambda x: 0.5 * x * (1.0 + torch.erf(x / 2**0.5)),
        "by erfc": lambda x: x * torch.erfc(-x / math.sqrt(2)) / 2,
        "a learner's Module": LearnedGELU(),
        "compiled": torch.compile(lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2, backend="eager"),
    },
    "swish": {
        "ours": blocklab.feed_forward.swish,
        "a lambda": lambda x, b=1.0: x * torch.sigmoid(b * x),
        "by tanh": swish_by_tanh,
        "by logsigmoid": lambda x, beta=1.0: x * F.logsigmoid(beta * x).exp(),
        "a learner's Module": LearnedSwish(),
        "compiled": torch.compile(lambda x, beta=1.0: x * (beta * x).sigmoid(), backend="eager"),
    },
    "glu": {
        "torch": F.glu,
        "ours": blocklab.feed_forward.glu,
        "narrow": glu_by_narrow,
        "split": glu_by_split,
        "moved to the front": glu_by_moving,
        "index_select": glu_by_indices,
        "place by place": glu_place_by_place,
        "compiled": torch.compile(F.glu, backend="eager"),
    },
}
ADVISED = {
    "gelu": {
        "number by number": (gelu_number_by_number, ("slow", "empty")),
        "with four digits of the root": (lambda x: x * (1 + torch.erf(x / 1.4142)) / 2, ("float64",)),
    },
    "swish": {
        "by the exponential": (swish_by_exponential, ("overflows",)),
        "by two exponentials": (swish_by_two_exponentials, ("overflows",)),
        "by silu": (lambda x, beta=1.0: F.silu(beta * x) / beta, ("beta-of-zero",)),
        "beta as a number": (swish_of_a_number, ("learned-beta",)),
        "number by number": (swish_number_by_number, ("slow", "empty")),
    },
    "glu": {
        "by the exponential": (glu_by_exponential, ("overflows",)),
        "row by row": (glu_row_by_row, ("slow", "empty")),
    },
}
