"""The checks of the fused functions beyond those of the plain ones: a GPU, three types, a width."""

import math
import os
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from blocklab._validation import check_normalized_shape, check_one_device, check_shape, check_tensor

WIDEST = 65536  # the widest row that the tests cover
TYPES = [torch.float32, torch.float16, torch.bfloat16]

# Triton's interpreter runs the kernels on the CPU, in float64 too. It is chosen on import, when kernels are defined.
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def check_fused(function: str, or_none: Mapping[str, Tensor | None] | None = None, **tensors: Tensor) -> None:
    """Check that all are tensors of one of the three types on one CUDA device. Those of `or_none` may be None."""
    types = [*TYPES, torch.float64] if INTERPRETED else TYPES
    tensors |= {name: tensor for name, tensor in (or_none or {}).items() if tensor is not None}
    for name, tensor in tensors.items():
        check_tensor(function, name, tensor)
        if tensor.dtype not in types:
            raise TypeError(f"{function}: expected {name} to be float32, float16 or bfloat16, got {tensor.dtype}")
        if tensor.device.type != "cuda" and not INTERPRETED:
            lacking = "" if torch.cuda.is_available() else "; this machine has no CUDA device, or its PyTorch no CUDA"
            raise ValueError(f"{function}: expected {name} on a CUDA device, got it on {tensor.device}{lacking}")
    check_one_device(function, **tensors)


def check_width(function: str, x: Tensor, normalized_shape: Sequence[int], **vectors: Tensor | None) -> int:
    """The number of elements in normalized_shape, with which the shape of x ends and which the vectors have."""
    shape = check_normalized_shape(function, x, normalized_shape)
    check_shape(function, shape, **vectors)
    width = math.prod(shape)
    if not 1 <= width <= WIDEST:
        raise ValueError(f"{function}: expected normalized_shape to have 1 to {WIDEST} elements, got {width}")
    return width
