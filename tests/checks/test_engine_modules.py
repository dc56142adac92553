"""A Module is checked at its own size, because its constructor may have computed with it."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from blocklab_course import check


class Normalizes(nn.Module):
    """Stores its size in every way that a learner may."""

    def __init__(self, channels, groups=1, eps=1e-5, shape=None):
        super().__init__()
        shape = shape or (channels,)
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.num_groups, self.group_size, self.eps, self.channels = groups, channels // groups, eps, channels

    def affine(self, y):
        assert y.shape[1] == self.channels
        shape = [1, self.channels] + [1] * (y.dim() - 2)
        return y * self.weight.view(shape) + self.bias.view(shape)

    def root(self, variance):
        return torch.sqrt(variance + self.eps)


class Batch(Normalizes):
    def __init__(self, *sizes, **named):
        super().__init__(*sizes, **named)
        self.momentum = 0.1
        self.register_buffer("running_mean", torch.zeros(self.weight.shape))
        self.register_buffer("running_var", torch.ones(self.weight.shape))

    def stored(self, variance, count):
        return variance * count / (count - 1)

    def forward(self, x):
        axes, shape = [0, *range(2, x.dim())], [1, self.channels] + [1] * (x.dim() - 2)
        mean, variance = self.running_mean.view(shape), self.running_var.view(shape)
        if self.training:
            mean, variance = x.mean(axes, keepdim=True), x.var(axes, correction=0, keepdim=True)
            stored = self.stored(variance, x.numel() // self.channels).detach()
            with torch.no_grad():
                self.running_mean.lerp_(mean.view(self.running_mean.shape), self.momentum)
                self.running_var.lerp_(stored.view(self.running_var.shape), self.momentum)
        return self.affine((x - mean) / self.root(variance))


class BiasedStored(Batch):
    def stored(self, variance, _count):
        return variance


class BatchOutside(Batch):
    def root(self, variance):
        return torch.sqrt(variance) + self.eps


class ImagesOnlyInLocalNames(Batch):
    def forward(self, x):
        shape = [1, -1] + [1] * (x.dim() - 2)
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
            running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean  # noqa: F841
        return self.affine((x - mean.view(shape)) / self.root(variance.view(shape)))


class LastAxisNothingStored(Batch):
    def forward(self, x):
        axes = [0, *range(2, x.dim())]
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean, variance = x.mean(axes), x.var(axes, correction=0)
        return (x - mean) / self.root(variance) * self.weight + self.bias


class Group(Normalizes):
    def forward(self, x):
        grouped = x.unflatten(1, (-1, self.group_size))
        axes = list(range(2, grouped.dim()))
        centred = grouped - grouped.mean(axes, keepdim=True)
        y = centred / self.root(grouped.var(axes, correction=0, keepdim=True))
        return self.affine(y.reshape(x.shape))


class GroupsIgnored(Group):
    def forward(self, x):
        return self.affine(F.group_norm(x, 1, None, None, self.eps))


class GroupsOfPicturesOnly(Group):
    def forward(self, x):
        grouped = x.unflatten(1, (-1, self.group_size))
        centred = grouped - grouped.mean([2, 3, 4], keepdim=True)
        variance = grouped.var([2, 3, 4], correction=0, keepdim=True)
        return self.affine((centred / self.root(variance)).reshape(x.shape))


class OnTheLastAxis:
    def affine(self, y):
        return y * self.weight + self.bias


class GroupOnTheLastAxis(OnTheLastAxis, Group):
    pass


class BatchOnTheLastAxis(OnTheLastAxis, Batch):
    pass


class LastAxis(LastAxisNothingStored):
    def forward(self, x):
        if self.training:
            axes = [0, *range(2, x.dim())]
            with torch.no_grad():
                self.running_mean.lerp_(x.mean(axes), self.momentum)
                self.running_var.lerp_(x.var(axes), self.momentum)
        return super().forward(x)


class Layer(nn.Module):
    correction = 0

    def __init__(self, *normalized_shape, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(normalized_shape)), nn.Parameter(torch.zeros(normalized_shape))
        self.axes, self.eps = tuple(range(-len(normalized_shape), 0)), eps

    def forward(self, x):
        centred = x - x.mean(self.axes, keepdim=True)
        variance = x.var(self.axes, correction=self.correction, keepdim=True)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class Unbiased(Layer):
    correction = 1


class LastAxisOnly(Layer):
    def __init__(self, *normalized_shape):
        super().__init__(*normalized_shape)
        self.axes = (-1,)


class OnePlusWeight(Layer):
    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, 1 + self.weight, self.bias, self.eps)


class Llama(nn.Module):
    def __init__(self, dim, rounds_first=True):
        super().__init__()
        self.weight, self.eps, self.dim, self.rounds_first = nn.Parameter(torch.ones(dim)), 1e-6, dim, rounds_first

    def forward(self, x):
        assert x.shape[-1] == self.dim
        y = x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + self.eps)
        return y.to(x.dtype) * self.weight if self.rounds_first else (y * self.weight.float()).to(x.dtype)


RIGHT = {
    "batch_norm": [
        Batch(2),
        Batch(3),
        Batch(16),
        Batch(4, eps=1e-3),
        Batch(5, shape=(1, 5, 1, 1)),
        nn.BatchNorm1d(7),
        nn.BatchNorm3d(4),
        nn.BatchNorm2d(3, affine=False),
    ],
    "group_norm": [Group(4, 2), Group(9, 3), Group(5), nn.GroupNorm(3, 6), nn.GroupNorm(2, 8, affine=False)],
    "layer_norm": [
        Layer(3),
        Layer(16),
        Layer(4, 5),
        Layer(2, 3),
        nn.LayerNorm(7, eps=1e-3),
        nn.LayerNorm(5, bias=False),
    ],
    "rms_norm": [nn.RMSNorm(5), nn.RMSNorm((4, 5)), nn.RMSNorm(4, eps=1e-6)],
    "rms_norm_llama": [Llama(2), Llama(3), Llama(8)],
}
WRONG = [
    ("batch_norm", BiasedStored(5), "biased-variance-stored"),
    ("batch_norm", BatchOutside(6), "eps-outside-root"),
    ("batch_norm", ImagesOnlyInLocalNames(3), "pictures-only+never-updated"),
    ("batch_norm", LastAxisNothingStored(3), "never-updated"),  # it takes (N, C) only, and that is wrong there
    ("batch_norm", LastAxis(3), "all-on-the-last-axis"),
    ("batch_norm", BatchOnTheLastAxis(4), "affine-on-the-last-axis"),
    ("group_norm", GroupsIgnored(9, 3), "groups-ignored"),
    ("group_norm", GroupsOfPicturesOnly(6, 2), "pictures-only"),
    ("group_norm", GroupOnTheLastAxis(6, 2), "affine-on-the-last-axis"),
    ("group_norm", GroupOnTheLastAxis(4, 4), "affine-on-the-last-axis"),
    ("layer_norm", Unbiased(10), "unbiased-variance"),
    ("layer_norm", LastAxisOnly(2, 6), "last-axis-only"),
    ("layer_norm", OnePlusWeight(6), "weight-plus-one"),
    ("rms_norm_llama", Llama(5, rounds_first=False), "rounded-once"),
    ("layer_norm", Layer(1), "module-too-small"),
]


@pytest.mark.parametrize(("exercise", "module"), [(name, module) for name in RIGHT for module in RIGHT[name]])
def test_right_module_of_any_size_passes(exercise, module):
    verdict = check(exercise, module, patience=60)
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(("exercise", "module", "mistake"), WRONG, ids=lambda value: type(value).__name__)
def test_mistake_of_module_of_any_size_is_named(exercise, module, mistake):
    assert check(exercise, module, patience=60).mistake == mistake
