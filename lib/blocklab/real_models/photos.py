"""The two photos that come with scikit-learn: a flower and a palace."""

import torch
from torch import Tensor


def photo(name: str) -> Tensor:
    """The flower or the palace, by name: (H, W, 3), 0 to 255. Raises ModuleNotFoundError without scikit-learn."""
    from sklearn.datasets import load_sample_image  # here, for it may be missing

    return torch.from_numpy(load_sample_image({"flower": "flower.jpg", "palace": "china.jpg"}[name]).copy())
