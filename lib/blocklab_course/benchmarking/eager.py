"""The operations as one usually writes them first: each step is one kernel that reads and writes memory.

They compute in the dtype of x and round after every step. `blocklab.normalization` rounds once.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """x (*, d), weight and bias (d,): ten passes over a matrix, six reads and four writes."""
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias


def batch_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """x (N, C), weight and bias (C,), in training, without running statistics: the same ten passes."""
    mean = x.mean(0, keepdim=True)
    variance = x.var(0, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """x (*, d), weight (d,): seven passes, four reads and three writes."""
    mean_square = x.pow(2).mean(-1, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * weight


def add_rms_norm(x: Tensor, residual: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    """`rms_norm` of x + residual, and that sum, as between two sublayers: ten passes."""
    total = x + residual
    return rms_norm(total, weight, eps), total


def llama_rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """As in the first Llama and in transformers: float32 steps, rounded before the weight; 36 bytes per bfloat16."""
    wide = x.to(torch.float32)
    mean_square = wide.pow(2).mean(-1, keepdim=True)
    return weight * (wide * torch.rsqrt(mean_square + eps)).to(x.dtype)


def swiglu(gate: Tensor, value: Tensor) -> Tensor:
    """Two kernels with five passes, where three would suffice."""
    return F.silu(gate) * value
