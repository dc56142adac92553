import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from blocklab.normalization import batch_norm, standardize


def pictures_by_hand(x):
    mean = x.mean((0, 2, 3), keepdim=True)
    return (x - mean) / (x.var((0, 2, 3), keepdim=True, correction=0) + 1e-5).sqrt()


def channel_by_channel(x):
    return torch.stack([standardize(channel, (0, 1, 2)) for channel in x.unbind(1)], 1)


RIGHT = {
    "scale": {
        "a float": 1e-5**0.5,
        "a tensor": torch.tensor(0.00316),
        "a power": 10**-2.5,
        "a fraction": Fraction(1, 316),
        "a decimal, two digits": Decimal("0.0032"),
        "a number of NumPy": np.float32(0.00316),
    },
    "feature_axes": {"a tuple": (0, 1), "a list": [1, 0], "from the end": (-3, -2)},
    "outputs_that_move": {
        "a tuple": (27, 36, 9, 18, 4),
        "a list of floats": [27.0, 36.0, 9.0, 18.0, 4.0],
        "a tensor": torch.tensor([27, 36, 9, 18, 4]),
    },
    "one_mean_axes": {"both": (0, 1), "a list from the end": [-2, -1]},
    "half_size": {"the root": (1e-5 / 3) ** 0.5, "read off": 0.0018, "a tensor": torch.tensor(0.00183)},
    "root_mean_square": {
        "a root": 12.5**0.5,
        "a tensor": torch.tensor(12.5).sqrt(),
        "two digits": 3.54,
        "a fraction": Fraction(354, 100),
    },
    "weight_by_hand": {
        "from what the lesson says": 16.9 / (4.1 + 1 + 16.9),
        "two digits": 0.77,
        "a tensor": torch.tensor([2.0, 0, 4]).div(2**0.5).softmax(0)[2],
    },
    "turned_product": {
        "the cosine": 6 * math.cos(4),
        "a tensor": torch.tensor([2.0, 0]) @ torch.tensor([3 * math.cos(-4), 3 * math.sin(-4)]),
        "four digits": -3.922,
        "three digits": -3.92,
        "both turned": 6 * (math.cos(5) * math.cos(1) + math.sin(5) * math.sin(1)),
    },
    "values_per_mean": {"a number": 64, "a product": 2 * 32, "a float": 64.0, "a tensor": torch.tensor(64)},
    "batch_norm_by_axes": {
        "standardize": lambda x: standardize(x, (0, 2, 3)),
        "torch": lambda x: F.batch_norm(x, None, None, training=True),
        "ours": lambda x: batch_norm(x, None, None, training=True),
        "by hand": pictures_by_hand,
        "transposed": lambda x: standardize(x.transpose(0, 1), (1, 2, 3)).transpose(0, 1),
    },
    "layer_norm_by_axes": {
        "standardize": lambda x, shape: standardize(x, tuple(range(-len(shape), 0))),
        "torch": F.layer_norm,
        "axes from the front": lambda x, shape: standardize(x, tuple(range(x.dim() - len(shape), x.dim()))),
        "flattened": lambda x, shape: standardize(x.flatten(-len(shape)), -1).view_as(x),
    },
}
ADVISED = {"batch_norm_by_axes": {"a loop over the channels": (channel_by_channel, ("slow", "empty"))}}
