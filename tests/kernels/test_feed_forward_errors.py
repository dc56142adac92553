"""Every refusal of the activations and gated units names what was wanted and what came."""

import math

import pytest
import torch

from blocklab import feed_forward as ours

x = torch.ones(2, 5, 6)
WRONG_VALUES = {
    "gelu wants approximate to be 'none' or 'tanh', got 'sigmoid'": lambda: ours.gelu(x, "sigmoid"),
    "gelu wants approximate to be 'none' or 'tanh', got True": lambda: ours.gelu(x, True),
    "swish wants beta to be at least -inf, got nan": lambda: ours.swish(x, math.nan),
    "swish wants beta to be finite, got inf": lambda: ours.swish(x, math.inf),
    "swish wants beta to be finite, got -inf": lambda: ours.swish(x, -math.inf),
    "swish wants beta of shape (), got (6,)": lambda: ours.swish(x, x[0, 0]),
    "glu wants axis -2 of x to be even, got x of (2, 5, 6)": lambda: ours.glu(x, -2),
    "glu wants dim to be an axis of x, got 3 for x of (2, 5, 6)": lambda: ours.glu(x, 3),
    "glu wants dim to be an axis of x, got -4 for x of (2, 5, 6)": lambda: ours.glu(x, -4),
    "glu wants dim to be an axis of x, got -1 for x of ()": lambda: ours.glu(torch.tensor(1.0)),
    "gated_unit wants value of shape (2, 5, 6), got (2, 5, 1)": lambda: ours.gated_unit(x, x[..., :1], "silu"),
    "gated_unit wants value of shape (6,), got (2, 5, 6)": lambda: ours.gated_unit(x[0, 0], x, "silu"),
    "gated_unit wants activation(gate) of shape (2, 5, 6), got (2, 5)": lambda: ours.gated_unit(
        x, x, lambda g: g.sum(-1)
    ),
    "swiglu wants value of shape (2, 5, 6), got (5, 6)": lambda: ours.swiglu(x, x[0]),
    "gated_unit wants activation to be one of relu, gelu, silu, sigmoid or a function, got 'mish'": lambda: (
        ours.gated_unit(x, x, "mish")
    ),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_wrong_value(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert message in str(caught.value)


integers = torch.ones(2, 5, 6, dtype=torch.int64)
WRONG_TYPES = {
    "relu wants x to be a tensor, got float": lambda: ours.relu(1.0),
    "relu wants x of an integer (uint8 or signed) or floating point type, got torch.bool": lambda: ours.relu(x.bool()),
    "relu wants x of an integer (uint8 or signed) or floating point type, got torch.complex64": lambda: ours.relu(
        x.to(torch.complex64)
    ),
    "relu wants x of an integer (uint8 or signed) or floating point type, got torch.uint16": lambda: ours.relu(
        x.to(torch.uint16)
    ),
    "gelu wants x to be a tensor, got list": lambda: ours.gelu([1.0]),
    "gelu wants x of a floating point type, got torch.int64": lambda: ours.gelu(integers),
    "silu wants x to be a tensor, got int": lambda: ours.silu(1),
    "silu wants x of a floating point type, got torch.int64": lambda: ours.silu(integers),
    "swish wants x of a floating point type, got torch.int64": lambda: ours.swish(integers),
    "swish wants beta to be a number, got str": lambda: ours.swish(x, "1"),
    "swish wants beta of a floating point type, got torch.int64": lambda: ours.swish(x, torch.tensor(1)),
    "glu wants x of a floating point type, got torch.int64": lambda: ours.glu(integers),
    "glu wants dim to be an integer, got float": lambda: ours.glu(x, 0.0),
    "gated_unit wants gate of a floating point type, got torch.int64": lambda: ours.gated_unit(integers, x, "silu"),
    "gated_unit wants value of a floating point type, got torch.int64": lambda: ours.gated_unit(x, integers, "silu"),
    "swiglu wants value to be a tensor, got float": lambda: ours.swiglu(x, 1.0),
    "gated_unit wants activation to be one of relu, gelu, silu, sigmoid or a function, got int": lambda: (
        ours.gated_unit(x, x, 1)
    ),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_wrong_type(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert message in str(caught.value)
