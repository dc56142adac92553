"""A cache of keys and values, so that a model computes them once for each token and not again for every new one.

Axis letters: N text, h head of queries, g head of keys and values, L new position, S cached position, d feature.

In a causal model the key and value of a token never change. They are cached as attention takes them: already rotated,
each by its own position; `cache.length` is the position of the next token. All texts of a batch have the same length:
texts of different lengths need a cache each.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from blocklab._validation import autocast, check_flag, check_float, check_integer, check_one_device, describe
from blocklab.attention import causal_lower_right, scaled_dot_product_attention


class KeyValueCache:
    """The keys and values of the tokens that one layer has read.

    keys (N, g, S, d) and values (N, g, S, d_v), None before the first update; length: the number of tokens read;
    nbytes: the memory that keys and values take. With a window, only the last `window` positions are kept, however
    large length becomes.

    update appends key (N, g, L, d) and value (N, g, L, d_v) and returns all that the new tokens may see: with a window,
    themselves and window - 1 before them. Gradients flow through. The result shares memory with the cache, so do not
    write to it; later updates do not change it.

    Raises ValueError for another batch, number of heads, width or device than the cached ones, an empty tensor and a
    window below 1, TypeError for another dtype and for integers; the cache is then unchanged.
    Source: Pope et al. 2022, arXiv:2211.05102; window: Jiang et al. 2023, arXiv:2310.06825

    >>> cache = KeyValueCache()
    >>> keys, values = cache.update(torch.ones(1, 2, 5, 8), torch.ones(1, 2, 5, 8))
    >>> cache
    KeyValueCache(window=None, length=5, nbytes=640)
    """

    def __init__(self, window: int | None = None):
        self.window = None if window is None else check_integer("KeyValueCache", "window", window, 1)
        self.keys: Tensor | None = None
        self.values: Tensor | None = None
        self.length = 0

    @property
    def nbytes(self) -> int:
        return 0 if self.keys is None else self.keys.nbytes + self.values.nbytes

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        _check_keys_and_values(key, value)
        length = self.length + key.shape[2]
        if self.keys is not None:
            _check_matches_cache(key=(key, self.keys), value=(value, self.values))
        key, value = self._append(self.keys, key), self._append(self.values, value)
        self.keys, self.values, self.length = self._drop_old(key), self._drop_old(value), length
        return key, value

    def mask(self, L: int, S: int) -> Tensor:
        """Which of the S keys that update returned the L new tokens see, (L, S), boolean: True takes part."""
        mask = causal_lower_right(L, S)
        return mask if self.window is None else mask.triu(S - L - self.window + 1)

    def _append(self, held: Tensor | None, new: Tensor) -> Tensor:
        """The keys or values that the new tokens may see. A copy is cheap: attention reads them several times."""
        if held is None:
            return new.clone()
        first = 0 if self.window is None else max(held.shape[2] - self.window + 1, 0)
        return torch.cat([held[:, :, first:], new], 2)

    def _drop_old(self, x: Tensor) -> Tensor:
        """The part that stays cached: a clone if it is shorter than x, so that the rest is freed."""
        return x if self.window is None or x.shape[2] <= self.window else x[:, :, -self.window :].clone()

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
    """Attention of the new tokens over all tokens read so far: the same as over the whole text at once.

        y = scaled_dot_product_attention(query, *cache.update(key, value), mask)

    query: (N, h, L, d), key: (N, g, L, d), value: (N, g, L, d_v), of the new tokens alone, query and key rotated by
    positions from cache.length on; result: (N, h, L, d_v). The mask is `causal_lower_right`, restricted to the cache's
    window if it has one. h is a multiple of g, or g itself with enable_gqa=False.
    Raises the errors of `KeyValueCache` and `scaled_dot_product_attention`, ValueError for a query of other sizes and
    TypeError if cache is not a KeyValueCache; the cache is then unchanged. Source: Pope et al. 2022, arXiv:2211.05102

    >>> cache, (q, k, v) = KeyValueCache(), torch.randn(3, 1, 2, 5, 8)
    >>> steps = [cached_attention(*(x[..., i : i + 1, :] for x in (q, k, v)), cache) for i in range(5)]
    >>> torch.allclose(torch.cat(steps, -2), scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-6)
    True
    """
    function = "cached_attention"
    if not isinstance(cache, KeyValueCache):
        raise TypeError(f"{function}: expected cache to be a KeyValueCache, got {describe(cache)}")
    check_float(function, query=query, key=key, value=value)
    check_flag(function, enable_gqa=enable_gqa)
    query, key, value = autocast(query), autocast(key), autocast(value)
    _check_keys_and_values(key, value)
    _check_query(function, query, key, enable_gqa)
    with rollback_on_error(cache):
        key, value = cache.update(key, value)
        L, S = query.shape[2], key.shape[2]
        mask = cache.mask(L, S).to(query.device) if L > 1 else None  # a single new token sees every key
        return scaled_dot_product_attention(query, key, value, mask, scale=scale, enable_gqa=enable_gqa)


@contextmanager
def rollback_on_error(*caches: KeyValueCache) -> Iterator[None]:
    """Restore the caches if the body of the `with` raises."""
    before = [dict(vars(cache)) for cache in caches]
    try:
        yield
    except BaseException:  # KeyboardInterrupt too
        for cache, then in zip(caches, before, strict=True):
            vars(cache).update(then)
        raise


# Checks


def _check_keys_and_values(key: Tensor, value: Tensor) -> None:
    """Check for (N, g, L, d) and (N, g, L, d_v) of the same type, not empty."""
    check_float("KeyValueCache", key=key, value=value)
    if key.dtype != value.dtype:
        got = f"{key.dtype} and {value.dtype}"
        raise TypeError(f"KeyValueCache: expected key and value to have the same dtype, got {got}")
    for name, x in (("key", key), ("value", value)):
        if x.dim() != 4 or 0 in x.shape:
            got = tuple(x.shape)
            raise ValueError(f"KeyValueCache: expected {name} to have shape (N, g, L, d), none of them 0, got {got}")
    if key.shape[:-1] != value.shape[:-1]:
        got = f"key of shape {tuple(key.shape)} and value of shape {tuple(value.shape)}"
        raise ValueError(f"KeyValueCache: expected one value for each key, got {got}")


def _check_matches_cache(**pairs: tuple[Tensor, Tensor]) -> None:
    """Check that new keys or values match the cached ones."""
    for name, (new, held) in pairs.items():
        check_one_device("KeyValueCache", cache=held, **{name: new})
        N, g, _, d = held.shape
        if (new.shape[0], new.shape[1], new.shape[3]) != (N, g, d):
            wanted = f"({N}, {g}, L, {d}) as in the cache"
            raise ValueError(f"KeyValueCache: expected {name} to have shape {wanted}, got {tuple(new.shape)}")
        if new.dtype != held.dtype:
            wanted = f"dtype {held.dtype} as in the cache"
            raise TypeError(f"KeyValueCache: expected {name} to have {wanted}, got {new.dtype}")


def _check_query(function: str, query: Tensor, key: Tensor, enable_gqa: bool) -> None:
    """Check that query is of the same new tokens and that its heads share those of key evenly."""
    N, g, L, d = key.shape
    fits = query.dim() == 4 and (query.shape[0], query.shape[2], query.shape[3]) == (N, L, d) and query.shape[1] > 0
    if not fits or (query.shape[1] % g if enable_gqa else query.shape[1] != g):
        heads = f"h a multiple of {g}" if enable_gqa else f"h = {g}"
        wanted = f"({N}, h, {L}, {d}), {heads}, for key of shape {tuple(key.shape)}"
        raise ValueError(f"{function}: expected query to have shape {wanted}, got {tuple(query.shape)}")
    if query.dtype != key.dtype:
        raise TypeError(f"{function}: expected query and key to have the same dtype, got {query.dtype} and {key.dtype}")
