"""The statistics of a batch that is stored in several parts: those of each part, and of two parts together.

M2 is the sum of the squared distances from the mean, not yet divided by anything. With counts, means and M2, parts of
any size can be merged; two variances alone cannot. Arithmetic is float32 or wider.
"""

import math
from collections.abc import Sequence

from torch import Tensor

from blocklab._validation import check_axes, check_float, check_integer, check_shape, upcast


def batch_statistics(x: Tensor, axes: int | Sequence[int]) -> tuple[int, Tensor, Tensor]:
    """Count, mean and M2 of the numbers that differ only in their place along the axes.

        mean = sum(x) / count,   m2 = sum((x - mean)**2)

    x: any shape; mean, m2: the shape of x without the axes, float32 or wider, and 0 for an empty part. BatchNorm
    divides by the root of m2 / count, and stores m2 / (count - 1).
    Raises ValueError for no axis, an axis out of range or named twice, TypeError for anything but a float tensor.
    Source: Chan, Golub and LeVeque 1983, "Algorithms for Computing the Sample Variance"

    >>> batch_statistics(torch.tensor([1.0, 2.0, 3.0]), 0)
    (3, tensor(2.), tensor(2.))
    """
    check_float("batch_statistics", x=x)
    axes = check_axes("batch_statistics", x, axes)
    wide = upcast(x)
    total = wide.sum(axes, keepdim=True)
    count = math.prod([x.shape[axis] for axis in axes]) if x.dim() else 1
    mean = total / max(count, 1)
    rough = wide - mean.detach()  # the mean was rounded; its error is subtracted below
    return count, mean.squeeze(axes), (rough - rough.mean(axes, keepdim=True)).square().sum(axes)


def merge_statistics(
    count_a: int, mean_a: Tensor, m2_a: Tensor, count_b: int, mean_b: Tensor, m2_b: Tensor
) -> tuple[int, Tensor, Tensor]:
    """Count, mean and M2 of two parts together, from those of each part alone.

        count = count_a + count_b,   mean = mean_a + delta * count_b / count,   delta = mean_b - mean_a
        m2 = m2_a + m2_b + delta**2 * count_a * count_b / count

    mean_a, m2_a, mean_b, m2_b: the same shape, which the results have too, in float32 or wider. An empty part, as
    `batch_statistics` returns it, changes nothing. Nothing cancels, however far the numbers are from 0.
    Raises ValueError for different shapes and negative counts, TypeError for anything but integers and float tensors.
    Source: Chan, Golub and LeVeque 1983, "Algorithms for Computing the Sample Variance"

    >>> one, zero = torch.tensor(1.0), torch.tensor(0.0)
    >>> merge_statistics(1, one, zero, 1, 3 * one, zero)
    (2, tensor(2.), tensor(2.))
    """
    count_a = check_integer("merge_statistics", "count_a", count_a, 0)
    count_b = check_integer("merge_statistics", "count_b", count_b, 0)
    check_float("merge_statistics", mean_a=mean_a, m2_a=m2_a, mean_b=mean_b, m2_b=m2_b)
    check_shape("merge_statistics", mean_a.shape, m2_a=m2_a, mean_b=mean_b, m2_b=m2_b)
    count = count_a + count_b
    part = count_b / max(count, 1)  # of b; 0 if both parts are empty
    delta = upcast(mean_b) - upcast(mean_a)
    mean = upcast(mean_a) + delta * part
    m2 = upcast(m2_a) + upcast(m2_b) + delta.square() * (count_a * part)
    return count, mean, m2
