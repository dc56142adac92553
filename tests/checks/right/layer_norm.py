import torch
import torch.nn.functional as F
from torch import nn

import blocklab.normalization


def by_std(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    deviation = x.std(axes, correction=0, keepdim=True)
    y = (x - x.mean(axes, keepdim=True)) / (deviation**2 + eps) ** 0.5
    y = y if weight is None else weight * y
    return y if bias is None else bias + y


def flattened(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    rows = x.flatten(-len(normalized_shape)).float()
    variance, mean = torch.var_mean(rows, -1, correction=0, keepdim=True)
    y = ((rows - mean) * torch.rsqrt(variance + eps)).view(x.shape)
    return torch.addcmul(0 * y if bias is None else bias, y, torch.ones(()) if weight is None else weight).to(x.dtype)


def in_place_on_its_own_copy(x, shape, gamma=None, beta=None, eps=1e-5):
    axes = tuple(range(-len(shape), 0))
    y = x - x.mean(axes, keepdim=True)
    scale = (y.square().mean(axes, keepdim=True) + eps).rsqrt()
    y = y.mul(scale)
    if gamma is not None:
        y = y.mul(gamma)
    if beta is not None:
        y += beta
    return y


def einsum(x, shape, weight=None, bias=None, eps=1e-5):
    rows = x.flatten(-len(shape))
    mean = torch.einsum("...d->...", rows)[..., None] / rows.shape[-1]
    centred = rows - mean
    variance = torch.einsum("...d,...d->...", centred, centred)[..., None] / rows.shape[-1]
    y = (centred / torch.sqrt(variance + eps)).view_as(x)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


class Learned(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size)), eps

    def forward(self, x):
        return by_std(x, (x.shape[-1],), self.weight, self.bias, self.eps)


def row_by_row(x, shape, weight=None, bias=None, eps=1e-5):
    rows = [F.layer_norm(row, row.shape, None, None, eps) for row in x.reshape(-1, *shape)]
    y = torch.stack(rows).view_as(x)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def cancelling(x, shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(shape), 0))
    mean = x.mean(axes, keepdim=True)
    variance = (x * x).mean(axes, keepdim=True) - mean * mean
    y = (x - mean) / (variance + eps).sqrt()
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def needs_float32(x, shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(shape), 0))
    centred = x - x.mean(axes, keepdim=True)
    y = centred / ((centred**2).mean(axes, keepdim=True) + eps).sqrt()
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


RIGHT = {
    "layer_norm": {
        "torch": F.layer_norm,
        "ours": blocklab.normalization.layer_norm,
        "torch's Module": nn.LayerNorm(3),
        "a lambda": lambda x, shape, w=None, b=None, e=1e-5: F.layer_norm(x, shape, w, b, e),
        "compiled": torch.compile(F.layer_norm, backend="eager"),
    }
}
ADVISED = {
    "layer_norm": {
        "by the deviation": (by_std, ("overflows-in-float16",)),
        "einsum": (einsum, ("overflows-in-float16",)),
        "in place on its own copy": (in_place_on_its_own_copy, ("overflows-in-float16",)),
        "a learner's Module": (Learned(3), ("overflows-in-float16",)),
        "row by row": (row_by_row, ("slow", "empty")),
        "flattened, in float32": (flattened, ("float64",)),
        "mean of squares": (cancelling, ("overflows-in-float16", "large-offset")),
        "in the input's type": (needs_float32, ("overflows-in-float16",)),
    }
}
