"""Normalization layers: one formula, different axes.

Each of them is `standardize` over axes of its own, then a learned weight and bias; `rms_norm` leaves out the mean.
Axis letters, here and in the whole package:  N batch,  C channel,  H W space,  L position,  d feature.

Arithmetic is float32 or wider and rounded once: the result has the shape and the dtype of x. Squares overflow float32
for numbers beyond 1e19; the result is then 0 or NaN, as with torch's layers. All functions raise TypeError for anything
but floating point tensors and ValueError for shapes that would broadcast.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from blocklab._validation import (
    check_axes,
    check_flag,
    check_float,
    check_integer,
    check_normalized_shape,
    check_number,
    check_range,
    check_shape,
    check_sizes,
    check_writable,
    upcast,
)
from blocklab.moving_average import ema_step


def standardize(x: Tensor, axes: int | Sequence[int], eps: float = 1e-5) -> Tensor:
    """Subtract the mean over the axes and divide by the standard deviation over them.

        y = (x - mean(x)) / sqrt(var(x) + eps),   var(x) = mean((x - mean(x))**2)

    x: any shape. Numbers that differ only in their place along `axes` share one mean and one variance, the biased one.
    Raises ValueError for no axis, an axis out of range or named twice, and a negative eps.
    Source: Ioffe and Szegedy 2015, arXiv:1502.03167, algorithm 1

    >>> standardize(torch.tensor([1.0, 2.0, 3.0]), 0)
    tensor([-1.2247,  0.0000,  1.2247])
    """
    check_float("standardize", x=x)
    axes = check_axes("standardize", x, axes)
    eps = check_range("standardize", "eps", eps, 0)
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

    x: (N, C) or (N, C, *), everything else (C,). In training, mean and var are those of the batch, and the running ones
    are updated in place, running = (1 - momentum) * running + momentum * batch, with the **unbiased** variance (an
    empty batch leaves them alone). Otherwise mean and var are the running ones.
    Raises ValueError for a single value per channel in training and for running statistics that are missing or, in
    training, cannot be written to.
    Source: Ioffe and Szegedy 2015, arXiv:1502.03167

    >>> batch_norm(torch.tensor([[0.0, 10.0], [2.0, 30.0]]), None, None, training=True)
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    """
    vectors = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    check_float("batch_norm", x=x, or_none=vectors)
    check_flag("batch_norm", training=training)
    if x.dim() < 2 and x.shape != (0,):  # torch accepts (0,) too, as a batch without channels
        raise ValueError(f"batch_norm: expected x to have shape (N, C) or (N, C, *), got {tuple(x.shape)}")
    channels = x.shape[1] if x.dim() > 1 else 0
    check_shape("batch_norm", (channels,), **vectors)
    if training and x.numel() == channels > 0:
        raise ValueError(f"batch_norm: expected more than one value per channel in training, got {tuple(x.shape)}")
    axes = [axis for axis in range(x.dim()) if axis != 1]
    return _normalize_channels("batch_norm", x, axes, vectors, training, momentum, eps)


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

    x: (N, C, *), everything else (C,). Running statistics, if given, are updated as in `batch_norm` with the averages
    over N of mean and unbiased variance; use_input_stats=False normalizes with them instead.
    Raises ValueError for a single value per sample and channel and for running statistics that are missing or, with
    use_input_stats=True, cannot be written to.
    Source: Ulyanov et al. 2016, arXiv:1607.08022

    >>> instance_norm(torch.tensor([[[0.0, 2.0], [10.0, 30.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    vectors = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    check_float("instance_norm", x=x, or_none=vectors)
    check_flag("instance_norm", use_input_stats=use_input_stats)
    if x.dim() < 2:
        raise ValueError(f"instance_norm: expected x to have shape (N, C, *), got {tuple(x.shape)}")
    check_shape("instance_norm", x.shape[1:2], **vectors)
    if use_input_stats and math.prod(x.shape[2:]) == 1:
        raise ValueError(f"instance_norm: expected more than one value per sample and channel, got {tuple(x.shape)}")
    axes = list(range(2, x.dim()))
    return _normalize_channels("instance_norm", x, axes, vectors, use_input_stats, momentum, eps)


def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize over the last axes: every token by its own mean and variance.

        y = weight * (x - mean) / sqrt(var + eps) + bias

    x: (*, *normalized_shape), for instance (N, L, d) with (d,); weight, bias: normalized_shape. No token influences
    another, in training or in evaluation.
    Raises ValueError if x does not end with normalized_shape. Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450

    >>> layer_norm(torch.tensor([[0.0, 2.0], [10.0, 30.0]]), (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    check_float("layer_norm", also_jagged=True, x=x, or_none={"weight": weight, "bias": bias})
    shape = check_normalized_shape("layer_norm", x, normalized_shape)
    check_shape("layer_norm", shape, weight=weight, bias=bias)
    eps = check_number("layer_norm", "eps", eps)

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

    x: (N, C) or (N, C, *); weight, bias: (C,). Each group has C / num_groups neighbouring channels. One group is
    `layer_norm` over (C, *), except for the weight; C groups are `instance_norm`.
    Raises ValueError if num_groups does not divide C and for a single value per group.
    Source: Wu and He 2018, arXiv:1803.08494

    >>> group_norm(torch.tensor([[0.0, 2.0, 10.0, 30.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    check_float("group_norm", x=x, or_none={"weight": weight, "bias": bias})
    num_groups = check_integer("group_norm", "num_groups", num_groups, 1)
    eps = check_number("group_norm", "eps", eps)
    if x.dim() < 2:
        raise ValueError(f"group_norm: expected x to have shape (N, C) or (N, C, *), got {tuple(x.shape)}")
    _check_divisible("group_norm", x.shape[1], num_groups)
    check_shape("group_norm", x.shape[1:2], weight=weight, bias=bias)
    if x.shape[0] == 1 and x.numel() == num_groups:
        raise ValueError(f"group_norm: expected more than one value per group, got {tuple(x.shape)}")

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

    x: (*, *normalized_shape), complex too, as in torch; weight: normalized_shape. eps=None is the machine epsilon of
    the type computed in. No mean is subtracted: rms_norm ignores the scale of x but not a shift. (Llama rounds once
    more, before it multiplies by the weight.)
    Raises ValueError if x does not end with normalized_shape. Source: Zhang and Sennrich 2019, arXiv:1910.07467

    >>> rms_norm(torch.tensor([3.0, 4.0]), (2,))
    tensor([0.8485, 1.1314])
    """
    check_float("rms_norm", also_complex=True, also_jagged=True, x=x, or_none={"weight": weight})
    shape = check_normalized_shape("rms_norm", x, normalized_shape)
    check_shape("rms_norm", shape, weight=weight)

    wide, axes = upcast(x), list(range(-len(shape), 0))
    eps = torch.finfo(wide.dtype).eps if eps is None else check_number("rms_norm", "eps", eps)
    return _rescale(wide, wide.square().mean(axes, keepdim=True), eps, weight).to(x.dtype)


# The formula, in two steps: the second alone serves running statistics and rms_norm, which have no mean to subtract.


def _standardize(
    x: Tensor, axes: Sequence[int], eps: float, weight: Tensor | None = None, bias: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The result, in the type of x, and the mean and biased variance that went into it, in the wide type."""
    wide = upcast(x)
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
    return x * scale + bias if x.is_nested else torch.addcmul(bias, x, scale)  # jagged tensors lack addcmul


def _normalize_channels(
    function: str, x: Tensor, axes: Sequence[int], vectors: dict[str, Tensor | None], training: bool, *numbers: float
) -> Tensor:
    """In training, normalize with the batch statistics and update the running ones; otherwise use the running ones."""
    running_mean, running_var, weight, bias = vectors.values()
    momentum, eps = check_number(function, "momentum", numbers[0]), check_number(function, "eps", numbers[1])
    if (running_mean is None) != (running_var is None):
        got = "running_mean" if running_var is None else "running_var"
        raise ValueError(f"{function}: expected both running_mean and running_var or neither, got only {got}")
    weight, bias = _per_channel(x, weight), _per_channel(x, bias)
    if not training:
        if running_mean is None:
            raise ValueError(f"{function}: expected running_mean and running_var, or to use the batch's, got None")
        mean, variance = _per_channel(x, running_mean), _per_channel(x, running_var)
        return _rescale(upcast(x) - mean, variance, eps, weight, bias).to(x.dtype)
    y, mean, variance = _standardize(x, axes, eps, weight, bias)
    if running_mean is not None and x.numel() > 0:
        check_writable(function, running_mean=running_mean, running_var=running_var)
        with torch.no_grad():
            count = x.numel() // mean.numel()
            unbiased = variance * (count / (count - 1))
            # (1, C, 1, ...) of batch_norm or (N, C, 1, ...) of instance_norm to (C,)
            new_mean = ema_step(running_mean, mean.mean(0).flatten(), momentum)
            new_var = ema_step(running_var, unbiased.mean(0).flatten(), momentum)
            running_mean.copy_(new_mean)
            running_var.copy_(new_var)
    return y


def _per_channel(x: Tensor, vector: Tensor | None) -> Tensor | None:
    """(C,) as (C, 1, ...), which broadcasts against x of shape (N, C, *), in the wide type."""
    return None if vector is None else upcast(vector).reshape(-1, *[1] * (x.dim() - 2))


def _check_divisible(function: str, channels: int, num_groups: int) -> None:
    if channels % num_groups:
        raise ValueError(f"{function}: expected num_groups to divide the {channels} channels, got {num_groups}")


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
    """`batch_norm` with a learned weight and bias and with running statistics, for (N, C) and (N, C, *) of any rank.

    In training it normalizes with the batch's statistics, and the buffers running_mean and running_var (unbiased)
    follow them with `momentum`, the weight of the new batch; momentum=None keeps the plain average of all batches. In
    eval() it normalizes with the buffers, or still with the batch if track_running_stats=False.

    Arguments and state_dict keys are those of torch.nn.BatchNorm1d, 2d and 3d, but it is not a subclass of theirs, so
    that torch.optim.swa_utils.update_bn skips it.
    Raises ValueError for a negative eps, a momentum outside [0, 1] and an x without num_features channels.

    >>> norm = BatchNorm(2)
    >>> _ = norm(torch.tensor([[0.0, 10.0], [2.0, 30.0]]))
    >>> norm.running_mean
    tensor([0.1000, 2.0000])
    """

    batch_norm = staticmethod(batch_norm)

    _version = 2  # as in torch; a state saved by version 1 has no num_batches_tracked

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
        num_features = check_integer("BatchNorm", "num_features", num_features, 0)
        eps = check_range("BatchNorm", "eps", eps, 0)
        momentum = None if momentum is None else check_range("BatchNorm", "momentum", momentum, 0, 1)
        check_flag("BatchNorm", affine=affine, track_running_stats=track_running_stats, bias=bias)
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
        _check_channels("BatchNorm", x, self.num_features)
        mean, var, batches = self.running_mean, self.running_var, self.num_batches_tracked
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and not self.track_running_stats:
            mean = var = None
        counts = self.training and mean is not None and batches is not None
        if counts and self.momentum is None:  # plain average: the n-th batch has weight 1 / n
            momentum = 1 / (batches + 1).to(upcast(mean).dtype)
        y = self.batch_norm(x, mean, var, self.weight, self.bias, self.training or mean is None, momentum, self.eps)
        if counts:  # only now, because a batch that is refused does not count
            batches.add_(1)
        return y

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class LayerNorm(_Affine):
    """`layer_norm` with a learned weight, which starts at one, and bias, which starts at zero.

    Arguments and state_dict keys are those of torch.nn.LayerNorm. Raises ValueError for a negative eps.

    >>> LayerNorm(2)(torch.tensor([0.0, 2.0])).detach()
    tensor([-1.0000,  1.0000])
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
        self.normalized_shape = check_sizes("LayerNorm", "normalized_shape", normalized_shape)
        self.eps, self.elementwise_affine = check_range("LayerNorm", "eps", eps, 0), elementwise_affine
        check_flag("LayerNorm", elementwise_affine=elementwise_affine, bias=bias)
        self._register(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine, bias = self.elementwise_affine, self.bias is not None
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={affine}, bias={bias}"


class GroupNorm(_Affine):
    """`group_norm` with a learned weight, which starts at one, and bias, which starts at zero.

    Arguments and state_dict keys are those of torch.nn.GroupNorm. Raises ValueError for a negative eps, num_groups that
    does not divide num_channels and an x without num_channels channels.

    >>> GroupNorm(2, 4)(torch.tensor([[0.0, 2.0, 10.0, 30.0]])).detach()
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
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
        num_groups = check_integer("GroupNorm", "num_groups", num_groups, 1)
        num_channels = check_integer("GroupNorm", "num_channels", num_channels, 0)
        eps = check_range("GroupNorm", "eps", eps, 0)
        check_flag("GroupNorm", affine=affine, bias=bias)
        _check_divisible("GroupNorm", num_channels, num_groups)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register((num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        _check_channels("GroupNorm", x, self.num_channels)
        return self.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={bias}"


class RMSNorm(_Affine):
    """`rms_norm` with a learned weight, which starts at one. There is no bias.

    Arguments and state_dict keys are those of torch.nn.RMSNorm. Raises ValueError for a negative eps.

    >>> RMSNorm(2)(torch.tensor([3.0, 4.0])).detach()
    tensor([0.8485, 1.1314])
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
        self.normalized_shape = check_sizes("RMSNorm", "normalized_shape", normalized_shape)
        self.eps = None if eps is None else check_range("RMSNorm", "eps", eps, 0)
        self.elementwise_affine = elementwise_affine
        check_flag("RMSNorm", elementwise_affine=elementwise_affine)
        self._register(self.normalized_shape, elementwise_affine, False, device, dtype)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return self.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


def _check_channels(function: str, x: Tensor, channels: int) -> None:
    check_float(function, x=x)
    if x.dim() < 2 or x.shape[1] != channels:
        raise ValueError(f"{function}: expected x to have shape (N, {channels}, *), got {tuple(x.shape)}")


# The same two layers as plain loops over Python floats: slow, readable, and the reference for the fast ones.


def batch_norm_loops(x: Tensor, eps: float = 1e-5, per_position: bool = False) -> Tensor:
    """BatchNorm of a batch of sequences, one number at a time, in Python floats.

    x: (N, L, d). One mean and one variance per feature, over all N * L tokens, as torch.nn.BatchNorm1d has it (which
    takes (N, d, L)). per_position=True has one per (position, feature), over N alone: a different layer, for sequences
    of one fixed length.
    Raises ValueError unless x is (N, L, d), for a negative eps and for a single value per statistic.

    >>> batch_norm_loops(torch.tensor([[[0.0], [2.0]]]))
    tensor([[[-1.0000],
             [ 1.0000]]])
    """
    (N, L, d), eps = _check_three_axes("batch_norm_loops", x), check_range("batch_norm_loops", "eps", eps, 0)
    check_flag("batch_norm_loops", per_position=per_position)
    if N * (1 if per_position else L) == 1:
        raise ValueError(f"batch_norm_loops: expected more than one value per statistic, got {tuple(x.shape)}")
    y = x.tolist()
    for positions in [[j] for j in range(L)] if per_position else [range(L)]:
        for k in range(d):
            tokens = [(i, j) for i in range(N) for j in positions]
            column = _standardize_numbers([y[i][j][k] for i, j in tokens], eps)
            for (i, j), number in zip(tokens, column, strict=True):
                y[i][j][k] = number
    return x.new_tensor(y).reshape(x.shape)


def layer_norm_loops(x: Tensor, eps: float = 1e-5) -> Tensor:
    """LayerNorm of a batch of sequences, one token at a time, in Python floats.

    x: (N, L, d). One mean and one variance per token, over its d features.
    Raises ValueError unless x is (N, L, d) and for a negative eps.

    >>> layer_norm_loops(torch.tensor([[[0.0, 2.0], [10.0, 30.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    (N, L, _), eps = _check_three_axes("layer_norm_loops", x), check_range("layer_norm_loops", "eps", eps, 0)
    y = x.tolist()
    for i in range(N):
        for j in range(L):
            y[i][j] = _standardize_numbers(y[i][j], eps)
    return x.new_tensor(y).reshape(x.shape)


def _standardize_numbers(numbers: list[float], eps: float) -> list[float]:
    if not numbers:
        return []
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return [(number - mean) / math.sqrt(variance + eps) for number in numbers]


def _check_three_axes(function: str, x: Tensor) -> torch.Size:
    check_float(function, x=x)
    if x.dim() != 3:
        raise ValueError(f"{function}: expected x to have shape (N, L, d), got {tuple(x.shape)}")
    return x.shape
