"""Attention that is handed what was kept, and hands it on, in the place of one that keeps it itself."""

from collections.abc import Callable

from torch import Tensor

from blocklab.kv_cache import KeyValueCache

Step = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def stateless_cache(step: Step) -> Callable[..., Tensor]:
    """A `cached_attention` made of a function without a memory.

        y, keys, values = step(query, key, value, past_keys, past_values)

    What it returns for a cache it is handed the next time; before the first time the past has no position. The cache
    itself only counts, so what the function gets wrong in keeping shows.
    """
    held: dict[int, tuple[KeyValueCache, Tensor, Tensor]] = {}  # the cache too: so its number stays its own

    def cached_attention(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        cache: KeyValueCache,
        scale: float | None = None,  # noqa: ARG001
        enable_gqa: bool = True,  # noqa: ARG001
    ) -> Tensor:
        none_yet = cache, key[:, :, :0], value[:, :, :0]
        _, past_keys, past_values = held.get(id(cache), none_yet) if cache.length else none_yet
        y, keys, values = step(query, key, value, past_keys, past_values)
        held[id(cache)] = cache, keys, values
        cache.update(key, value)
        return y

    return cached_attention
