"""Numbers for the inputs of the checks: the same on every machine, all different, and of both signs."""

import torch
from torch import Tensor


def waves(*shape: int, start: float = 0.0) -> Tensor:
    """Numbers between -1.5 and 1.5 without a pattern that a wrong axis could share. `start` gives other ones."""
    place = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (torch.sin(2.3 * place + start) + 0.5 * torch.cos(0.7 * place * place + start)).float().view(shape)


def with_outliers(*shape: int) -> Tensor:
    """Waves, the last number of every row far from the others: standardized, it is as large as it can be."""
    x = waves(*shape)
    x[..., -1] = 100
    return x
