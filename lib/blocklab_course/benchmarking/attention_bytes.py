"""The memory traffic of attention: with the scores in memory, and with a fused kernel that keeps them on chip.

Letters in a step: q, k, v and o have shape (heads, length, head_dim); S are the scores and P the weights, both
(heads, length, length).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from blocklab._validation import check_integer
from blocklab_course.benchmarking.memory_traffic import Step

_FIRST, _LAST = Step("S = q kᵀ / √d", "qk", "S", "q kᵀ"), Step("o = P v", "Pv", "o", "P v")
_SOFTMAX = Step("P = softmax of S", "S", "P", "softmax")

ATTENTION_STEPS: dict[str, Sequence[Step]] = {
    "fused": [Step("o = softmax(q kᵀ / √d) v", "qkv", "o")],
    "plain": [_FIRST, _SOFTMAX, _LAST],
    "eager": [
        Step("S = q kᵀ", "qk", "S", "q kᵀ"),
        Step("S / √d", "S", "S", "÷ √d"),
        Step("S + mask", "S", "S", "+ mask"),
        _SOFTMAX,
        _LAST,
    ],
}
"""The kernels of each variant. k and v count once per kernel, which is the minimum: a kernel that processes the queries
in blocks reads them again for every block, and only the cache can keep those reads from memory."""


class AttentionCost(NamedTuple):
    """Bytes read from and written to memory, and operations of the two matrix products."""

    moved: int
    flops: int

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.moved

    def bounds(self, bandwidth: float, speed: float) -> tuple[float, float]:
        """The least time in seconds for the bytes and for the operations, given how many of each run per second."""
        return self.moved / bandwidth, self.flops / speed


def attention_cost(
    length: int,
    head_dim: int,
    heads: int,
    dtype: torch.dtype,
    variant: str = "fused",
    scores: torch.dtype | None = None,
) -> AttentionCost:
    """The cost of the forward pass of self-attention over one text, without a causal mask.

        fused  4 heads length head_dim numbers: q, k, v read, o written
        plain  4 heads length² more: S and P, each written and read
        flops  4 heads length² head_dim: a product and a sum for each pair, in q kᵀ and in P v

    scores: the dtype of S and P, if it differs from that of q, k, v and o. Neither the operations of the softmax nor
    the bytes of the mask are counted.

    Raises ValueError for an unknown variant and sizes below 1, TypeError for sizes that are no integers.
    """
    for name, value in {"length": length, "head_dim": head_dim, "heads": heads}.items():
        check_integer("attention_cost", name, value, 1)
    if variant not in ATTENTION_STEPS:
        names = ", ".join(ATTENTION_STEPS)
        raise ValueError(f"attention_cost: expected variant to be one of {names}, got {variant!r}")
    sizes = matrix_bytes(length, head_dim, heads, dtype, scores)
    moved = sum(sizes[letter in "SP"] for step in ATTENTION_STEPS[variant] for letter in step.reads + step.writes)
    return AttentionCost(moved, 4 * heads * length**2 * head_dim)


def matrix_bytes(
    length: int, head_dim: int, heads: int, dtype: torch.dtype, scores: torch.dtype | None = None
) -> tuple[int, int]:
    """Bytes of each of q, k, v and o, and of each of S and P."""
    return heads * length * head_dim * dtype.itemsize, heads * length**2 * (scores or dtype).itemsize
