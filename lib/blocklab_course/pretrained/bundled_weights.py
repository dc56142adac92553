"""Small extracts of trained models that ship with this package; see NOTICE.txt beside the data."""

from collections.abc import Mapping
from importlib.resources import as_file, files

import numpy as np
import torch
from torch import Tensor

from blocklab_course.pretrained import weight_names


def minilm_layer_norms() -> dict[str, Tensor]:
    """Weight and bias of all 13 LayerNorms of MiniLM, from the embeddings up, each (384,), float32.

    The names are those of `load_minilm().state_dict()`: embedding_norm.weight, embedding_norm.bias, and for layers 0 to
    5 layers.0.norm1.weight (around attention), layers.0.norm2.weight (around the feed-forward network), and so on.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    return _renamed_tensors("minilm_l6_layernorm.npz", weight_names.BERT)


def smollm2_rms_norms() -> dict[str, Tensor]:
    """Weights of all 61 RMSNorms of SmolLM2-135M, from the first layer up, each (576,), float32.

    For layers 0 to 29 the names are layers.0.norm1.weight (before attention) and layers.0.norm2.weight (before the
    feed-forward network); norm.weight comes after the last layer. `load_smollm2().state_dict()` calls them
    blocks.0.norm1.weight and so on.

    Source: SmolLM2-135M-Instruct, Apache-2.0
    """
    return _renamed_tensors("smollm2_135m_rmsnorm.npz", weight_names.SMOLLM2)


def minilm_positions() -> Tensor:
    """MiniLM's learned position embeddings, one row for each of its 512 positions, (512, 384), float32.

    They are `load_minilm().positions.weight`, rounded to float16.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    return torch.from_numpy(load_arrays("minilm_l6_positions.npz")["positions"]).float()


def load_arrays(file: str) -> dict[str, np.ndarray]:
    """Load all arrays of a bundled .npz file, by name."""
    with as_file(files("blocklab_course") / "data" / file) as path, np.load(path) as arrays:
        return dict(arrays)


def _renamed_tensors(file: str, names: Mapping[str, str]) -> dict[str, Tensor]:
    tensors = {name: torch.from_numpy(array) for name, array in load_arrays(file).items()}
    return weight_names.rename_weights(tensors, names)
