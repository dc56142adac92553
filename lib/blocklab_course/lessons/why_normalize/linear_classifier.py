"""Whether what a network hands on still tells digits apart, however small it is: a linear classifier is asked."""

import torch
import torch.nn.functional as F
from torch import Tensor

LEARNED = 1500  # digits; the others are new to the classifier


def found_by_line(x: Tensor, labels: Tensor) -> float:
    """How many of the new digits the linear classifier of least squares finds, as a share; no size is too small for it.

    x: (N, d), labels: (N,).
    """
    x = F.pad(x.double(), (0, 1), value=1.0)  # (N, d + 1)
    scores = x @ torch.linalg.lstsq(x[:LEARNED], F.one_hot(labels[:LEARNED]).double(), driver="gelsd").solution
    return (scores.argmax(1) == labels)[LEARNED:].double().mean().item()
