"""How much of the product of two numbers a layer of ReLU units misses, with the best output weights."""

import torch
import torch.nn.functional as F

SIDE, POINTS = 2.0, 201  # half the side of the square, and points along it
FARTHEST = 4.0  # the largest x₁ + x₂ in the square: a unit that bends farther out is a straight line in it


def missed_by_relu(units: int, biases: bool = False) -> float:
    """The share of the variance of x₁ · x₂ that is missed on the square from −2 to 2, centred there on 0.

    Without biases the arrows of the units point evenly all around the plane. With them half the units see x₁ + x₂, half
    x₁ − x₂, and they bend at even distances: two sums of such pieces follow the parabolas (x₁ + x₂)² and (x₁ − x₂)².
    """
    side = torch.linspace(-SIDE, SIDE, POINTS, dtype=torch.float64)
    x1, x2 = torch.cartesian_prod(side, side).T[..., None]  # (points, 1) each
    if biases:
        bends = torch.linspace(FARTHEST, -FARTHEST, units // 2 + 1)[:-1]
        seen = torch.cat([x1 + x2 + bends, x1 - x2 + bends], 1)  # (points, units)
    else:
        angles = torch.pi / 4 + torch.arange(units) * 2 * torch.pi / units
        seen = x1 * angles.cos() + x2 * angles.sin()
    hidden, product = F.relu(seen), x1 * x2
    best = torch.linalg.lstsq(hidden, product, driver="gelsd").solution
    return float((hidden @ best - product).square().mean() / product.square().mean())
