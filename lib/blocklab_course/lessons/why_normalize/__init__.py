"""The lesson why_normalize: signals through many layers, and standardizing by hand."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=40,
    exercises=("standardize", "feature_axes"),
    effort={"standardize": (10, 2), "feature_axes": (3, 1)},
    saves=("standardize",),
    runs=("relu",),
    data=("digits.npz",),
    diagram="normalization",
)
