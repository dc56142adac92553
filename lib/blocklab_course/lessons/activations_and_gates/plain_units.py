"""What plain hidden units see of two numbers, and the line that tells how much of the product they miss."""

import torch
from torch import Tensor

from blocklab_course.i18n import Text

FARTHEST = 4.0  # the largest x₁ + x₂ in the square: a unit that bends farther out is a straight line in it
MISSED = Text(
    en="{:2} units miss: without biases {:.1%}, with them {:.5%}",
    zh="{:2} 个单元的误差：没有偏置 {:.1%}，有偏置 {:.5%}",
)


def all_around(x1: Tensor, x2: Tensor, units: int) -> Tensor:
    """What units without biases see, (points, units): their arrows point evenly all around the plane."""
    angles = torch.pi / 4 + torch.arange(units) * 2 * torch.pi / units
    return x1[:, None] * angles.cos() + x2[:, None] * angles.sin()


def along_two(x1: Tensor, x2: Tensor, units: int) -> Tensor:
    """What units with biases see, (points, units): half x₁ + x₂, half x₁ − x₂, bent at even distances.

    Two sums of such pieces follow the parabolas (x₁ + x₂)² and (x₁ − x₂)².
    """
    bends = torch.linspace(FARTHEST, -FARTHEST, units // 2 + 1)[:-1]
    return torch.cat([(x1 + x2)[:, None] + bends, (x1 - x2)[:, None] + bends], 1)


def print_missed(units: int, without: Tensor, with_biases: Tensor) -> None:
    """The shares of the product's variance that are missed."""
    print(MISSED.format(units, without, with_biases))
