"""The lesson small_batches: what a batch of few samples does to BatchNorm."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=35,
    side_trip=True,
    exercises=("values_per_mean", "merge_statistics"),
    effort={"values_per_mean": (4, 2), "merge_statistics": (10, 2)},
    saves=("merge_statistics",),
    data=("digits.npz",),
    diagram="normalization",
)
