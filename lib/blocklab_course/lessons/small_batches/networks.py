"""The two networks that learn to read digits, each with normalizations of a kind that is handed in."""

from collections.abc import Callable
from functools import partial, reduce

import torch
from torch import Tensor, nn

from blocklab.batch_statistics import batch_statistics


def mlp(norm: Callable[[int], nn.Module]) -> nn.Sequential:
    """Linear layers and ReLU: BatchNorm's m is the batch size, at both places (2 and 5)."""
    hidden = [nn.Linear(64, 128), norm(128), nn.ReLU(), nn.Linear(128, 128), norm(128), nn.ReLU()]
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(128, 10))


def convolutions(norm: Callable[[int], nn.Module]) -> nn.Sequential:
    """Two convolutions, each with pooling: a sample brings 8 · 8 values to the first mean and 4 · 4 to the second."""
    first = [nn.Conv2d(1, 16, 3, padding=1), norm(16), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(16, 32, 3, padding=1), norm(32), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(128, 10))


OTHERS = {"LayerNorm": partial(nn.GroupNorm, 1), "GroupNorm": partial(nn.GroupNorm, 8)}
"""What BatchNorm is compared with. One group of all channels is a LayerNorm that takes maps as well."""

NORMS = {mlp: {"BatchNorm": nn.BatchNorm1d} | OTHERS, convolutions: {"BatchNorm": nn.BatchNorm2d} | OTHERS}
"""By the function that makes the network: the normalizations by their names, to be handed to it."""


class MergingNorm(nn.BatchNorm1d):
    """A BatchNorm for inputs of shape (N, C) that takes its statistics sample by sample and merges them.

    So does SyncBatchNorm, if every GPU holds a single sample.
    """

    def __init__(self, channels: int, merge: Callable):
        super().__init__(channels)
        self.merge = merge

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        parts = [batch_statistics(part, 0) for part in x.split(1)]
        count, mean, m2 = reduce(lambda a, b: self.merge(*a, *b), parts)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(m2 / (count - 1), self.momentum)
        return (x - mean) / (m2 / count + self.eps).sqrt() * self.weight + self.bias


def merging(merge: Callable) -> Callable[[int], MergingNorm]:
    """The normalization to be handed to `mlp`, which merges with this function."""
    return partial(MergingNorm, merge=merge)
