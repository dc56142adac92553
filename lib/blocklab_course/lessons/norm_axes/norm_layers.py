"""The normalization layers on an (N, C, H, W) tensor: what each computes, and by formula which values share a mean."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from blocklab.normalization import batch_norm, group_norm, instance_norm, layer_norm
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
    "instance": Layer(
        Text(en="InstanceNorm", zh="实例归一化 InstanceNorm"),
        "F.instance_norm(x)",
        instance_norm,
        lambda n, c, h, w: (n, c),
    ),
    "group 2": Layer(
        Text(en="GroupNorm, 2 groups", zh="组归一化 GroupNorm，2 组"),
        "F.group_norm(x, 2)",
        lambda x: group_norm(x, 2),
        lambda n, c, h, w: (n, c // 2),
    ),
    "token": Layer(
        Text(en="LayerNorm per position", zh="层归一化 LayerNorm，逐位置"),
        "F.layer_norm(x.movedim(1, -1), (4,)).movedim(-1, 1)",
        per_position(layer_norm),
        lambda n, c, h, w: (n, h, w),
    ),
}
"""By the names that the panels use."""

CHOICES = {layer.name: key for key, layer in LAYERS.items()}
"""For a panel's choice: the reader's name of each layer → its key in LAYERS."""
