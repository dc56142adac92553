import math

import torch
import torch.nn.functional as F
from torch import nn

from blocklab.moving_average import ema_update
from blocklab.normalization import standardize
from blocklab_course.lessons.catalog import EXERCISES


def same(x):
    return x


def last_axes(_x, shape):
    return tuple(range(-len(shape), 0))


def scaled_and_shifted(y, weight, bias):
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def layer_norm(
    axes=last_axes, enter=same, eps_of=same, spread=same, leave=same, affine=scaled_and_shifted, default=1e-5
):
    """A LayerNorm, right but for what is handed in."""

    def attempt(x, normalized_shape, weight=None, bias=None, eps=default):
        over, x = axes(x, normalized_shape), enter(x)
        variance = spread(x.var(over, correction=0, keepdim=True))
        y = leave((x - x.mean(over, keepdim=True)) / torch.sqrt(variance + eps_of(eps)))
        return affine(y, weight, bias)

    return attempt


def deviating(keep_mean=True, keep_variance=True):
    """A LayerNorm that takes the variance as the mean of the squares of its deviations, and may forget `keepdim`."""

    def attempt(x, normalized_shape, weight=None, bias=None, eps=1e-5):
        over = last_axes(x, normalized_shape)
        centred = x - x.mean(over, keepdim=keep_mean)
        y = centred / (centred.square().mean(over, keepdim=keep_variance) + eps).sqrt()
        return scaled_and_shifted(y, weight, bias)

    return attempt


def deviating_over(**keep):
    """The same over axes that are given by number, without weight and bias."""

    def attempt(x, axes, eps=1e-5):
        centred = x - x.mean(axes, keepdim=keep.get("mean", True))
        return centred / (centred.square().mean(axes, keepdim=keep.get("variance", True)) + eps).sqrt()

    return attempt


def without_affine(attempt):
    """The same over axes that are given by number."""
    return lambda x, axes, eps=1e-5: attempt(x, axes, None, None, eps)


def standardizing(**steps):
    return without_affine(layer_norm(axes=lambda _x, axes: axes, **steps))


def remembering(key):
    """Keeps the arguments of the first call with a key, and takes them for all that have the same."""
    kept = {}

    def attempt(x, *others):
        return F.layer_norm(x, *kept.setdefault(key(x, *others), others))

    return attempt


def axes_by_membership(x, axes, eps=1e-5):
    axes = [axes % x.dim()] if isinstance(axes, int) else list(axes)
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    order = [*rest, *(axis for axis in range(x.dim()) if axis not in rest)]
    rows = x.permute(order).flatten(len(rest))
    y = standardize(rows, -1, eps).view([x.shape[axis] for axis in order])
    return y.permute([order.index(axis) for axis in range(x.dim())])


def flat_is_zero(limit):
    return lambda variance: torch.where(variance > limit, variance, math.inf)


def all_axes_but_the_first(x, shape):
    return tuple(range(max(1, x.dim() - len(shape)), x.dim()))


def unless_zero(y, weight, bias):
    return scaled_and_shifted(y, weight if weight is None or weight.any() else None, bias)


def batch_norm_of_at_most(rank):
    """Takes the mean of more axes apart, and so one for each slice."""

    def attempt(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        def one(x):
            return F.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)

        return one(x) if x.dim() <= rank else torch.stack([one(part) for part in x.unbind(2)], 2)

    return attempt


class SwappedInModule(nn.BatchNorm1d):
    def forward(self, x):
        y = F.batch_norm(
            x, self.running_mean, self.running_var, None, None, self.training, self.momentum, self.eps
        ).movedim(1, -1)
        return (y * self.bias + self.weight).movedim(-1, 1)


class RunningVarianceStays(nn.BatchNorm1d):
    def forward(self, x):
        variance = self.running_var.clone() if self.training else self.running_var
        return F.batch_norm(
            x, self.running_mean, variance, self.weight, self.bias, self.training, self.momentum, self.eps
        )


def batch_in_eval(more_than):
    def attempt(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        if not training and len(x) > more_than:
            return F.batch_norm(x, None, None, weight, bias, True, momentum, eps)
        return F.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)

    return attempt


def channels_alone_if_no_pixels(x):
    return standardize(x, (0, 2, 3) if x.shape[2] * x.shape[3] > 1 else 1)


def in_evaluation_mode(x):
    return F.batch_norm(x, torch.zeros(x.shape[1]), torch.ones(x.shape[1]))


def statistics_kept():
    """Those of the first call with a shape, which are no longer part of any graph."""
    kept = {}

    def attempt(x, axes, eps=1e-5):
        now = x.detach().mean(axes, keepdim=True), x.detach().var(axes, correction=0, keepdim=True)
        mean, variance = kept.setdefault((x.shape, str(axes)), now)
        return (x - mean) / (variance + eps).sqrt()

    return attempt


def difference_of_squares(x, axes, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(axes, keepdim=True)
        variance = x.square().mean(axes, keepdim=True) - mean.square()
    return (x - mean) / (variance.clamp(min=0) + eps).sqrt()


def rms_over(axis):
    def normalized(x, eps):
        wide = x.float()
        return wide * torch.rsqrt(wide.square().mean(axis(x), keepdim=True) + eps)

    return normalized


OTHER_AXES = {
    "the third at most": rms_over(lambda x: min(2, x.dim() - 1)),
    "as a row of a table": rms_over(lambda x: x.dim() - 1 or 1),
}
WHOLE = {
    "clamped to five": {"leave": lambda y: y.clamp(-5, 5)},
    "clamped before": {"enter": lambda x: x.clamp(-1e3, 1e3)},
    "variance with a ceiling": {"spread": lambda v: v.clamp(max=1e3)},
    "flat below 1e-6": {"spread": flat_is_zero(1e-6)},
    "flat below 1e-9": {"spread": flat_is_zero(1e-9)},
    "eps or its default": {"eps_of": lambda eps: eps or 1e-5},
    "eps with a floor": {"eps_of": lambda eps: max(eps, 1e-8)},
    "eps squared": {"eps_of": lambda eps: eps * eps},
    "rounded": {"leave": lambda y: (y * 1e3).round() / 1e3},
    "in half the digits": {"enter": lambda x: x.bfloat16().to(x.dtype)},
}


def if_weight_is_true(y, weight, bias):
    y = y * weight if weight else y
    return y if bias is None else y + bias


def if_both_are_true(y, weight, bias):
    y = y * weight if weight else y
    return y + bias if bias else y


def rms_norm(wide=None, eps_of=None, leave=None, axes=last_axes, affine=lambda y, w: y if w is None else y * w):
    def attempt(x, normalized_shape, weight=None, eps=None):
        y = wide(x) if wide else x if x.dtype == torch.float64 else x.float()
        eps = eps_of(x, eps) if eps_of else torch.finfo(y.dtype).eps if eps is None else eps
        y = y / (y.square().mean(axes(x, normalized_shape), keepdim=True) + eps).sqrt()
        y = affine(y, weight)
        return leave(y, x) if leave else y.to(x.dtype)

    return attempt


def group_norm(affine):
    def attempt(x, num_groups, weight=None, bias=None, eps=1e-5):
        return affine(F.group_norm(x, num_groups, None, None, eps).movedim(1, -1), weight, bias).movedim(-1, 1)

    return attempt


def batch_norm(affine=scaled_and_shifted, kept=same, momentum_of=same):
    def attempt(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        start = running_mean.clone(), running_var.clone()
        y = F.batch_norm(x, running_mean, running_var, None, None, training, momentum_of(momentum), eps)
        if training and kept is not same:
            axes = [axis for axis in range(x.dim()) if axis != 1]
            kept(running_mean, start[0], x.mean(axes).detach())
            kept(running_var, start[1], x.var(axes).detach())
        return affine(y.movedim(1, -1), weight, bias).movedim(-1, 1)

    return attempt


def lerp(average, value, momentum):
    return average.lerp(value, momentum)


def batch_norm_over(axes, update):
    """As one writes it in the lesson, with axes that do not fit every input."""

    def attempt(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        shape = (1, -1) + (1,) * (x.dim() - 2)
        mean, variance = running_mean, running_var
        if training:
            mean, variance = x.mean(axes), x.var(axes, correction=0)
            with torch.no_grad():
                running_mean.copy_(update(running_mean, mean, momentum))
                running_var.copy_(update(running_var, x.var(axes), momentum))
        y = (x - mean.view(shape)) / (variance.view(shape) + eps).sqrt()
        return scaled_and_shifted(y, *(v if v is None else v.view(shape) for v in (weight, bias)))

    return attempt


def first_batch(running, start, batch):
    if (start == start[0]).all() and start[0] in (0, 1):
        running.copy_(batch)


def weight_needs_bias(y, weight, bias):
    return y if bias is None else y * (1 if weight is None else weight) + bias


def bias_needs_weight(y, weight, bias):
    return y if weight is None else y * weight + (0 if bias is None else bias)


def both_or_none(y, weight, bias):
    return y if weight is None or bias is None else y * weight + bias


def bias_always(y, weight, bias):
    if weight is not None:
        y = weight * y
    return y + bias


def bias_where_a_weight_is(y, weight, bias):
    if weight is not None:
        y = y * weight + bias
    return y


def nothing_asked(x, normalized_shape, weight=None, eps=None):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


AFFINE = {
    "weight needs bias": weight_needs_bias,
    "bias needs weight": bias_needs_weight,
    "both or none": both_or_none,
    "weight unless zero": unless_zero,
}


def by_size(x, shape):
    return tuple({x.shape.index(size) for size in shape})


def by_fitting_size(x, shape):
    return tuple(axis for axis in range(x.dim()) if x.shape[axis] in shape)


def divided_by_deviation(x):
    return (x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), correction=0, keepdim=True)


def weighted_by(weigh, shift=lambda y, bias: y if bias is None else y + bias):
    return layer_norm(affine=lambda y, weight, bias: shift(weigh(y, weight), bias))


NEEDS_WEIGHT = {  # each stops with another error where there is none
    "weight as float32": lambda y, weight: (y * weight.float()).to(y.dtype),
    "weight.to": lambda y, weight: y * weight.to(y.dtype),
    "torch.mul": lambda y, weight: torch.mul(y, weight),
    "weight[None]": lambda y, weight: y * weight[None],
    "weight first": lambda y, weight: weight * y,
}


def rms_norm_of_the_rest(axes):
    """F.rms_norm of x without its mean."""
    return lambda x, shape, *given: F.rms_norm(x - x.mean(axes(x, shape), keepdim=True), shape, *given)


def one_axis(axis):
    return lambda _x, _shape: axis


WRONG = {
    "standardize": {name: standardizing(**steps) for name, steps in WHOLE.items()}
    | {
        "axes by membership": axes_by_membership,
        "the variance of everything": (
            lambda x, axes, eps=1e-5: (
                (x - x.mean(axes, True)) / (x - x.mean(axes, True)).square().mean().add(eps).sqrt()
            ),
            {"variance-over-everything"},
        ),
        "deviations misaligned": (deviating_over(mean=False), {"mean-without-keepdim"}),
        "variance of the deviations misaligned": (deviating_over(variance=False), {"variance-without-keepdim"}),
        "deviations and variance misaligned": (
            deviating_over(mean=False, variance=False),
            {"mean-and-variance-without-keepdim"},
        ),
        "mean and variance misaligned": (
            lambda x, axes, eps=1e-5: (x - x.mean(axes)) / (x.var(axes, correction=0) + eps).sqrt(),
            {"mean-and-variance-without-keepdim"},
        ),
        "statistics kept": (statistics_kept(), {None, "wrong-dtype"}),
        "a difference of squares without gradient": difference_of_squares,
    },
    "layer_norm": {name: layer_norm(**steps) for name, steps in WHOLE.items()}
    | {name: layer_norm(affine=affine) for name, affine in AFFINE.items()}
    | {
        "axes by size": layer_norm(axes=by_size),
        "axes by fitting size": layer_norm(axes=by_fitting_size),
        "never the first axis": layer_norm(axes=all_axes_but_the_first),
        "remembers by shape": remembering(lambda x, shape, *_others: (x.shape, shape)),
        "remembers without eps": remembering(lambda x, shape, weight=None, bias=None, eps=1e-5: (x.shape, shape)),
        "weight if true": (layer_norm(affine=if_weight_is_true), {"weight-as-condition"}),
        "both if true": (layer_norm(affine=if_both_are_true), {"weight-and-bias-as-conditions"}),
        "both always": (layer_norm(affine=lambda y, weight, bias: weight * y + bias), {"times-none"}),
        "both always, behind": (layer_norm(affine=lambda y, weight, bias: y * weight + bias), {"times-none"}),
        "bias always": (layer_norm(affine=bias_always), {"plus-none"}),
        "bias where a weight is": (layer_norm(affine=bias_where_a_weight_is), {"bias-with-weight-only"}),
        "bias inside the condition": (layer_norm(affine=bias_needs_weight), {"bias-with-weight-only"}),
        "sizes as axes": (layer_norm(axes=lambda _x, shape: shape), {"sizes-as-axes"}),
        "another default": (layer_norm(default=1e-12), {"eps-default-too-small"}),
        "axis 1": (layer_norm(axes=one_axis(1)), {"over-axis-one"}),
        "deviations misaligned": (deviating(keep_mean=False), {"mean-without-keepdim"}),
        "deviations and variance misaligned": (
            deviating(keep_mean=False, keep_variance=False),
            {"mean-without-keepdim"},
        ),
        "variance of the deviations misaligned": (deviating(keep_variance=False), {"variance-without-keepdim"}),
        **{f"{name}, always": (weighted_by(weigh), {"weight-of-none"}) for name, weigh in NEEDS_WEIGHT.items()},
        "bias.to, always": (
            weighted_by(lambda y, w: y if w is None else y * w, lambda y, bias: y + bias.to(y.dtype)),
            {"bias-of-none"},
        ),
        "weight.to and bias.to, always": (
            weighted_by(NEEDS_WEIGHT["weight.to"], lambda y, bias: y + bias.to(y.dtype)),
            {"weight-and-bias-of-none"},
        ),
        "no default for weight": (lambda x, shape, weight, bias, eps=1e-5: x, {"raises", None}),
        "F.rms_norm without eps": (
            lambda x, shape, weight=None, bias=None, eps=1e-5: scaled_and_shifted(
                F.rms_norm(x - x.mean(last_axes(x, shape), keepdim=True), shape), weight, bias
            ),
            {"machine-epsilon"},
        ),
    },
    "layer_norm_by_axes": {
        "axes by size": lambda x, shape: standardize(x, by_size(x, shape)),
        "axes by fitting size": lambda x, shape: standardize(x, by_fitting_size(x, shape)),
        "never the first axis": lambda x, shape: standardize(x, all_axes_but_the_first(x, shape)),
        "clamped": lambda x, shape: F.layer_norm(x, shape).clamp(-4, 4),
        "no gradient": (lambda x, shape: F.layer_norm(x.detach(), shape), {"not-differentiable"}),
        "all but the batch, by torch": (lambda x, shape: F.layer_norm(x, x.shape[1:]), {"every-axis-but-the-batch"}),
        "sizes as axes, by hand": (
            lambda x, axes: (x - x.mean(axes, True)) * (x.var(axes, correction=0, keepdim=True) + 1e-5).rsqrt(),
            {"sizes-as-axes"},
        ),
    },
    "batch_norm_by_axes": {
        "without eps": divided_by_deviation,
        "without eps, NaN replaced": lambda x: divided_by_deviation(x).nan_to_num(),
        "eps outside": lambda x: (x - x.mean((0, 2, 3), True)) / (x.std((0, 2, 3), correction=0, keepdim=True) + 1e-5),
        "clamped": lambda x: standardize(x, (0, 2, 3)).clamp(-4, 4),
        "channels alone if no pixels": channels_alone_if_no_pixels,
        "channels by size": (
            lambda x: standardize(x, tuple(a for a, size in enumerate(x.shape) if size != x.shape[1])),
            {"axes-by-their-sizes"},
        ),
        "with torch's variance": (
            lambda x: (x - x.mean((0, 2, 3), True)) * (x.var((0, 2, 3), keepdim=True) + 1e-5).rsqrt(),
            {"unbiased-variance"},
        ),
        "in evaluation mode": (in_evaluation_mode, {"module-in-evaluation-mode"}),
        "no gradient": (lambda x: standardize(x.detach(), (0, 2, 3)), {"not-differentiable"}),
    },
    "group_norm": {name: group_norm(affine) for name, affine in AFFINE.items()},
    "rms_norm": {
        "neither None asked for": (nothing_asked, {"eps-and-weight-of-none"}),
        "eps or the machine's": (
            rms_norm(eps_of=lambda x, eps: eps or torch.finfo(torch.float32).eps),
            {"zero-taken-for-none"},
        ),
        "eps or Llama's": (
            rms_norm(eps_of=lambda x, eps: eps or 1e-6),
            {"default-of-llama+zero-taken-for-none"},
        ),
        "axis 1": (rms_norm(axes=one_axis(1)), {"over-axis-one"}),
        "F.rms_norm of x - mean": (rms_norm_of_the_rest(last_axes), {"layer-norm"}),
        "F.rms_norm of x - mean(-1)": (rms_norm_of_the_rest(one_axis(-1)), {"layer-norm"}),
        "the epsilon of float16, always": rms_norm(
            eps_of=lambda x, eps: torch.finfo(torch.float16).eps if eps is None else eps
        ),
        "weight.to, always": (
            rms_norm(affine=lambda y, weight: y * weight.to(y.dtype)),
            {"weight-of-none"},
        ),
        "no default for eps": (lambda x, shape, weight, eps: F.rms_norm(x, shape, weight, eps), {"raises"}),
        "stays wide": (rms_norm(leave=lambda y, x: y), {"stays-wide"}),
        "never the first axis": rms_norm(axes=all_axes_but_the_first),
    },
    "rms_norm_llama": {
        name: lambda x, weight, eps=1e-6, normalized=normalized: normalized(x, eps).to(x.dtype) * weight
        for name, normalized in OTHER_AXES.items()
    }
    | {
        "F.rms_norm of x - mean": (
            lambda x, weight, eps=1e-6: F.rms_norm(x - x.mean(-1, keepdim=True), weight.shape, weight, eps),
            {"layer-norm"},
        ),
        "x - mean, then Llama's": (
            lambda x, weight, eps=1e-6: EXERCISES["rms_norm_llama"].recipe(x - x.mean(-1, keepdim=True), weight, eps),
            {"layer-norm"},
        ),
    },
    "rms_norm_gemma": {
        name: lambda x, w, eps=1e-6, normalized=normalized: (normalized(x, eps) * (1 + w.float())).to(x.dtype)
        for name, normalized in OTHER_AXES.items()
    }
    | {
        "F.rms_norm of x - mean": (
            lambda x, weight, eps=1e-6: F.rms_norm(x - x.mean(-1, keepdim=True), weight.shape, 1 + weight, eps),
            {"layer-norm"},
        ),
    },
    "batch_norm": {name: batch_norm(affine) for name, affine in AFFINE.items()}
    | {
        "pictures at most": batch_norm_of_at_most(4),
        "weight and bias swapped in a Module": (SwappedInModule(3), {"weight-and-bias-swapped"}),
        "a Module without running variance": (RunningVarianceStays(3), {"variance-never-updated"}),
        "the batch in eval, of more than eight": batch_in_eval(8),
        "pictures only": (batch_norm_over((0, 2, 3), lerp), {"pictures-only"}),
        "pictures only, updated as in the lesson": (
            batch_norm_over((0, 2, 3), ema_update),
            {"pictures-only-in-ema-update"},
        ),
        "batch axis only": (batch_norm_over(0, lerp), {"batch-axis-only"}),
        "batch axis only, updated as in the lesson": (
            batch_norm_over(0, ema_update),
            {"batch-axis-only-in-ema-update"},
        ),
        "first batch stored": (batch_norm(kept=first_batch), {"first-batch-stored"}),
        "momentum or its default": batch_norm(momentum_of=lambda momentum: momentum or 0.1),
    },
}
