"""Reshape a vector of channels so that it broadcasts along the axes of a batch."""

from torch import Tensor

from ..mistake import wrong


def along_channels(vector: Tensor | None, x: Tensor) -> Tensor | None:
    """Reshape (C,) to (1, C, 1, ...), with as many axes as x."""
    return None if vector is None else vector.view(1, -1, *[1] * (x.dim() - 2))


def not_reshaped(vector: Tensor | None, _x: Tensor) -> Tensor | None:
    """Return the vector unchanged, so that it broadcasts along the last axis."""
    return vector


AFFINE_ON_THE_LAST_AXIS = wrong("affine-on-the-last-axis", lay_affine=not_reshaped).hint(
    en="`weight` and `bias` of shape `(C,)` broadcast along the last axis, not along the channels: that fails, or "
    "gives every column a scale of its own. View them as `(1, C, 1, …)`.",
    zh="形状为 `(C,)` 的 `weight` 和 `bias` 会沿最后一个轴广播，"
    "而不是沿通道轴：要么报错，要么变成每一列各有一个缩放参数。请把它们变形为 `(1, C, 1, …)`。",
)
