import torch
from torch import nn

import blocklab.moving_average


class Average(nn.Module):
    def forward(self, average, value, momentum):
        return average.lerp(value, momentum)


def two_products(average, value, momentum):
    return (1 - momentum) * average + momentum * value


def difference(old, new, alpha):
    return old - (old - new) * alpha


def in_place_on_its_own_copy(average, value, momentum):
    new = average.clone()
    return new.mul_(1 - momentum).add_(value, alpha=momentum)


def detached(average, value, momentum):
    with torch.no_grad():
        return average + momentum * (value - average)


def as_a_product_of_matrices(average, value, momentum):
    weights = torch.tensor([1 - momentum, momentum], dtype=average.dtype)
    return torch.einsum("w,w...->...", weights, torch.stack([average, value]))


def in_float64(average, value, momentum):
    new = average.double() * (1 - momentum) + value.double() * momentum
    return new.to(average.dtype)


def number_by_number(average, value, momentum):
    pairs = zip(average.flatten(), value.flatten(), strict=True)
    return torch.stack([torch.lerp(old, new, momentum) for old, new in pairs]).view_as(average)


RIGHT = {
    "ema_update": {
        "ours": blocklab.moving_average.ema_update,
        "torch's lerp": torch.lerp,
        "two products": two_products,
        "the difference": difference,
        "in place on its own copy": in_place_on_its_own_copy,
        "detached": detached,
        "a product of matrices": as_a_product_of_matrices,
        "in float64": in_float64,
        "a lambda": lambda a, v, m: a + m * (v - a),
        "compiled": torch.compile(two_products, backend="eager"),
        "a Module": Average(),
    }
}
ADVISED = {"ema_update": {"number by number": (number_by_number, ("slow",))}}
