import torch
import torch.nn.functional as F
from torch import nn

import blocklab.normalization


def step_by_step(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    shape = [1, -1] + [1] * (x.dim() - 2)
    if training:
        axes = [0, *range(2, x.dim())]
        mean, var = x.mean(axes), x.var(axes, correction=0)
        count = x.numel() // x.shape[1]
        running_mean.data = (1 - momentum) * running_mean + momentum * mean.detach()
        running_var.data = (1 - momentum) * running_var + momentum * var.detach() * count / (count - 1)
    else:
        mean, var = running_mean, running_var
    y = (x - mean.view(shape)) / torch.sqrt(var.view(shape) + eps)
    if weight is not None:
        y = y * weight.view(shape)
    if bias is not None:
        y = y + bias.view(shape)
    return y


def channels_moved_last(x, running_mean, running_var, gamma=None, beta=None, training=False, momentum=0.1, eps=1e-5):
    rows = x.movedim(1, -1)
    wide = rows if x.dtype == torch.float64 else rows.float()
    mean, var = running_mean, running_var
    if training:
        flat = wide.flatten(0, -2)
        mean, var = flat.mean(0), flat.var(0, correction=0)
        running_mean.lerp_(mean.detach(), momentum)
        running_var.lerp_(flat.detach().var(0), momentum)
    y = (wide - mean) * torch.rsqrt(var + eps)
    y = y * (1 if gamma is None else gamma) + (0 if beta is None else beta)
    return y.movedim(-1, 1).to(x.dtype)


def one_line_of_torch(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return torch.batch_norm(x, weight, bias, mean, var, training, momentum, eps, False)


def as_one_scale_and_shift(x, running_mean, running_var, weight=None, bias=None, training=False, alpha=0.1, eps=1e-5):
    """What a layer before it could swallow: one number to multiply by and one to add for each channel."""
    shape = [1, -1] + [1] * (x.dim() - 2)
    mean, var = running_mean, running_var
    if training:
        channels = x.transpose(0, 1).flatten(1)
        var, mean = torch.var_mean(channels, 1, correction=0)
        with torch.no_grad():
            running_mean += alpha * (mean - running_mean)
            running_var += alpha * (channels.var(1) - running_var)
    scale = (var + eps) ** -0.5 * (1 if weight is None else weight)
    return x * scale.view(shape) + ((0 if bias is None else bias) - mean * scale).view(shape)


def channel_by_channel(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    channels = []
    for c in range(x.shape[1]):
        channel = x[:, c]
        if training:
            mean, var = channel.mean(), channel.var(correction=0)
            with torch.no_grad():
                running_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean
                running_var[c] = (1 - momentum) * running_var[c] + momentum * channel.var()
        else:
            mean, var = running_mean[c], running_var[c]
        y = (channel - mean) / (var + eps).sqrt()
        y = y if weight is None else y * weight[c]
        channels.append(y if bias is None else y + bias[c])
    return torch.stack(channels, 1)


class Learned(nn.Module):
    """Binds its buffers anew in every training step, where torch's own writes into them."""

    def __init__(self, num_features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(num_features)), nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))
        self.momentum, self.eps = momentum, eps

    def forward(self, x):
        shape = [1, -1] + [1] * (x.dim() - 2)
        mean, var = self.running_mean, self.running_var
        if self.training:
            axes = [0, *range(2, x.dim())]
            mean, var = x.mean(axes), x.var(axes, correction=0)
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * x.var(axes)
        y = (x - mean.view(shape)) / torch.sqrt(var.view(shape) + self.eps)
        return y * self.weight.view(shape) + self.bias.view(shape)


RIGHT = {
    "batch_norm": {
        "torch": F.batch_norm,
        "torch's inner one": one_line_of_torch,
        "ours": blocklab.normalization.batch_norm,
        "channels moved last, in float32": channels_moved_last,
        "compiled": torch.compile(channels_moved_last, backend="eager"),
        "torch's Module": nn.BatchNorm1d(3),
        "torch's Module for pictures": nn.BatchNorm2d(3),
        "our Module": blocklab.normalization.BatchNorm(3),
        "a learner's Module": Learned(3),
        "step by step": step_by_step,
        "as one scale and shift": as_one_scale_and_shift,
    }
}
ADVISED = {
    "batch_norm": {
        "channel by channel": (channel_by_channel, ("slow",)),
    }
}
