"""The lesson small_batches: what a batch of few samples does to BatchNorm."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=30,
    exercises=("values_per_mean", "merge_statistics"),
    saves=("merge_statistics",),
    data=("digits.npz",),
)
