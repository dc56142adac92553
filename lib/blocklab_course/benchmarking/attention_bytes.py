"""Attention by bytes: what its scores cost where they travel through memory, and what is left where they do not.

The letters of a step: q, k, v and o are matrices (heads, length, head_dim); S are the scores and P the weights, both
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
"""The kernels of each variant. k and v are counted once a kernel, the fewest possible: a kernel that works through the
queries in blocks reads them again for every block, and only the cache can spare memory that."""


class AttentionCost(NamedTuple):
    """Bytes to and from memory, and the operations of the two matrix products."""

    moved: int
    flops: int

    @property
    def intensity(self) -> float:
        """Operations for each byte moved."""
        return self.flops / self.moved

    def bounds(self, bandwidth: float, speed: float) -> tuple[float, float]:
        """Seconds that the bytes and the operations take at least, at so many of each a second."""
        return self.moved / bandwidth, self.flops / speed


def attention_cost(
    length: int,
    head_dim: int,
    heads: int,
    dtype: torch.dtype,
    variant: str = "fused",
    scores: torch.dtype | None = None,
) -> AttentionCost:
    """What attention of one text with itself costs, forward, every token looking at all.

        fused  4 heads length head_dim numbers: q, k, v read, o written
        plain  4 heads length² more: S and P, each written and read
        flops  4 heads length² head_dim: a product and a sum for each pair, in q kᵀ and in P v

    scores: the type of S and P, where it is another than that of q, k, v and o. The softmax's own operations are not
    counted, nor the mask's bytes.

    Raises ValueError for a variant that is not in ATTENTION and a size below 1, TypeError for one that is no integer.
    """
    for name, value in {"length": length, "head_dim": head_dim, "heads": heads}.items():
        check_integer("attention_cost", name, value, 1)
    if variant not in ATTENTION_STEPS:
        raise ValueError(f"attention_cost wants a variant among {', '.join(ATTENTION_STEPS)}, got {variant!r}")
    sizes = matrix_bytes(length, head_dim, heads, dtype, scores)
    moved = sum(sizes[letter in "SP"] for step in ATTENTION_STEPS[variant] for letter in step.reads + step.writes)
    return AttentionCost(moved, 4 * heads * length**2 * head_dim)


def matrix_bytes(
    length: int, head_dim: int, heads: int, dtype: torch.dtype, scores: torch.dtype | None = None
) -> tuple[int, int]:
    """The bytes of q, k, v or o, and those of S or P."""
    return heads * length * head_dim * dtype.itemsize, heads * length**2 * (scores or dtype).itemsize
