"""Turn a stateless attention step into a `cached_attention`."""

from collections.abc import Callable

from torch import Tensor

from blocklab.kv_cache import KeyValueCache

Step = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def stateless_cache(step: Step) -> Callable[..., Tensor]:
    """A `cached_attention` made from a stateless function.

        y, keys, values = step(query, key, value, past_keys, past_values)

    The next call with the same cache passes the returned keys and values back in; on the first call the past is empty.
    The cache itself only counts positions, so a mistake in what the function returns has its effect.
    """
    states: dict[int, tuple[KeyValueCache, Tensor, Tensor]] = {}  # holds the cache too, so its id stays unique

    def cached_attention(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        cache: KeyValueCache,
        scale: float | None = None,  # noqa: ARG001
        enable_gqa: bool = True,  # noqa: ARG001
    ) -> Tensor:
        empty = cache, key[:, :, :0], value[:, :, :0]
        _, past_keys, past_values = states.get(id(cache), empty) if cache.length else empty
        y, keys, values = step(query, key, value, past_keys, past_values)
        states[id(cache)] = cache, keys, values
        cache.update(key, value)
        return y

    return cached_attention
