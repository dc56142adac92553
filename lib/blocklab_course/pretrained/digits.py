"""Handwritten digits: 1797 small bundled pictures."""

import torch
from torch import Tensor

from blocklab_course.pretrained.bundled_weights import load_arrays


def load_digits() -> tuple[Tensor, Tensor]:
    """Images, (1797, 8, 8), float32, from 0 (paper) to 16 (ink), and their labels, (1797,), int64.

    Source: Alpaydin and Kaynak 1998, Optical Recognition of Handwritten Digits, UCI, CC BY 4.0; the test set
    """
    arrays = load_arrays("digits.npz")
    return torch.from_numpy(arrays["images"]).float(), torch.from_numpy(arrays["labels"]).long()
