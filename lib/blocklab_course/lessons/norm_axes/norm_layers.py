"""The normalization layers on an (N, C, H, W) tensor: what each computes, and by formula which values share a mean."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from blocklab.normalization import batch_norm, group_norm, instance_norm, layer_norm, rms_norm, standardize
from blocklab_course.i18n import Text


@dataclass(frozen=True)
class Layer:
    """A layer: its name, torch's call as one would type it, the function, and the key that values of a group share."""

    name: Text
    call: str
    apply: Callable[[Tensor], Tensor]
    key: Callable[..., tuple]

    def groups(self, shape: tuple[int, int, int, int]) -> np.ndarray:
        """The number of the group that each value belongs to, by formula alone: 0, 1, 2 … in order of appearance."""
        key = np.stack([np.broadcast_to(index, shape).ravel() for index in self.key(*np.indices(shape))])
        return np.unique(key, axis=1, return_inverse=True)[1].reshape(shape)


def per_position(function: Callable[..., Tensor]) -> Callable[[Tensor], Tensor]:
    """The function on the channels of every position: channels last, and back."""
    return lambda x: function(x.movedim(1, -1), (x.shape[1],)).movedim(-1, 1)


def in_groups(groups: int, channels: int = 4) -> Layer:
    """GroupNorm with that many groups of the channels."""
    plural = "s" * (groups > 1)
    return Layer(
        Text(en=f"GroupNorm, {groups} group{plural}", zh=f"组归一化 GroupNorm，{groups} 组"),
        f"F.group_norm(x, {groups})",
        lambda x: group_norm(x, groups),
        lambda n, c, h, w: (n, c * groups // channels),
    )


LAYERS = {
    "batch": Layer(
        Text(en="BatchNorm", zh="批量归一化 BatchNorm"),
        "F.batch_norm(x, None, None, training=True)",
        lambda x: batch_norm(x, None, None, training=True),
        lambda n, c, h, w: (c,),
    ),
    "sample": Layer(
        Text(en="LayerNorm over (C, H, W)", zh="层归一化 LayerNorm，沿 C、H、W"),
        "F.layer_norm(x, (4, 3, 3))",
        lambda x: layer_norm(x, x.shape[1:]),
        lambda n, c, h, w: (n,),
    ),
    "token": Layer(
        Text(en="LayerNorm per position", zh="层归一化 LayerNorm，逐位置"),
        "F.layer_norm(x.movedim(1, -1), (4,)).movedim(-1, 1)",
        per_position(layer_norm),
        lambda n, c, h, w: (n, h, w),
    ),
    "instance": Layer(
        Text(en="InstanceNorm", zh="实例归一化 InstanceNorm"),
        "F.instance_norm(x)",
        instance_norm,
        lambda n, c, h, w: (n, c),
    ),
    "group 1": in_groups(1),
    "group 2": in_groups(2),
    "group 4": in_groups(4),
    "rms": Layer(
        Text(en="RMSNorm per position", zh="均方根归一化 RMSNorm，逐位置"),
        "F.rms_norm(x.movedim(1, -1), (4,)).movedim(-1, 1)",
        per_position(rms_norm),
        lambda n, c, h, w: (n, h, w),
    ),
    "dim 0": Layer(
        Text(en="one loop too many (dim=0)", zh="多了一层循环（dim=0）"),
        "standardize(x, axes=0)",
        lambda x: standardize(x, 0),
        lambda n, c, h, w: (c, h, w),
    ),
}
"""By the names that the panels use."""

CHOICES = {layer.name: key for key, layer in LAYERS.items()}
"""For a panel's choice: the reader's name of each layer → its key in LAYERS."""
