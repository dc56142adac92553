"""The parts of a layer of SmolLM2, from its weights and the reader's functions."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import torch
from torch import Tensor

from blocklab_course.pretrained.decoder import DecoderBlock

Part = Callable[[Tensor], Tensor]


def parts_of(mine: SimpleNamespace) -> Callable[[DecoderBlock], tuple[Part, Part, Part, Part]]:
    """A function that makes of a block its attention, its feed-forward network and their norms."""

    def parts(block: DecoderBlock) -> tuple[Part, Part, Part, Part]:
        def normed(norm: torch.nn.Module) -> Part:
            return partial(mine.rms_norm, normalized_shape=norm.normalized_shape, weight=norm.weight, eps=norm.eps)

        matrices = {name: getattr(block.feed_forward, name).weight for name in ("w1", "w2", "w3")}
        return partial(attend, mine, block), partial(mine.swiglu, **matrices), normed(block.norm1), normed(block.norm2)

    return parts


def attend(mine: SimpleNamespace, block: DecoderBlock, x: Tensor) -> Tensor:
    """Causal attention of rotated queries and keys, each head of keys and values serving its neighbours: (N, L, d)."""
    L = x.shape[1]
    q, k, v = (mine.split_heads(y, y.shape[-1] // block.width) for y in (block.query(x), block.key(x), block.value(x)))
    q, k = (mine.rotary_embedding(y, torch.arange(L), block.rope_base) for y in (q, k))
    k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], 1) for y in (k, v))  # (N, h, L, width)
    y = mine.attention(q, k, v, mine.causal_mask(L))
    return block.out(y.transpose(1, 2).flatten(2))
