"""glassllm: a small decoder as language models are built today: RMSNorm, rotary positions, grouped queries, SwiGLU.

Axis letters: N text, L position, d feature (128), h head (4, and 2 of keys and values).
"""

import json

import numpy as np
import torch
from torch import Tensor, nn

from blocklab.attention import scaled_dot_product_attention
from blocklab.feed_forward import SwiGLU, hidden_width
from blocklab.normalization import RMSNorm
from blocklab.packages import want_file
from blocklab.positional_encoding import rotary_embedding
from blocklab.real_models import names

LANGUAGES = ("en", "pt")


class GlassBlock(nn.Module):
    """Pre-norm: causal attention of grouped, rotated queries, then SwiGLU, each inside a residual connection.

        x = x + out(attention(rotary(q), rotary(k), v)),  q, k, v from norm1(x);   y = x + feed_forward(norm2(x))

    x: (N, L, d), result: (N, L, d). Two query heads share one head of keys and values. Nothing has a bias.
    """

    def __init__(self, d_model: int, heads: int, groups: int, rope_base: float, eps: float):
        super().__init__()
        width = d_model // heads
        self.width, self.rope_base = width, rope_base
        self.norm1 = RMSNorm(d_model, eps)
        self.query = nn.Linear(d_model, heads * width, bias=False)
        self.key = nn.Linear(d_model, groups * width, bias=False)
        self.value = nn.Linear(d_model, groups * width, bias=False)
        self.out = nn.Linear(heads * width, d_model, bias=False)
        self.norm2 = RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, hidden_width(d_model, multiple_of=1))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))

    def attend(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[1], device=x.device)
        q, k, v = (self._split(project(x)) for project in (self.query, self.key, self.value))
        q, k = (rotary_embedding(heads, positions, self.rope_base, pairing="adjacent") for heads in (q, k))
        y = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        """(N, L, h * width) to (N, h, L, width)."""
        return x.unflatten(-1, (-1, self.width)).transpose(1, 2)


class GlassLM(nn.Module):
    """Embed, four blocks, one more RMSNorm, and a score for every token that could come next.

        logits = norm(blocks(tokens.weight[ids])) @ tokens.weight.T

    ids: (N, L), integers; result: (N, L, vocabulary). The embedding is also the last matrix.

    Raises ValueError for another shape and more positions than the model was trained on.

    Source: the package glassllm, MIT
    """

    def __init__(self, config: dict):
        super().__init__()
        d_model = config["d_model"]
        shape = d_model, config["n_heads"], config["n_kv_heads"], config["rope_base"], config["eps"]
        self.longest = config["max_len"]
        self.tokens = nn.Embedding(config["vocab_size"], d_model)
        self.blocks = nn.ModuleList(GlassBlock(*shape) for _ in range(config["n_layers"]))
        self.norm = RMSNorm(d_model, config["eps"])

    def forward(self, ids: Tensor) -> Tensor:
        if ids.dim() != 2 or ids.shape[1] > self.longest:
            raise ValueError(f"GlassLM wants ids of shape (N, L), L at most {self.longest}, got {tuple(ids.shape)}")
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.weight.T


def load_glassllm(language: str = "en") -> GlassLM:
    """The model of glassllm for "en" or "pt", trained, in eval(), float32: 852,608 numbers.

    Its tokens: glassllm.load_pretrained(language)[1].encode(text).

    Raises ValueError for another language, ModuleNotFoundError, with the command that helps, without the package.

    Source: the package glassllm, MIT
    """
    if language not in LANGUAGES:
        raise ValueError(f"load_glassllm wants language to be one of {', '.join(LANGUAGES)}, got {language!r}")
    with np.load(want_file("load_glassllm", "glassllm", f"weights/{language}.npz")) as arrays:
        config = json.loads(str(arrays["__config__"]))
        state = {name: torch.from_numpy(arrays[name]).float() for name in arrays.files if name != "__config__"}
    with torch.device("meta"):  # the numbers are there already
        model = GlassLM(config)
    # There a matrix has the shape (in, out), and stands on the right.
    state = {name: x.T if ".W" in name else x for name, x in state.items()}
    model.load_state_dict(names.renamed(state, names.GLASSLLM), strict=True, assign=True)
    return model.eval()
