"""The matrix products of a feed-forward layer, by the axis of a product that the hidden width is.

x is (rows, d), h (rows, hidden), w1 (hidden, d), w2 (d, hidden). The axes are those of (M, K) times (K, N).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as F

from blocklab_course.benchmarking.calls import Function

Shape = tuple[int, int]


class Product(NamedTuple):
    """One product: its formula, the shapes of its two inputs for (rows, d, hidden), and the function."""

    formula: str
    shapes: Callable[[int, int, int], tuple[Shape, Shape]]
    compute: Function


PRODUCTS = {
    "N": Product("h = x @ w1.T", lambda rows, d, hidden: ((rows, d), (hidden, d)), F.linear),
    "K": Product("y = h @ w2.T", lambda rows, d, hidden: ((rows, hidden), (d, hidden)), F.linear),
    "M": Product("dw1 = dh.T @ x", lambda rows, d, hidden: ((rows, hidden), (rows, d)), lambda dh, x: dh.T @ x),
}
