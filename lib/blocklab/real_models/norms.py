"""What the norms of two trained models have learned: small extracts, see NOTICE.txt beside them."""

import re
from importlib.resources import as_file, files

import numpy as np
import torch
from torch import Tensor

MINILM_NAMES = {  # BERT's name in the file, and ours
    "embeddings.LayerNorm": "embedding_norm",
    "attention.output.LayerNorm": "norm1",
    "output.LayerNorm": "norm2",
    "encoder.layer": "layers",
}
SMOLLM2_NAMES = {"attn_norm": "norm1", "ffn_norm": "norm2", "output_norm": "norm", "blk": "layers"}


def minilm_layer_norms() -> dict[str, Tensor]:
    """Weight and bias of all 13 LayerNorms of MiniLM, from the embeddings up, each (384,), float32.

    The names are those of `load_minilm().state_dict()`: embedding_norm.weight, embedding_norm.bias, and for layers 0 to
    5 layers.0.norm1.weight (around attention), layers.0.norm2.weight (around the feed-forward network), and so on.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    return _extract("minilm_l6_layernorm.npz", MINILM_NAMES)


def smollm2_rms_norms() -> dict[str, Tensor]:
    """Weights of all 61 RMSNorms of SmolLM2-135M, from the first layer up, each (576,), float32.

    The names: for layers 0 to 29 layers.0.norm1.weight (before attention) and layers.0.norm2.weight (before the
    feed-forward network), and norm.weight, the one after the last layer.

    Source: SmolLM2-135M-Instruct, Apache-2.0
    """
    return _extract("smollm2_135m_rmsnorm.npz", SMOLLM2_NAMES)


def renamed(name: str, names: dict[str, str]) -> str:
    """A name with the first of `names` that starts one of its dotted parts, and every other such one, replaced."""
    return re.sub(rf"(?<![\w.])({'|'.join(names)})(?=\.)", lambda match: names[match[1]], name)


def _extract(file: str, names: dict[str, str]) -> dict[str, Tensor]:
    with as_file(files("blocklab") / "data" / file) as path, np.load(path) as arrays:
        tensors = {renamed(name, names): torch.from_numpy(arrays[name]) for name in arrays.files}
    return dict(sorted(tensors.items(), key=lambda item: _from_bottom_to_top(item[0])))
