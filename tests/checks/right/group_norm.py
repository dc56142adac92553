import torch
import torch.nn.functional as F
from torch import nn

import blocklab.normalization


def by_reshape(x, num_groups, weight=None, bias=None, eps=1e-5):
    N, C = x.shape[:2]
    groups = x.reshape(N, num_groups, -1)
    mean = groups.mean(-1, keepdim=True)
    var = groups.var(-1, correction=0, keepdim=True)
    y = ((groups - mean) / torch.sqrt(var + eps)).reshape(x.shape)
    shape = [1, C] + [1] * (x.dim() - 2)
    y = y if weight is None else y * weight.view(shape)
    return y if bias is None else y + bias.view(shape)


def by_layer_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    groups = x.unflatten(1, (num_groups, -1))
    y = F.layer_norm(groups, groups.shape[2:], None, None, eps).flatten(1, 2).movedim(1, -1)
    y = y * (1 if weight is None else weight) + (0 if bias is None else bias)
    return y.movedim(-1, 1)


def by_batch_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    """Every group of every sample as a channel of one sample."""
    y = F.batch_norm(x.reshape(1, len(x) * num_groups, -1), None, None, None, None, True, 0.1, eps).view(x.shape)
    broadcast = [-1] + [1] * (x.dim() - 2)
    y = y if weight is None else y * weight.view(broadcast)
    return y if bias is None else y + bias.view(broadcast)


def refuses_eps_of_0():
    """Whether torch's batch_norm does in training: it depends on the version."""
    try:
        F.batch_norm(torch.tensor([[1.0], [2.0]]), None, None, training=True, eps=0.0)
    except ValueError:
        return True
    return False


EPS_OF_0 = ("eps of 0",) if refuses_eps_of_0() else ()


def einsum(x, num_groups, weight=None, bias=None, eps=1e-5):
    groups = x.reshape(len(x), num_groups, -1)
    count = groups.shape[-1]
    centred = groups - torch.einsum("ngk->ng", groups)[..., None] / count
    variance = torch.einsum("ngk,ngk->ng", centred, centred)[..., None] / count
    y = (centred * (variance + eps).rsqrt()).view(x.shape)
    y = y if weight is None else torch.einsum("nc...,c->nc...", y, weight)
    return y if bias is None else (y.transpose(1, -1) + bias).transpose(1, -1)


def in_float32(x, num_groups, weight=None, bias=None, eps=1e-5):
    wide = x if x.dtype == torch.float64 else x.float()
    return by_reshape(wide, num_groups, weight, bias, eps).to(x.dtype)


def group_by_group(x, num_groups, weight=None, bias=None, eps=1e-5):
    done = [(g - g.flatten(1).mean(1).view(-1, *[1] * (g.dim() - 1))) for g in x.chunk(num_groups, 1)]
    done = [g / (g.square().flatten(1).mean(1) + eps).sqrt().view(-1, *[1] * (g.dim() - 1)) for g in done]
    y = torch.cat(done, 1).movedim(1, -1)
    return (y * (1 if weight is None else weight) + (0 if bias is None else bias)).movedim(-1, 1)


class Learned(nn.Module):
    def __init__(self, num_groups, num_channels, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(num_channels)), nn.Parameter(torch.zeros(num_channels))
        self.num_groups, self.eps = num_groups, eps

    def forward(self, x):
        return by_reshape(x, self.num_groups, self.weight, self.bias, self.eps)


RIGHT = {
    "group_norm": {
        "torch": F.group_norm,
        "ours": blocklab.normalization.group_norm,
        "by layer_norm": by_layer_norm,
        "compiled": torch.compile(F.group_norm, backend="eager"),
        "torch's Module": nn.GroupNorm(2, 4),
        "our Module": blocklab.normalization.GroupNorm(2, 4),
    }
}
ADVISED = {
    "group_norm": {
        "a learner's Module": (Learned(2, 4), ("empty",)),
        "by batch_norm": (by_batch_norm, ("empty", *EPS_OF_0)),
        "by reshape": (by_reshape, ("empty",)),
        "in float32": (in_float32, ("empty",)),
        "einsum": (einsum, ("empty",)),
        "group by group": (group_by_group, ("slow",)),
    }
}
