"""What the norms of two trained models have learned: small extracts."""

from collections.abc import Mapping

import torch
from torch import Tensor

from blocklab_course.pretrained import weight_names
from blocklab_course.pretrained.bundled_arrays import load_arrays


def minilm_layer_norms() -> dict[str, Tensor]:
    """Weight and bias of all 13 LayerNorms of MiniLM, from the embeddings up, each (384,), float32.

    The names are those of `load_minilm().state_dict()`: embedding_norm.weight, embedding_norm.bias, and for layers 0 to
    5 layers.0.norm1.weight (around attention), layers.0.norm2.weight (around the feed-forward network), and so on.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    return _extract("minilm_l6_layernorm.npz", weight_names.BERT)


def smollm2_rms_norms() -> dict[str, Tensor]:
    """Weights of all 61 RMSNorms of SmolLM2-135M, from the first layer up, each (576,), float32.

    The names: for layers 0 to 29 layers.0.norm1.weight (before attention) and layers.0.norm2.weight (before the
    feed-forward network), and norm.weight, the one after the last layer. In load_smollm2().state_dict() they are called
    blocks.0.norm1.weight and so on.

    Source: SmolLM2-135M-Instruct, Apache-2.0
    """
    return _extract("smollm2_135m_rmsnorm.npz", weight_names.SMOLLM2)


def _extract(file: str, own: Mapping[str, str]) -> dict[str, Tensor]:
    return weight_names.rename_weights(
        {name: torch.from_numpy(array) for name, array in load_arrays(file).items()}, own
    )
