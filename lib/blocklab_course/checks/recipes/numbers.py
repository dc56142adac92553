"""Deterministic inputs: all numbers differ, and both signs occur."""

import torch
from torch import Tensor


def waves(*shape: int, start: float = 0.0) -> Tensor:
    """Return numbers between -1.5 and 1.5 without a pattern along any axis. Another `start` gives other numbers."""
    place = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (torch.sin(2.3 * place + start) + 0.5 * torch.cos(0.7 * place * place + start)).float().view(shape)


def with_outliers(*shape: int) -> Tensor:
    """Return waves with an outlier at the end of every row: standardized, it is as large as possible."""
    x = waves(*shape)
    x[..., -1] = 100
    return x
