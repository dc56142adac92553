"""Whether what a network hands on still tells digits apart, however small it is: a linear classifier is asked."""

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab.normalization import standardize

LEARNED = 1500  # digits; the others are new to the classifier


def found_by_line(x: Tensor, labels: Tensor) -> float:
    """How many of the new digits the best linear classifier of the standardized features finds, as a share.

    x: (N, d), labels: (N,). ε is 0, for it would outweigh the tiny numbers. The classifier is that of least squares.
    """
    x = F.pad(standardize(x.double(), 0, eps=0.0).nan_to_num(), (0, 1), value=1.0)  # (N, d + 1)
    scores = x @ torch.linalg.lstsq(x[:LEARNED], F.one_hot(labels[:LEARNED]).double(), driver="gelsd").solution
    return (scores.argmax(1) == labels)[LEARNED:].double().mean().item()
