"""The lesson why_normalize: signals through many layers, and standardizing by hand."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=25,
    exercises=("feature_axes", "standardize"),
    saves=("standardize",),
    runs=("relu",),
    data=("digits.npz",),
)
