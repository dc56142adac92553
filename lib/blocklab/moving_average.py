"""The exponential moving average of BatchNorm.

Momentum is PyTorch's throughout: the weight of the **new** value. Keras gives that name to the weight of the old one.
"""

import torch
from torch import Tensor

from blocklab.arguments import want_float, want_range, want_shape, widen


def ema_update(average: Tensor, value: Tensor, momentum: float) -> Tensor:
    """One step of an exponential moving average, as a new tensor.

        new = (1 - momentum) * average + momentum * value

    average, value: the same shape; result: shape and dtype of average. With momentum 0 nothing changes, with 1 the
    average is the value, and an average that meets its own value stays what it is, to the last bit.

    The arithmetic is float32 or wider and is rounded once, at the end.

    Raises ValueError if the shapes differ or momentum is outside [0, 1], TypeError if one is not a float tensor.

    Source: torch.nn.BatchNorm2d, "momentum"
    """
    want_float("ema_update", average=average, value=value)
    want_shape("ema_update", average.shape, value=value)
    want_range("ema_update", "momentum", momentum, 0, 1)
    return interpolate(average, value, momentum)


def ema_update_(average: Tensor, value: Tensor, momentum: float) -> Tensor:
    """`ema_update` in place: writes into average, records nothing for autograd, and returns average."""
    want_float("ema_update_", average=average, value=value)
    want_shape("ema_update_", average.shape, value=value)
    want_range("ema_update_", "momentum", momentum, 0, 1)
    with torch.no_grad():
        return average.copy_(interpolate(average, value, momentum))


def interpolate(average: Tensor, value: Tensor, momentum: float | Tensor) -> Tensor:
    """The formula of `ema_update` without its checks: torch's batch_norm takes every momentum, so ours must too."""
    common = torch.promote_types(average.dtype, value.dtype)
    new = torch.lerp(widen(average.to(common)), widen(value.to(common)), momentum)
    return new.to(average.dtype)
