"""The decoder as language models are built today: RMSNorm, rotary positions, grouped queries, SwiGLU.

Axis letters: N text, L position, d feature, h head (fewer of keys and values).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from blocklab.attention import scaled_dot_product_attention
from blocklab.feed_forward import SwiGLU
from blocklab.normalization import RMSNorm
from blocklab.positional_encoding import rotary_embedding


@dataclass(frozen=True)
class Sizes:
    """What one decoder differs in from another. groups: heads of keys and values; longest: positions in training."""

    vocabulary: int
    layers: int
    d_model: int
    heads: int
    groups: int
    hidden: int
    rope_base: float
    eps: float
    longest: int


class DecoderBlock(nn.Module):
    """Pre-norm: causal attention of grouped, rotated queries, then SwiGLU, each inside a residual connection.

        x = x + out(attention(rotary(q), rotary(k), v)),  q, k, v from norm1(x);   y = x + feed_forward(norm2(x))

    x: (N, L, d), result: (N, L, d). heads / groups neighbouring query heads share one head of keys and values. Nothing
    has a bias. `attention` and `rotary_embedding` can be replaced, in the class or in one block.
    """

    rotary_embedding = staticmethod(rotary_embedding)
    attention = staticmethod(scaled_dot_product_attention)

    def __init__(self, sizes: Sizes):
        super().__init__()
        d_model, width = sizes.d_model, sizes.d_model // sizes.heads
        self.width, self.rope_base = width, sizes.rope_base
        self.norm1 = RMSNorm(d_model, sizes.eps)
        self.query = nn.Linear(d_model, sizes.heads * width, bias=False)
        self.key = nn.Linear(d_model, sizes.groups * width, bias=False)
        self.value = nn.Linear(d_model, sizes.groups * width, bias=False)
        self.out = nn.Linear(sizes.heads * width, d_model, bias=False)
        self.norm2 = RMSNorm(d_model, sizes.eps)
        self.feed_forward = SwiGLU(d_model, sizes.hidden)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))

    def attend(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[1], device=x.device)
        q, k, v = (self._split(project(x)) for project in (self.query, self.key, self.value))
        q, k = (self.rotary_embedding(heads, positions, self.rope_base, pairing="adjacent") for heads in (q, k))
        y = self.attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        """(N, L, h * width) to (N, h, L, width)."""
        return x.unflatten(-1, (-1, self.width)).transpose(1, 2)


class Decoder(nn.Module):
    """Embed, the blocks, one more RMSNorm, and a score for every token that could come next.

        logits = norm(blocks(tokens.weight[ids])) @ tokens.weight.T

    ids: (N, L), integers; result: (N, L, vocabulary). The embedding is also the last matrix.

    Raises ValueError for another shape and more positions than the model was trained on.

    Source: Touvron et al. 2023, arXiv:2302.13971; groups: Ainslie et al. 2023, arXiv:2305.13245
    """

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.longest = sizes.longest
        # Not drawn: on the device "meta" torch would first import a second's worth of modules.
        table = torch.empty(sizes.vocabulary, sizes.d_model)
        self.tokens = nn.Embedding.from_pretrained(table, freeze=False)
        self.blocks = nn.ModuleList(DecoderBlock(sizes) for _ in range(sizes.layers))
        self.norm = RMSNorm(sizes.d_model, sizes.eps)

    def forward(self, ids: Tensor) -> Tensor:
        return self.states(ids) @ self.tokens.weight.T

    def states(self, ids: Tensor) -> Tensor:
        """What the scores are made of, (N, L, d)."""
        if ids.dim() != 2 or ids.shape[1] > self.longest:
            wanted = f"(N, L), L at most {self.longest}"
            raise ValueError(f"{type(self).__name__} wants ids of shape {wanted}, got {tuple(ids.shape)}")
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)
