"""The position table that a trained model has learned: a small extract."""

import torch
from torch import Tensor

from blocklab_course.pretrained.bundled_arrays import load_arrays


def minilm_positions() -> Tensor:
    """One row for each of MiniLM's 512 positions, which its embeddings add to the word's, (512, 384), float32.

    In the model they are `load_minilm().positions.weight`; here they have been rounded to float16.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    return torch.from_numpy(load_arrays("minilm_l6_positions.npz")["positions"]).float()
