from typing import NamedTuple

import torch
from torch import Tensor

import blocklab.batch_statistics


class Statistics(NamedTuple):
    count: int
    mean: Tensor
    m2: Tensor


def chan(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    n = n_a + n_b
    delta = mean_b - mean_a
    return n, mean_a + delta * n_b / n, m2_a + m2_b + delta**2 * n_a * n_b / n


def both_moves(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    n = n_a + n_b
    mean = (n_a * mean_a + n_b * mean_b) / n
    return n, mean, m2_a + n_a * (mean_a - mean) ** 2 + m2_b + n_b * (mean_b - mean) ** 2


def welford(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    n, delta = n_a + n_b, mean_b - mean_a
    mean = mean_a.clone()
    mean += n_b / n * delta
    return Statistics(n, mean, m2_a + m2_b + n_b * delta * (mean_b - mean))


def stacked(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    counts = torch.tensor([n_a, n_b], dtype=mean_a.dtype)
    means, spreads = torch.stack([mean_a, mean_b]), torch.stack([m2_a, m2_b])
    mean = torch.einsum("p,p...->...", counts / counts.sum(), means)
    return n_a + n_b, mean, spreads.sum(0) + torch.einsum("p,p...->...", counts, (means - mean).square())


def in_float64(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    doubles = (x.double() for x in (mean_a, m2_a, mean_b, m2_b))
    mean, m2, other, other_m2 = doubles
    n, mean, m2 = chan(n_a, mean, m2, n_b, other, other_m2)
    return n, mean.to(mean_a.dtype), m2.to(mean_a.dtype)


def second_first(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    return chan(n_b, mean_b, m2_b, n_a, mean_a, m2_a)


def by_squares(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    n = n_a + n_b
    mean = (n_a * mean_a + n_b * mean_b) / n
    squares = m2_a + n_a * mean_a**2 + m2_b + n_b * mean_b**2
    return n, mean, squares - n * mean**2


def feature_by_feature(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    features = zip(mean_a.flatten(), m2_a.flatten(), mean_b.flatten(), m2_b.flatten(), strict=True)
    merged = [chan(n_a, mean, m2, n_b, other, other_m2) for mean, m2, other, other_m2 in features]
    mean, m2 = (torch.stack([one[place] for one in merged]).view_as(mean_a) for place in (1, 2))
    return n_a + n_b, mean, m2


RIGHT = {
    "merge_statistics": {
        "ours": blocklab.batch_statistics.merge_statistics,
        "Chan's formula": chan,
        "both means move": both_moves,
        "Welford, as a named tuple": welford,
        "stacked": stacked,
        "in float64": in_float64,
        "the second first": second_first,
        "as a list": lambda *given: list(chan(*given)),
        "compiled": torch.compile(chan, backend="eager"),
    }
}
ADVISED = {
    "merge_statistics": {
        "by squares": (by_squares, ("large-offset",)),
        "feature by feature": (feature_by_feature, ("slow", "empty")),
    }
}
