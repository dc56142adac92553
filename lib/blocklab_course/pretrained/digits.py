"""Handwritten digits: 1797 small pictures, which are part of this package."""

import torch
from torch import Tensor

from blocklab_course.pretrained.bundled_weights import load_arrays


def load_digits() -> tuple[Tensor, Tensor]:
    """The pictures, (N, H, W), float32, from 0 (paper) to 16 (ink), and the digit on each, (N,), int64.

    N is 1797, H and W are 8.

    Source: Alpaydin and Kaynak 1998, Optical Recognition of Handwritten Digits, UCI, CC BY 4.0; the part for testing
    """
    arrays = load_arrays("digits.npz")
    return torch.from_numpy(arrays["images"]).float(), torch.from_numpy(arrays["labels"]).long()
