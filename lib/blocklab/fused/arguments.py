"""What the fused functions ask of their arguments beyond what the plain ones ask: a GPU, three types, a width."""

import math
import os
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from blocklab.arguments import want_ending, want_one_device, want_shape, want_tensor

WIDEST = 65536  # the widest row that the tests compile and check
TYPES = [torch.float32, torch.float16, torch.bfloat16]

# Triton's interpreter runs the kernels on the CPU, in float64 too. Chosen when the kernels are defined: on import.
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def want_fused(function: str, or_none: Mapping[str, Tensor | None] | None = None, **tensors: Tensor) -> None:
    """Refuse what is not a tensor of one of the three types on the one CUDA device. `or_none` may be left out."""
    types = [*TYPES, torch.float64] if INTERPRETED else TYPES
    tensors |= {name: tensor for name, tensor in (or_none or {}).items() if tensor is not None}
    for name, tensor in tensors.items():
        want_tensor(function, name, tensor)
        if tensor.dtype not in types:
            raise TypeError(f"{function} wants {name} of type float32, float16 or bfloat16, got {tensor.dtype}")
        if tensor.device.type != "cuda" and not INTERPRETED:
            lacking = "" if torch.cuda.is_available() else "; this machine has no CUDA device, or its PyTorch no CUDA"
            raise ValueError(f"{function} wants {name} on a CUDA device, got it on {tensor.device}{lacking}")
    want_one_device(function, **tensors)


def want_width(function: str, x: Tensor, normalized_shape: Sequence[int], **vectors: Tensor | None) -> int:
    """How many numbers the last axes of x hold, of the lengths normalized_shape, which the vectors have to have too."""
    shape = want_ending(function, x, normalized_shape)
    want_shape(function, shape, **vectors)
    width = math.prod(shape)
    if not 1 <= width <= WIDEST:
        raise ValueError(f"{function} wants between 1 and {WIDEST} numbers to normalize, got {width}")
    return width
