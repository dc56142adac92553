"""The lesson why_normalize: signals through many layers, and standardizing by hand."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=45,
    exercises=("feature_axes", "standardize"),
    effort={"feature_axes": (2, 1), "standardize": (8, 2)},
    saves=("standardize",),
    runs=("relu",),
    data=("digits.npz",),
)
