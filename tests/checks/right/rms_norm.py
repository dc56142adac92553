import torch
import torch.nn.functional as F
from torch import nn

import blocklab.normalization


def in_float32(x, shape, weight=None, eps=None):
    wide = x if x.dtype == torch.float64 else x.float()
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    y = wide * torch.rsqrt(wide.square().mean([-1 - i for i in range(len(shape))], keepdim=True) + eps)
    return (y if weight is None else weight * y).to(x.dtype)


def in_the_type_of_x(x, shape, weight=None, eps=None):
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    y = x / torch.sqrt((x**2).mean(tuple(range(-len(shape), 0)), keepdim=True) + eps)
    return y if weight is None else y * weight


def rounded_before_weight(x, shape, weight=None, eps=None):
    y = in_float32(x, shape, None, eps)
    return y if weight is None else y * weight


def epsilon_of_the_type_of_x(x, shape, weight=None, eps=None):
    wide = x if x.dtype == torch.float64 else x.float()
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    y = wide * torch.rsqrt(wide.square().mean(tuple(range(-len(shape), 0)), keepdim=True) + eps)
    return (y if weight is None else y * weight).to(x.dtype)


def always_in_float32(x, shape, weight=None, eps=None):
    return in_float32(x.float(), shape, weight, eps).to(x.dtype)


def row_by_row(x, shape, weight=None, eps=None):
    rows = [F.rms_norm(row, row.shape, weight, eps) for row in x.reshape(-1, *shape)]
    return torch.stack(rows).view_as(x)


class Learned(nn.Module):
    def __init__(self, size, eps=None):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return in_float32(x, (x.shape[-1],), self.weight, self.eps)


def llama(x, weight, eps=1e-6):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).type_as(x) * weight


class Llama(nn.Module):
    """As in transformers: the weight stands first, and eps has another name."""

    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight, self.variance_epsilon = nn.Parameter(torch.ones(hidden_size)), eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(input_dtype)


def llama_by_division(x, weight, eps=1e-6):
    wide = x.to(torch.float32)
    return torch.mul((wide / (torch.mean(wide**2, -1, True) + eps).sqrt()).to(x.dtype), weight)


def llama_in_float64(x, weight, eps=1e-6):
    wide = x.double()
    return (wide / torch.sqrt((wide * wide).mean(-1, keepdim=True) + eps)).to(x.dtype) * weight


def llama_row_by_row(x, weight, eps=1e-6):
    rows = [row.float() / (row.float().square().mean() + eps).sqrt() for row in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).to(x.dtype).view_as(x) * weight


def gemma(x, weight, eps=1e-6):
    wide = x.float()
    normalized = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (normalized * (1.0 + weight.float())).type_as(x)


def gemma_in_one_go(x, weight, eps=1e-6):
    return F.rms_norm(x.float(), x.shape[-1:], 1 + weight.float(), eps).to(x.dtype)


def gemma_as_a_sum(x, weight, eps=1e-6):
    normalized = llama_in_float64(x.double(), torch.ones(()), eps)
    return (normalized + normalized * weight.double()).to(x.dtype)


class Gemma(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return gemma(x, self.weight, self.eps)


RIGHT = {
    "rms_norm": {
        "torch": F.rms_norm,
        "ours": blocklab.normalization.rms_norm,
        "in float32": in_float32,
        "torch's Module": nn.RMSNorm(3),
        "our Module": blocklab.normalization.RMSNorm(3),
        "a learner's Module": Learned(3),
        "compiled": torch.compile(in_float32, backend="eager"),
    },
    "rms_norm_llama": {
        "as in Meta's code": llama,
        "by division": llama_by_division,
        "in float64": llama_in_float64,
        "by torch": lambda x, weight, eps=1e-6: F.rms_norm(x.float(), weight.shape, None, eps).to(x.dtype) * weight,
        "by torch without the weight": lambda x, weight, eps=1e-6: F.rms_norm(x, weight.shape, None, eps) * weight,
        "by ours": lambda x, w, eps=1e-6: w * blocklab.normalization.rms_norm(x, w.shape, None, eps),
        "a Module as in transformers": Llama(3),
        "the same with an eps of its own": Llama(3, eps=1e-5),
        "compiled": torch.compile(llama, backend="eager"),
    },
    "rms_norm_gemma": {
        "as in Google's code": gemma,
        "in one go": gemma_in_one_go,
        "as a sum, in float64": gemma_as_a_sum,
        "by ours": lambda x, w, eps=1e-6: blocklab.normalization.rms_norm(x, w.shape, 1 + w.float(), eps),
        "a Module": Gemma(3),
        "compiled": torch.compile(gemma, backend="eager"),
    },
}
ADVISED = {
    "rms_norm": {
        "row by row": (row_by_row, ("slow", "empty")),
        "in the type of x": (
            in_the_type_of_x,
            ("overflows-in-float16", "small-in-bfloat16", "rounded-before-weight"),
        ),
        "rounded before the weight": (rounded_before_weight, ("rounded-before-weight",)),
        "the epsilon in torch's documentation": (epsilon_of_the_type_of_x, ("small-in-bfloat16",)),
        "always in float32": (always_in_float32, ("float64",)),
    },
    "rms_norm_llama": {"row by row": (llama_row_by_row, ("slow", "empty"))},
}
