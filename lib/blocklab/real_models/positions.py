"""The position table that a trained model has learned: a small extract, see NOTICE.txt beside it."""

from importlib.resources import as_file, files

import numpy as np
import torch
from torch import Tensor


def minilm_positions() -> Tensor:
    """One row for each of MiniLM's 512 positions, which its embeddings add to the word's, (512, 384), float32.

    In the model they are `load_minilm().positions.weight`; here they have been rounded to float16.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    with as_file(files("blocklab") / "data" / "minilm_l6_positions.npz") as path, np.load(path) as arrays:
        return torch.from_numpy(arrays["positions"]).float()
