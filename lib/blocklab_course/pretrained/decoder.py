"""A modern decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU.

Axis letters: N text, L position, d feature, h head (keys and values have fewer).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from blocklab._validation import describe
from blocklab.attention import scaled_dot_product_attention
from blocklab.feed_forward import SwiGLU
from blocklab.kv_cache import KeyValueCache, cached_attention, rollback_on_error
from blocklab.normalization import RMSNorm
from blocklab.positional_encoding import rotary_embedding


@dataclass(frozen=True)
class DecoderConfig:
    """Hyperparameters. kv_heads: heads of keys and values; max_length: positions seen in training."""

    vocab_size: int
    layers: int
    d_model: int
    heads: int
    kv_heads: int
    hidden: int
    rope_base: float
    eps: float
    max_length: int


class DecoderBlock(nn.Module):
    """Pre-norm: causal attention of grouped, rotated queries, then SwiGLU, each inside a residual connection.

        x = x + out(attention(rotary(q), rotary(k), v)),  q, k, v from norm1(x);   y = x + feed_forward(norm2(x))

    x: (N, L, d), result: (N, L, d). heads / kv_heads neighbouring query heads share one head of keys and values. No
    part has a bias. With a cache, x continues the tokens in it. `attention`, `cached_attention` and `rotary_embedding`
    can be replaced, in the class or in one block; a replaced `attention` is also used with a cache.
    """

    rotary_embedding = staticmethod(rotary_embedding)
    attention = staticmethod(scaled_dot_product_attention)
    cached_attention = staticmethod(cached_attention)

    def __init__(self, config: DecoderConfig):
        super().__init__()
        d_model, width = config.d_model, config.d_model // config.heads
        self.width, self.rope_base = width, config.rope_base
        self.norm1 = RMSNorm(d_model, config.eps)
        self.query = nn.Linear(d_model, config.heads * width, bias=False)
        self.key = nn.Linear(d_model, config.kv_heads * width, bias=False)
        self.value = nn.Linear(d_model, config.kv_heads * width, bias=False)
        self.out = nn.Linear(config.heads * width, d_model, bias=False)
        self.norm2 = RMSNorm(d_model, config.eps)
        self.feed_forward = SwiGLU(d_model, config.hidden)

    def forward(self, x: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        x = x + self.attend(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))

    def attend(self, x: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + x.shape[1], device=x.device)
        q, k, v = (self._split(project(x)) for project in (self.query, self.key, self.value))
        both = torch.cat([q, k], 1)  # both rotate by the same angles, so compute them once
        both = self.rotary_embedding(both, positions, self.rope_base, pairing="adjacent")
        q, k = both.split([q.shape[1], k.shape[1]], 1)
        if cache is None:
            y = self.attention(q, k, v, is_causal=True, enable_gqa=True)
        elif self.attention is scaled_dot_product_attention or self.cached_attention is not cached_attention:
            y = self.cached_attention(q, k, v, cache)
        else:  # only `attention` was replaced: pass it the cached keys and values, and a mask
            k, v = cache.update(k, v)
            mask = cache.mask(q.shape[2], k.shape[2]).to(x.device)
            y = self.attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        """(N, L, h * width) to (N, h, L, width)."""
        return x.unflatten(-1, (-1, self.width)).transpose(1, 2)


class Decoder(nn.Module):
    """Embedding, blocks, a final RMSNorm, and a score for every token that could come next.

        logits = norm(blocks(tokens.weight[ids])) @ tokens.weight.T

    ids: (N, L), integers; result: (N, L, vocab_size). The output matrix is the embedding. With `caches`, one for each
    block as `new_caches` returns them, ids continue the tokens already read with them.

    Raises ValueError for a wrong shape, more positions than in training, or caches of another model, and TypeError for
    anything but caches. After an error the caches are unchanged.

    Source: Touvron et al. 2023, arXiv:2302.13971; grouped-query attention: Ainslie et al. 2023, arXiv:2305.13245
    """

    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.max_length = config.max_length
        # Without random initialization: on the device "meta", torch would spend a second importing modules for it.
        table = torch.empty(config.vocab_size, config.d_model)
        self.tokens = nn.Embedding.from_pretrained(table, freeze=False)
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.d_model, config.eps)

    def forward(self, ids: Tensor, caches: Sequence[KeyValueCache] | None = None) -> Tensor:
        return self.states(ids, caches) @ self.tokens.weight.T

    def states(self, ids: Tensor, caches: Sequence[KeyValueCache] | None = None) -> Tensor:
        """The hidden states that the scores are computed from, (N, L, d)."""
        cached = 0 if caches is None else self._cached_length(caches)
        if ids.dim() != 2 or cached + ids.shape[1] > self.max_length:
            expected = f"(N, L), L at most {self.max_length - cached}" + (f" after {cached} cached" if cached else "")
            raise ValueError(f"{type(self).__name__}: expected ids to have shape {expected}, got {tuple(ids.shape)}")
        x = self.tokens(ids)
        if caches is None:
            for block in self.blocks:
                x = block(x)
        else:
            with rollback_on_error(*caches):
                for block, cache in zip(self.blocks, caches, strict=True):
                    x = block(x, cache)
        return self.norm(x)

    def new_caches(self) -> list[KeyValueCache]:
        """One empty cache for each block."""
        return [KeyValueCache() for _ in self.blocks]

    def _cached_length(self, caches: Sequence[KeyValueCache]) -> int:
        """The number of tokens in the caches. Raises an error unless there is one cache for each block."""
        name, count = type(self).__name__, len(self.blocks)
        if not isinstance(caches, list | tuple) or not all(isinstance(cache, KeyValueCache) for cache in caches):
            raise TypeError(f"{name}: expected caches to be a list of {count} KeyValueCache, got {describe(caches)}")
        if len(caches) != count or len(set(map(id, caches))) != count:
            got = len(caches) if len(caches) != count else "the same one twice"
            raise ValueError(f"{name}: expected {count} different caches, one for each block, got {got}")
        if len(lengths := {cache.length for cache in caches}) > 1:
            raise ValueError(f"{name}: expected caches of equal length, got {sorted(lengths)}")
        return lengths.pop()
