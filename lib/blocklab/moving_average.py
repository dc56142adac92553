"""The exponential moving average of BatchNorm.

Momentum is PyTorch's throughout: the weight of the **new** value. Keras gives that name to the weight of the old one.
"""

import math

import torch
from torch import Tensor

from blocklab.arguments import (
    EXACT,
    LARGEST_TABLE,
    want_dtype,
    want_float,
    want_integer,
    want_range,
    want_shape,
    want_writable,
    widen,
)


def ema_update(average: Tensor, value: Tensor, momentum: float) -> Tensor:
    """One step of an exponential moving average, as a new tensor.

        new = (1 - momentum) * average + momentum * value

    average, value: the same shape; result: shape and dtype of average. Among finite numbers momentum 0 changes nothing,
    with 1 the average is the value, and an average that meets its own value stays what it is, to the last bit.
    Others go as the formula does: 0 times infinity is NaN.

    The arithmetic is float32 or wider and is rounded once, at the end.

    Raises ValueError if the shapes differ or momentum is outside [0, 1], TypeError if one is not a float tensor.

    Source: torch.nn.BatchNorm2d, "momentum"
    """
    want_float("ema_update", average=average, value=value)
    want_shape("ema_update", average.shape, value=value)
    momentum = want_range("ema_update", "momentum", momentum, 0, 1)
    return interpolate(average, value, momentum)


def ema_update_(average: Tensor, value: Tensor, momentum: float) -> Tensor:
    """`ema_update` in place: writes into average, records nothing for autograd, and returns average."""
    want_float("ema_update_", average=average, value=value)
    want_shape("ema_update_", average.shape, value=value)
    momentum = want_range("ema_update_", "momentum", momentum, 0, 1)
    want_writable("ema_update_", average=average)
    with torch.no_grad():
        return average.copy_(interpolate(average, value, momentum))


def interpolate(average: Tensor, value: Tensor, momentum: float | Tensor) -> Tensor:
    """The formula of `ema_update` without its checks: torch's batch_norm takes every momentum, so ours must too."""
    common = torch.promote_types(average.dtype, value.dtype)
    old, value = widen(average.to(common)), widen(value.to(common))
    new = torch.lerp(old, value, momentum)  # exact at both ends, but by the difference, which may not be finite
    return torch.where(new.isfinite(), new, (1 - momentum) * old + momentum * value).to(average.dtype)


def ema_weights(momentum: float, steps: int, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """How much each of the last values counts in the average, the newest first.

        weight of the value k steps old = momentum * (1 - momentum)**k,   0 <= k < steps

    Result: (steps,). The weights sum to 1 - (1 - momentum)**steps; the rest is what the start value still counts.

    Computed in float64 and rounded once to dtype.

    Raises ValueError for a momentum outside [0, 1] and for steps that are negative or beyond 2**27, TypeError for steps
    that are not an integer and a dtype that is not a floating point type.

    Source: `ema_update`, unrolled
    """
    momentum = want_range("ema_weights", "momentum", momentum, 0, 1)
    steps = want_integer("ema_weights", "steps", steps, 0, LARGEST_TABLE)
    want_dtype("ema_weights", dtype)
    age = torch.arange(steps, dtype=torch.float64)
    return (momentum * (1 - momentum) ** age).to(dtype)


def half_life(momentum: float) -> float:
    """After how many steps a value counts half of what it counted when it was new.

        (1 - momentum)**steps = 1/2,   steps = log(1/2) / log(1 - momentum)

    Infinite for momentum 0, which forgets nothing, and 0 for momentum 1, which keeps nothing.

    Raises ValueError for a momentum outside [0, 1].

    Source: `ema_weights`
    """
    momentum = want_range("half_life", "momentum", momentum, 0, 1)
    if momentum in (0, 1):
        return math.inf if momentum == 0 else 0.0
    return math.log(1 / 2) / math.log1p(-momentum)


def effective_window(momentum: float) -> float:
    """How old the values in the average are, in the mean, when the newest is one step old.

        1 * momentum + 2 * momentum (1 - momentum) + 3 * momentum (1 - momentum)**2 + ... = 1 / momentum

    Infinite for momentum 0. Raises ValueError for a momentum outside [0, 1].

    Source: `ema_weights`
    """
    momentum = want_range("effective_window", "momentum", momentum, 0, 1)
    return math.inf if momentum == 0 else 1 / momentum


def debias(average: Tensor, momentum: float, steps: int) -> Tensor:
    """Undo the pull towards 0 of an average that started there: divide by the weight that the values have so far.

        average / (1 - (1 - momentum)**steps)

    average: any shape, after so many steps; result: shape and dtype of average. Adam does this, BatchNorm does not, and
    its running variance starts at 1 instead.

    The arithmetic is float32 or wider and is rounded once, at the end.

    Raises ValueError for a momentum that is not above 0 or not at most 1 and for less than one step, TypeError for
    anything but a float tensor, a number and an integer.

    Source: Kingma and Ba 2014, arXiv:1412.6980, section 3
    """
    want_float("debias", average=average)
    momentum = want_range("debias", "momentum", momentum, 0, 1)
    if momentum == 0:
        raise ValueError("debias wants momentum to be above 0, got 0: no value has come in yet")
    steps = want_integer("debias", "steps", steps, 1, EXACT)
    # 1 - (1 - momentum)**steps, which keeps its digits for a small momentum
    weight = 1.0 if momentum == 1 else -math.expm1(steps * math.log1p(-momentum))
    wide = widen(average)
    if weight < torch.finfo(wide.dtype).tiny:
        raise ValueError(f"debias wants momentum to be so large that {wide.dtype} holds it, got {momentum}")
    return (wide / weight).to(average.dtype)


def to_keras(momentum: float) -> float:
    """PyTorch's momentum as Keras and TensorFlow write it: the weight of the **old** value.

        momentum in Keras = 1 - momentum in PyTorch

    Raises ValueError for a momentum outside [0, 1].

    Source: keras.layers.BatchNormalization, "momentum", 0.99 by default
    """
    momentum = want_range("to_keras", "momentum", momentum, 0, 1)
    return 1 - momentum


def from_keras(momentum: float) -> float:
    """Keras' momentum as PyTorch and this package write it: the weight of the **new** value.

        momentum in PyTorch = 1 - momentum in Keras

    Raises ValueError for a momentum outside [0, 1].

    Source: torch.nn.BatchNorm2d, "momentum", 0.1 by default
    """
    momentum = want_range("from_keras", "momentum", momentum, 0, 1)
    return 1 - momentum
