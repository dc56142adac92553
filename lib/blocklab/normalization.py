"""Normalization layers: one formula, different axes.

Every one of them is `standardize` over axes of its own, then a learned weight and bias; `rms_norm` leaves out the mean.
Axis letters, here and in the whole package:  N batch,  C channel,  H W space,  L position,  d feature.

Numbers beyond 1e19 have squares beyond float32. What is divided by their root is then 0, or NaN where the mean is gone
as well. torch's layers give one or the other, too, by layer and device; float64 has numbers up to 1e154.
A mean is rounded in its last digit: of some 50 000 numbers and more, all equal, the results may be that error over
sqrt(eps) instead of 0.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from blocklab.arguments import (
    want_axes,
    want_ending,
    want_factory,
    want_flag,
    want_float,
    want_integer,
    want_number,
    want_range,
    want_room,
    want_shape,
    want_sizes,
    want_writable,
    widen,
)
from blocklab.moving_average import interpolate


def standardize(x: Tensor, axes: int | Sequence[int], eps: float = 1e-5) -> Tensor:
    """Subtract the mean over the axes and divide by the standard deviation over them.

        y = (x - mean(x)) / sqrt(var(x) + eps),   var(x) = mean((x - mean(x))**2)

    x: any shape; the numbers that differ only in their place along `axes` share one mean and one variance. Result:
    shape and dtype of x. The variance is the biased one: divided by the number of values.

    The arithmetic is float32 or wider and is rounded once, at the end; squares that it cannot hold give 0 or NaN.

    Raises ValueError for no axis, an axis out of range or named twice and for a negative eps; TypeError for an x that
    is not a float tensor and an axis that is not an integer.

    Source: Ioffe and Szegedy 2015, arXiv:1502.03167, algorithm 1
    """
    want_float("standardize", x=x)
    axes = want_axes("standardize", x, axes)
    eps = want_range("standardize", "eps", eps, 0)
    y, _, _ = _standardize(x, axes, eps)
    return y


def batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize every channel over batch and space: one mean and one variance per channel.

        y = weight * (x - mean) / sqrt(var + eps) + bias

    x: (N, C) or (N, C, *), everything else (C,); result: shape and dtype of x. In training mean and var are the
    batch's, and the running ones move in place, running = (1 - momentum) * running + momentum * batch, with the
    **unbiased** variance (an empty batch leaves them alone). Otherwise mean and var are the running ones.

    The arithmetic is float32 or wider and is rounded once; squares that it cannot hold give 0 or NaN. Raises ValueError
    for a wrong shape, one value per channel in training and missing running statistics, TypeError for a wrong type.

    Source: Ioffe and Szegedy 2015, arXiv:1502.03167
    """
    vectors = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    want_float("batch_norm", x=x, or_none=vectors)
    want_flag("batch_norm", training=training)
    momentum = want_number("batch_norm", "momentum", momentum, x)
    eps = want_number("batch_norm", "eps", eps, x)
    if x.dim() < 2 and x.shape != (0,):  # torch takes that one shape too, as a batch without channels
        raise ValueError(f"batch_norm wants x of shape (N, C) or (N, C, *), got {tuple(x.shape)}")
    channels = x.shape[1] if x.dim() > 1 else 0
    want_shape("batch_norm", (channels,), **vectors)
    _want_running_statistics("batch_norm", running_mean, running_var, moving=training)
    if training and x.numel() == channels > 0:
        raise ValueError(f"batch_norm wants more than one value per channel in training, got x of {tuple(x.shape)}")

    weight, bias = _per_channel(x, weight), _per_channel(x, bias)
    if not training:
        mean, variance = _per_channel(x, running_mean), _per_channel(x, running_var)
        return _rescale(widen(x) - mean, variance, eps, weight, bias).to(x.dtype)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    y, mean, variance = _standardize(x, axes, eps, weight, bias)
    _update_running_statistics(running_mean, running_var, mean, variance, x.numel(), momentum)
    return y


def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize every channel of every sample over space: one mean and one variance per (sample, channel).

        y = weight * (x - mean) / sqrt(var + eps) + bias

    x: (N, C, *), everything else (C,); result: shape and dtype of x. The running statistics, where given, move as in
    `batch_norm`, towards the average over N of mean and unbiased variance; use_input_stats=False uses them instead.

    The arithmetic is float32 or wider and is rounded once; squares that it cannot hold give 0 or NaN. Raises ValueError
    for a wrong shape, one value per sample and channel and missing running statistics, TypeError for a wrong type.

    Source: Ulyanov et al. 2016, arXiv:1607.08022
    """
    vectors = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    want_float("instance_norm", x=x, or_none=vectors)
    want_flag("instance_norm", use_input_stats=use_input_stats)
    momentum = want_number("instance_norm", "momentum", momentum, x)
    eps = want_number("instance_norm", "eps", eps, x)
    if x.dim() < 2:
        raise ValueError(f"instance_norm wants x of shape (N, C, *), got {tuple(x.shape)}")
    want_shape("instance_norm", x.shape[1:2], **vectors)
    _want_running_statistics("instance_norm", running_mean, running_var, moving=use_input_stats)
    if use_input_stats and math.prod(x.shape[2:]) == 1:
        raise ValueError(f"instance_norm wants more than one value per sample and channel, got x of {tuple(x.shape)}")

    weight, bias = _per_channel(x, weight), _per_channel(x, bias)
    if not use_input_stats:
        mean, variance = _per_channel(x, running_mean), _per_channel(x, running_var)
        return _rescale(widen(x) - mean, variance, eps, weight, bias).to(x.dtype)
    y, mean, variance = _standardize(x, list(range(2, x.dim())), eps, weight, bias)
    _update_running_statistics(running_mean, running_var, mean, variance, x.numel(), momentum)
    return y


def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize over the last axes: every token by its own mean and variance.

        y = weight * (x - mean) / sqrt(var + eps) + bias

    x: (*, *normalized_shape), for instance (N, L, d) with (d,); weight, bias: normalized_shape; result: shape and
    dtype of x. Only the last axes are reduced, so no token can influence another, in training or out of it.

    The arithmetic is float32 or wider and is rounded once, at the end; squares that it cannot hold give 0 or NaN.

    Raises ValueError if x does not end in normalized_shape or weight or bias has another shape, which would broadcast
    silently; TypeError for anything but float tensors and a sequence of integers.

    Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450
    """
    want_float("layer_norm", also_jagged=True, x=x, or_none={"weight": weight, "bias": bias})
    shape = want_ending("layer_norm", x, normalized_shape)
    want_shape("layer_norm", shape, weight=weight, bias=bias)
    eps = want_number("layer_norm", "eps", eps, x)

    axes = list(range(-len(shape), 0))
    y, _, _ = _standardize(x, axes, eps, weight, bias)
    return y


def group_norm(
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize over space and over the channels of a group: one mean and one variance per (sample, group).

        y = weight * (x - mean) / sqrt(var + eps) + bias

    x: (N, C) or (N, C, *), weight, bias: (C,); result: shape and dtype of x. Group g is the channels from g * C/G on,
    G = num_groups. One group is `layer_norm` over (C, *) but for the weight; C groups are `instance_norm`.

    The arithmetic is float32 or wider and is rounded once, at the end; squares that it cannot hold give 0 or NaN.

    Raises ValueError for a wrong shape, a C that num_groups does not divide and a batch of a single value per group;
    TypeError for anything but float tensors and an integer.

    Source: Wu and He 2018, arXiv:1803.08494
    """
    want_float("group_norm", x=x, or_none={"weight": weight, "bias": bias})
    num_groups = want_integer("group_norm", "num_groups", num_groups, 1)
    eps = want_number("group_norm", "eps", eps, x)
    if x.dim() < 2:
        raise ValueError(f"group_norm wants x of shape (N, C) or (N, C, *), got {tuple(x.shape)}")
    _want_divisible("group_norm", x.shape[1], num_groups)
    want_shape("group_norm", x.shape[1:2], weight=weight, bias=bias)
    if x.shape[0] == 1 and x.numel() == num_groups:
        raise ValueError(f"group_norm wants more than one value per group, got x of {tuple(x.shape)}")

    group = (num_groups, x.shape[1] // num_groups)
    grouped = x.unflatten(1, group)  # (N, G, C/G, *)
    if weight is not None:
        weight = _per_channel(x, weight).unflatten(0, group)  # (G, C/G, 1, ...)
    if bias is not None:
        bias = _per_channel(x, bias).unflatten(0, group)
    y, _, _ = _standardize(grouped, list(range(2, grouped.dim())), eps, weight, bias)
    return y.flatten(1, 2)


def rms_norm(
    x: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide by the root mean square over the last axes.

        y = weight * x / sqrt(mean(x**2) + eps)

    x: (*, *normalized_shape), weight: normalized_shape; result: shape and dtype of x. eps=None is the machine epsilon
    of the type computed in. The mean is not subtracted, neither above nor below: rms_norm ignores the scale of x but
    not a shift.

    The arithmetic is float32 or wider and is rounded once, at the end (Llama rounds before the weight);
    squares that it cannot hold give 0 or NaN.

    Raises ValueError if x does not end in normalized_shape or weight has another shape, which would broadcast
    silently; TypeError for anything but float tensors (complex ones, as in torch, too) and a sequence of integers.

    Source: Zhang and Sennrich 2019, arXiv:1910.07467
    """
    want_float("rms_norm", also_complex=True, also_jagged=True, x=x, or_none={"weight": weight})
    shape = want_ending("rms_norm", x, normalized_shape)
    want_shape("rms_norm", shape, weight=weight)
    eps = None if eps is None else want_number("rms_norm", "eps", eps, x)

    wide, axes = widen(x), list(range(-len(shape), 0))
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    return _rescale(wide, wide.square().mean(axes, keepdim=True), eps, weight).to(x.dtype)


# The formula, in two steps: the second alone serves running statistics and rms_norm, which have no mean to subtract.


def _standardize(
    x: Tensor, axes: Sequence[int], eps: float, weight: Tensor | None = None, bias: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The result, in the type of x, and the mean and biased variance that went into it, in the wide type."""
    wide = widen(x)
    mean = wide.mean(axes, keepdim=True)
    centered = wide - mean
    variance = centered.square().mean(axes, keepdim=True)  # torch.var takes ten times as long
    return _rescale(centered, variance, eps, weight, bias).to(x.dtype), mean, variance


def _rescale(
    x: Tensor, mean_square: Tensor, eps: float, weight: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """x / sqrt(mean_square + eps) * weight + bias. Scale first: for batch_norm it is one number per channel."""
    scale = torch.rsqrt(mean_square + eps)
    if weight is not None:
        scale = scale * weight
    if bias is None:
        return x * scale
    return x * scale + bias if x.is_nested else torch.addcmul(bias, x, scale)  # which jagged tensors lack


@torch.no_grad()
def _update_running_statistics(
    running_mean: Tensor | None,
    running_var: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    values: int,
    momentum: float | Tensor,
) -> None:
    """Move the running statistics towards those of a batch of so many values. They hold the unbiased variance."""
    if running_mean is None or values == 0:
        return
    count = values // mean.numel()
    unbiased = variance * (count / (count - 1))
    # (1, C, 1, ...) of batch_norm or (N, C, 1, ...) of instance_norm to (C,)
    running_mean.copy_(interpolate(running_mean, mean.mean(0).flatten(), momentum))
    running_var.copy_(interpolate(running_var, unbiased.mean(0).flatten(), momentum))


def _per_channel(x: Tensor, vector: Tensor | None) -> Tensor | None:
    """(C,) as (C, 1, ...), which broadcasts against x of shape (N, C, *), in the wide type."""
    return None if vector is None else widen(vector).reshape(-1, *[1] * (x.dim() - 2))


def _want_running_statistics(function: str, mean: Tensor | None, var: Tensor | None, moving: bool) -> None:
    """Refuse one without the other, none where they are needed, and places that cannot be moved."""
    if (mean is None) != (var is None):
        got = "running_mean" if var is None else "running_var"
        raise ValueError(f"{function} wants running_mean and running_var both or neither, got only {got}")
    if not moving and mean is None:
        raise ValueError(f"{function} wants running_mean and running_var when it does not use the batch's, got None")
    if moving:
        want_writable(function, running_mean=mean, running_var=var)


def _want_divisible(function: str, channels: int, num_groups: int) -> None:
    if channels % num_groups:
        raise ValueError(f"{function} wants num_groups to divide the {channels} channels, got {num_groups}")


class _Affine(nn.Module):
    """A Module with a weight and a bias, each of which may be None."""

    def _register(
        self,
        shape: Sequence[int],
        weight: bool,
        bias: bool,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        for name, has in (("weight", weight), ("bias", bias)):
            numbers = torch.empty(shape, device=device, dtype=dtype) if has else None
            self.register_parameter(name, None if numbers is None else nn.Parameter(numbers))

    def reset_parameters(self) -> None:
        """Forget what was learned: a weight of ones and a bias of zeros."""
        if self.weight is not None:
            nn.init.ones_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class BatchNorm(_Affine):
    """`batch_norm` with a learned weight and bias and running statistics, for (N, C) and (N, C, *) of any rank.

    In training the batch's statistics normalize, and the buffers running_mean, running_var (unbiased) follow them with
    `momentum`, the weight of the new batch; momentum=None keeps the plain average of all batches. In eval() the buffers
    normalize, or, with track_running_stats=False, the batch still does.

    Arguments and state_dict keys are those of torch.nn.BatchNorm1d, 2d and 3d, but it is none of them: what looks for
    those in a model, as torch.optim.swa_utils.update_bn does, passes it by.

    Raises ValueError for a negative eps, a momentum outside [0, 1] and an x without num_features channels.
    """

    batch_norm = staticmethod(batch_norm)

    _version = 2  # torch's; what its first version saved lacks num_batches_tracked

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        num_features = want_integer("BatchNorm", "num_features", num_features, 0)
        eps = want_range("BatchNorm", "eps", eps, 0)
        momentum = None if momentum is None else want_range("BatchNorm", "momentum", momentum, 0, 1)
        want_flag("BatchNorm", affine=affine, track_running_stats=track_running_stats, bias=bias)
        want_room("BatchNorm", "num_features", num_features)
        want_factory("BatchNorm", device, dtype)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._register((num_features,), affine, affine and bias, device, dtype)
        mean = var = batches = None
        if track_running_stats:
            mean, var = (torch.empty(num_features, device=device, dtype=dtype) for _ in range(2))
            batches = torch.tensor(0, device=device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", batches)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Forget what was learned and every batch seen."""
        super().reset_parameters()
        self.reset_running_stats()

    def reset_running_stats(self) -> None:
        """Forget every batch seen: mean 0, variance 1."""
        if self.running_mean is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, local_metadata: dict, *rest) -> None:
        batches = self.num_batches_tracked
        if batches is not None and (local_metadata.get("version") or 1) < 2:
            state_dict.setdefault(f"{prefix}num_batches_tracked", torch.tensor(0) if batches.is_meta else batches)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def forward(self, x: Tensor) -> Tensor:
        _want_channels("BatchNorm", x, self.num_features)
        mean, var, batches = self.running_mean, self.running_var, self.num_batches_tracked
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and not self.track_running_stats:
            mean = var = None
        if self.training and mean is not None and batches is not None:
            want_writable("BatchNorm", num_batches_tracked=batches)
            batches.add_(1)
            if self.momentum is None:  # the n-th of n equal weights
                momentum = 1 / batches.to(widen(mean).dtype)
        return self.batch_norm(x, mean, var, self.weight, self.bias, self.training or mean is None, momentum, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class LayerNorm(_Affine):
    """`layer_norm` with a learned weight, which starts at one, and bias, which starts at zero.

    Arguments and state_dict keys are those of torch.nn.LayerNorm. Raises ValueError for a negative eps.
    """

    layer_norm = staticmethod(layer_norm)

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.normalized_shape = want_sizes("LayerNorm", "normalized_shape", normalized_shape)
        self.eps, self.elementwise_affine = want_range("LayerNorm", "eps", eps, 0), elementwise_affine
        want_flag("LayerNorm", elementwise_affine=elementwise_affine, bias=bias)
        want_room("LayerNorm", "normalized_shape", *self.normalized_shape)
        want_factory("LayerNorm", device, dtype)
        self._register(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine, bias = self.elementwise_affine, self.bias is not None
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={affine}, bias={bias}"


class GroupNorm(_Affine):
    """`group_norm` with a learned weight, which starts at one, and bias, which starts at zero.

    Arguments and state_dict keys are those of torch.nn.GroupNorm. Raises ValueError for a negative eps, a num_channels
    that num_groups does not divide and an x without num_channels channels.
    """

    group_norm = staticmethod(group_norm)

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        num_groups = want_integer("GroupNorm", "num_groups", num_groups, 1)
        num_channels = want_integer("GroupNorm", "num_channels", num_channels, 0)
        eps = want_range("GroupNorm", "eps", eps, 0)
        want_flag("GroupNorm", affine=affine, bias=bias)
        want_room("GroupNorm", "num_channels", num_channels)
        want_factory("GroupNorm", device, dtype)
        _want_divisible("GroupNorm", num_channels, num_groups)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register((num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        _want_channels("GroupNorm", x, self.num_channels)
        return self.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={bias}"


class RMSNorm(_Affine):
    """`rms_norm` with a learned weight, which starts at one. There is no bias.

    Arguments and state_dict keys are those of torch.nn.RMSNorm. Raises ValueError for a negative eps.
    """

    rms_norm = staticmethod(rms_norm)

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.normalized_shape = want_sizes("RMSNorm", "normalized_shape", normalized_shape)
        self.eps = None if eps is None else want_range("RMSNorm", "eps", eps, 0)
        self.elementwise_affine = elementwise_affine
        want_flag("RMSNorm", elementwise_affine=elementwise_affine)
        want_room("RMSNorm", "normalized_shape", *self.normalized_shape)
        want_factory("RMSNorm", device, dtype, also_complex=True)
        self._register(self.normalized_shape, elementwise_affine, False, device, dtype)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return self.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


def _want_channels(function: str, x: Tensor, channels: int) -> None:
    want_float(function, x=x)
    if x.dim() < 2 or x.shape[1] != channels:
        raise ValueError(f"{function} wants x of shape (N, {channels}) or (N, {channels}, *), got {tuple(x.shape)}")


# The same two layers as plain loops over Python floats: slow, readable, and what the fast ones are held to.


def batch_norm_loops(x: Tensor, eps: float = 1e-5, per_position: bool = False) -> Tensor:
    """BatchNorm of a batch of sequences, one number at a time.

    x: (N, L, d), result: shape and dtype of x. One mean and one variance per feature, over all N * L tokens, as
    torch.nn.BatchNorm1d has it (which wants (N, d, L)). per_position=True keeps one per (position, feature), over N
    alone: another layer, for sequences of one fixed length.

    Python floats, that is float64, rounded once at the end.

    Raises ValueError unless x is (N, L, d), for a negative eps and for one value per statistic; TypeError for anything
    but a float tensor.
    """
    (N, L, d), eps = _three_axes("batch_norm_loops", x), want_range("batch_norm_loops", "eps", eps, 0)
    want_flag("batch_norm_loops", per_position=per_position)
    if N * (1 if per_position else L) == 1:
        raise ValueError(f"batch_norm_loops wants more than one value per statistic, got x of {tuple(x.shape)}")
    y = x.tolist()
    for positions in [[j] for j in range(L)] if per_position else [range(L)]:
        for k in range(d):
            tokens = [(i, j) for i in range(N) for j in positions]
            column = _standardize_numbers([y[i][j][k] for i, j in tokens], eps)
            for (i, j), number in zip(tokens, column, strict=True):
                y[i][j][k] = number
    return torch.tensor(y, dtype=x.dtype, device=x.device).reshape(x.shape)


def layer_norm_loops(x: Tensor, eps: float = 1e-5) -> Tensor:
    """LayerNorm of a batch of sequences, one token at a time.

    x: (N, L, d), result: shape and dtype of x. One mean and one variance per token, over its d features.

    Python floats, that is float64, rounded once at the end.

    Raises ValueError unless x is (N, L, d) and for a negative eps; TypeError for anything but a float tensor.
    """
    (N, L, _), eps = _three_axes("layer_norm_loops", x), want_range("layer_norm_loops", "eps", eps, 0)
    y = x.tolist()
    for i in range(N):
        for j in range(L):
            y[i][j] = _standardize_numbers(y[i][j], eps)
    return torch.tensor(y, dtype=x.dtype, device=x.device).reshape(x.shape)


def _standardize_numbers(numbers: list[float], eps: float) -> list[float]:
    if not numbers:
        return []
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return [(number - mean) / math.sqrt(variance + eps) for number in numbers]


def _three_axes(function: str, x: Tensor) -> torch.Size:
    want_float(function, x=x)
    if x.is_meta:
        raise ValueError(f"{function} wants x with its numbers, got one on meta")
    if x.dim() != 3:
        raise ValueError(f"{function} wants x of shape (N, L, d), got {tuple(x.shape)}")
    return x.shape
