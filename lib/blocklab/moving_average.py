"""The exponential moving average of BatchNorm.

Momentum is PyTorch's throughout: the weight of the **new** value. Keras gives that name to the weight of the old one.
Arithmetic is float32 or wider and rounded once. A momentum outside [0, 1] raises ValueError.
"""

import math

import torch
from torch import Tensor

from blocklab._validation import (
    LARGEST_TABLE,
    check_dtype,
    check_float,
    check_integer,
    check_range,
    check_shape,
    upcast,
)


def ema_update(average: Tensor, value: Tensor, momentum: float) -> Tensor:
    """One step of an exponential moving average, as a new tensor.

        new = (1 - momentum) * average + momentum * value

    average, value: the same shape; result: shape and dtype of average. Among finite numbers, momentum 0 returns the
    average and 1 the value, and an average equal to the value stays the same, to the last bit. Other numbers follow the
    formula: 0 times infinity is NaN.
    Raises ValueError if the shapes differ, TypeError for anything but float tensors.
    Source: torch.nn.BatchNorm2d, "momentum"

    >>> ema_update(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 20.0]), 0.1)
    tensor([ 0.1000, 11.0000])
    """
    return ema_step(*_check_update("ema_update", average, value, momentum))


def ema_update_(average: Tensor, value: Tensor, momentum: float) -> Tensor:
    """`ema_update` in place: overwrites average, records nothing for autograd, and returns average.

    >>> average = torch.tensor([0.0, 10.0])
    >>> _ = ema_update_(average, torch.tensor([1.0, 20.0]), 0.1)
    >>> average
    tensor([ 0.1000, 11.0000])
    """
    average, value, momentum = _check_update("ema_update_", average, value, momentum)
    with torch.no_grad():
        return average.copy_(ema_step(average, value, momentum))


def ema_step(average: Tensor, value: Tensor, momentum: float | Tensor) -> Tensor:
    """`ema_update` without its checks: torch's batch_norm accepts any momentum, so ours must too."""
    common = torch.promote_types(average.dtype, value.dtype)
    old, value = upcast(average.to(common)), upcast(value.to(common))
    new = torch.lerp(old, value, momentum)  # exact at both ends, but their difference may overflow
    return torch.where(new.isfinite(), new, (1 - momentum) * old + momentum * value).to(average.dtype)


def _check_update(function: str, average: Tensor, value: Tensor, momentum: float) -> tuple[Tensor, Tensor, float]:
    check_float(function, average=average, value=value)
    check_shape(function, average.shape, value=value)
    return average, value, check_range(function, "momentum", momentum, 0, 1)


def ema_weights(momentum: float, steps: int, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """How much each of the last values counts in the average, the newest first.

        weight of the value k steps old = momentum * (1 - momentum)**k,   0 <= k < steps

    Result: (steps,), computed in float64. The weights sum to 1 - (1 - momentum)**steps; the rest is the weight of the
    start value.
    Raises ValueError for negative steps or more than 2**27, TypeError for a dtype that is not a floating point type.
    Source: `ema_update`, unrolled

    >>> ema_weights(0.5, 3)
    tensor([0.5000, 0.2500, 0.1250])
    """
    momentum = check_range("ema_weights", "momentum", momentum, 0, 1)
    steps = check_integer("ema_weights", "steps", steps, 0, LARGEST_TABLE)
    check_dtype("ema_weights", dtype)
    age = torch.arange(steps, dtype=torch.float64)
    return (momentum * (1 - momentum) ** age).to(dtype)


def half_life(momentum: float) -> float:
    """After how many steps the weight of a value has halved.

        (1 - momentum)**steps = 1/2,   steps = log(1/2) / log(1 - momentum)

    Infinite for momentum 0, which forgets nothing, and 0 for momentum 1, which keeps nothing. Source: `ema_weights`

    >>> half_life(0.5)
    1.0
    """
    momentum = check_range("half_life", "momentum", momentum, 0, 1)
    if momentum in (0, 1):
        return math.inf if momentum == 0 else 0.0
    return math.log(1 / 2) / math.log1p(-momentum)


def effective_window(momentum: float) -> float:
    """The mean age of the values in the average, if the newest is one step old.

        1 * momentum + 2 * momentum (1 - momentum) + 3 * momentum (1 - momentum)**2 + ... = 1 / momentum

    Infinite for momentum 0. Source: `ema_weights`

    >>> effective_window(0.1)
    10.0
    """
    momentum = check_range("effective_window", "momentum", momentum, 0, 1)
    return math.inf if momentum == 0 else 1 / momentum


def debias(average: Tensor, momentum: float, steps: int) -> Tensor:
    """Correct an average that started at 0: divide by the weight that the values have so far.

        average / (1 - (1 - momentum)**steps)

    average: any shape, after so many steps; result: its shape and dtype. Adam does this. BatchNorm does not: its
    running variance starts at 1 instead.
    Raises ValueError for momentum 0 and fewer than one step, TypeError for anything but a float tensor.
    Source: Kingma and Ba 2014, arXiv:1412.6980, section 3

    >>> debias(torch.tensor([0.1]), 0.1, steps=1)
    tensor([1.])
    """
    check_float("debias", average=average)
    momentum = check_range("debias", "momentum", momentum, 0, 1)
    if momentum == 0:
        raise ValueError("debias: expected momentum to be above 0, got 0: the values have no weight")
    steps = check_integer("debias", "steps", steps, 1)
    # 1 - (1 - momentum)**steps, without cancellation for a small momentum
    weight = 1.0 if momentum == 1 else -math.expm1(steps * math.log1p(-momentum))
    wide = upcast(average)
    if weight < torch.finfo(wide.dtype).tiny:
        raise ValueError(f"debias: expected a momentum large enough for {wide.dtype}, got {momentum}")
    return (wide / weight).to(average.dtype)


def to_keras(momentum: float) -> float:
    """PyTorch's momentum as Keras and TensorFlow define it: the weight of the **old** value.

        momentum in Keras = 1 - momentum in PyTorch

    Source: keras.layers.BatchNormalization, "momentum", 0.99 by default

    >>> to_keras(0.1)
    0.9
    """
    return 1 - check_range("to_keras", "momentum", momentum, 0, 1)


def from_keras(momentum: float) -> float:
    """Keras' momentum as PyTorch and this package define it: the weight of the **new** value.

        momentum in PyTorch = 1 - momentum in Keras

    Source: torch.nn.BatchNorm2d, "momentum", 0.1 by default

    >>> from_keras(0.75)
    0.25
    """
    return 1 - check_range("from_keras", "momentum", momentum, 0, 1)
