"""The matrix products of a feed-forward layer, by which of their axes is the hidden width.

x is (rows, d), h (rows, hidden), w1 (hidden, d), w2 (d, hidden). A product multiplies (M, K) by (K, N).
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
