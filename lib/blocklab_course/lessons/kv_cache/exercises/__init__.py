"""The exercises of kv_cache, in the order of the lesson."""

from .cache_bytes import CACHE_BYTES
from .cached_attention import CACHED_ATTENTION

EXERCISES = (CACHE_BYTES, CACHED_ATTENTION)
