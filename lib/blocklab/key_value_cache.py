"""The keys and values of tokens that were read are kept, so that a new token need not read them again.

Axis letters: N text, h head of queries, g head of keys and values, L new position, S kept position, d feature.

A causal model never changes what it made of a token, so its key and value are made once. They are kept as attention
takes them: rotated already, each by its own position; `cache.length` is the position of the next token. All texts of a
batch are equally long: texts of several lengths want a cache each.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from blocklab.arguments import autocast, came, want_flag, want_float, want_integer
from blocklab.attention import causal_lower_right, scaled_dot_product_attention


class KeyValueCache:
    """The keys and values of the tokens that one layer has read.

    keys (N, g, S, d) and values (N, g, S, d_v), None before the first; length: how many tokens were read; nbytes: what
    keys and values take. With a window the last `window` positions are kept, however large length becomes.

    update: key (N, g, L, d) and value (N, g, L, d_v) come after those that are held; all is returned that the new
    tokens may see, with a window they themselves and window - 1 before them. Gradients pass. What is returned is what
    is held: it is not to be written to; an earlier result stays as it was.

    Raises ValueError for another batch, heads, width or device than what is held, an empty tensor and a window below 1,
    TypeError for another type than what is held and for integers; the cache is then as it was.

    Source: Pope et al. 2022, arXiv:2211.05102; window: Jiang et al. 2023, arXiv:2310.06825
    """

    def __init__(self, window: int | None = None):
        self.window = None if window is None else want_integer("KeyValueCache", "window", window, 1)
        self.keys: Tensor | None = None
        self.values: Tensor | None = None
        self.length = 0

    @property
    def nbytes(self) -> int:
        return 0 if self.keys is None else self.keys.nbytes + self.values.nbytes

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        _want_keys_and_values(key, value)
        length = self.length + key.shape[-2]
        if self.keys is not None:
            _want_like_held(key=(key, self.keys), value=(value, self.values))
        key, value = self._joined(self.keys, key), self._joined(self.values, value)
        self.keys, self.values, self.length = self._last(key), self._last(value), length
        return key, value

    def mask(self, L: int, S: int) -> Tensor:
        """Which of the S keys that update returned the L new tokens see, (L, S), boolean: True takes part."""
        mask = causal_lower_right(L, S)
        return mask if self.window is None else mask.triu(S - L - self.window + 1)

    def _joined(self, held: Tensor | None, new: Tensor) -> Tensor:
        """What the new tokens may see. A copy: it costs less than reading it, which attention does several times."""
        if held is None:
            return torch.cat([new], -2)
        first = 0 if self.window is None else max(held.shape[-2] - self.window + 1, 0)
        return torch.cat([held[..., first:, :], new], -2)

    def _last(self, x: Tensor) -> Tensor:
        """What is kept of it; where that is not all, in memory of its own, so that the rest is given back."""
        return x if self.window is None or x.shape[-2] <= self.window else x[..., -self.window :, :].clone()

    def __repr__(self) -> str:
        return f"KeyValueCache(window={self.window}, length={self.length}, nbytes={self.nbytes})"


def cached_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cache: KeyValueCache,
    scale: float | None = None,
    enable_gqa: bool = True,
) -> Tensor:
    """Attention of the new tokens over all that were read: what it would give them in the whole text, piece by piece.

        y = scaled_dot_product_attention(query, *cache.update(key, value), mask)

    The last query sees every key, the one before it all but the last (`causal_lower_right`); with the cache's window,
    each sees the last `window` positions, its own included. query: (N, h, L, d), key: (N, g, L, d), value:
    (N, g, L, d_v), of the new tokens alone, query and key rotated by positions from cache.length on; result:
    (N, h, L, d_v). h is a multiple of g, or g itself with enable_gqa=False.

    Raises as `KeyValueCache` and `scaled_dot_product_attention`, and ValueError for a query of other sizes, TypeError
    for what is no cache; the cache is then as it was. Source: Pope et al. 2022, arXiv:2211.05102
    """
    function = "cached_attention"
    if not isinstance(cache, KeyValueCache):
        raise TypeError(f"{function} wants cache to be a KeyValueCache, got {came(cache)}")
    want_float(function, query=query, key=key, value=value)
    want_flag(function, enable_gqa=enable_gqa)
    query, key, value = autocast(query), autocast(key), autocast(value)
    _want_keys_and_values(key, value)
    _want_query(function, query, key, enable_gqa)
    with all_or_nothing(cache):
        key, value = cache.update(key, value)
        L, S = query.shape[-2], key.shape[-2]
        mask = cache.mask(L, S).to(query.device) if L > 1 else None  # one token sees all that comes back
        return scaled_dot_product_attention(query, key, value, mask, scale=scale, enable_gqa=enable_gqa)


@contextmanager
def all_or_nothing(*caches: KeyValueCache) -> Iterator[None]:
    """Run the lines below it; where they stop with an error, the caches are as they were before."""
    before = [dict(vars(cache)) for cache in caches]
    try:
        yield
    except BaseException:  # the stop button too
        for cache, then in zip(caches, before, strict=True):
            vars(cache).update(then)
        raise


# What a cache asks of its arguments.


def _want_keys_and_values(key: Tensor, value: Tensor) -> None:
    """Refuse what is not (N, g, L, d) and (N, g, L, d_v) of one type, or empty."""
    want_float("KeyValueCache", key=key, value=value)
    if key.dtype != value.dtype:
        raise TypeError(f"KeyValueCache wants key and value of one type, got {key.dtype} and {value.dtype}")
    for name, x in (("key", key), ("value", value)):
        if x.dim() != 4 or 0 in x.shape:
            raise ValueError(f"KeyValueCache wants {name} of shape (N, g, L, d), none of them 0, got {tuple(x.shape)}")
    if key.shape[:-1] != value.shape[:-1]:
        got = f"key of {tuple(key.shape)} and value of {tuple(value.shape)}"
        raise ValueError(f"KeyValueCache wants one value for each key, got {got}")


def _want_like_held(**pairs: tuple[Tensor, Tensor]) -> None:
    """Refuse new keys or values that do not go with those that are held."""
    for name, (new, held) in pairs.items():
        N, g, _, d = held.shape
        if (new.shape[0], new.shape[1], new.shape[3]) != (N, g, d):
            wanted = f"({N}, {g}, L, {d})"
            raise ValueError(f"KeyValueCache wants {name} of shape {wanted}, as it holds, got {tuple(new.shape)}")
        if new.dtype != held.dtype:
            raise TypeError(f"KeyValueCache wants {name} of {held.dtype}, as it holds, got {new.dtype}")
        if new.device != held.device:
            raise ValueError(f"KeyValueCache wants {name} on {held.device}, as it holds, got it on {new.device}")


def _want_query(function: str, query: Tensor, key: Tensor, enable_gqa: bool) -> None:
    """Refuse a query that is not of the same new tokens, or whose heads do not share those of key evenly."""
    N, g, L, d = key.shape
    fits = query.dim() == 4 and (query.shape[0], query.shape[2], query.shape[3]) == (N, L, d) and query.shape[1] > 0
    if not fits or (query.shape[1] % g if enable_gqa else query.shape[1] != g):
        heads = f"h a multiple of {g}" if enable_gqa else f"h = {g}"
        wanted = f"({N}, h, {L}, {d}), {heads}, for key of {tuple(key.shape)}"
        raise ValueError(f"{function} wants query of shape {wanted}, got {tuple(query.shape)}")
    if query.dtype != key.dtype:
        raise TypeError(f"{function} wants query and key of one type, got {query.dtype} and {key.dtype}")
