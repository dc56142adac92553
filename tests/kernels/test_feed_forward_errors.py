"""Error messages of the activations and gated units."""

import math

import pytest
import torch

from blocklab import feed_forward as ours

x = torch.ones(2, 5, 6)
WRONG_VALUES = {
    "gelu: expected approximate to be 'none' or 'tanh', got 'sigmoid'": lambda: ours.gelu(x, "sigmoid"),
    "gelu: expected approximate to be 'none' or 'tanh', got True": lambda: ours.gelu(x, True),
    "swish: expected beta to be finite, got nan": lambda: ours.swish(x, math.nan),
    "swish: expected beta to be finite, got inf": lambda: ours.swish(x, math.inf),
    "swish: expected beta to be finite, got -inf": lambda: ours.swish(x, -math.inf),
    "swish: expected beta to have shape (), got (6,)": lambda: ours.swish(x, x[0, 0]),
    "glu: expected axis -2 of x to be even, got x of shape (2, 5, 6)": lambda: ours.glu(x, -2),
    "glu: expected dim to be an axis of x, got 3 for x of shape (2, 5, 6)": lambda: ours.glu(x, 3),
    "glu: expected dim to be an axis of x, got -4 for x of shape (2, 5, 6)": lambda: ours.glu(x, -4),
    "glu: expected dim to be an axis of x, got -1 for x of shape ()": lambda: ours.glu(torch.tensor(1.0)),
    "gated_unit: expected value to have shape (2, 5, 6), got (2, 5, 1)": lambda: ours.gated_unit(x, x[..., :1], "silu"),
    "gated_unit: expected value to have shape (6,), got (2, 5, 6)": lambda: ours.gated_unit(x[0, 0], x, "silu"),
    "gated_unit: expected activation(gate) to have shape (2, 5, 6), got (2, 5)": lambda: ours.gated_unit(
        x, x, lambda g: g.sum(-1)
    ),
    "swiglu: expected value to have shape (2, 5, 6), got (5, 6)": lambda: ours.swiglu(x, x[0]),
    "gated_unit: expected activation to be one of relu, gelu, silu, sigmoid or a function, got 'mish'": lambda: (
        ours.gated_unit(x, x, "mish")
    ),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message


integers = torch.ones(2, 5, 6, dtype=torch.int64)
WRONG_TYPES = {
    "relu: expected x to be a tensor, got float 1.0": lambda: ours.relu(1.0),
    "relu: expected x to have an integer or floating point dtype, got torch.bool": lambda: ours.relu(x.bool()),
    "relu: expected x to have an integer or floating point dtype, got torch.complex64": lambda: ours.relu(
        x.to(torch.complex64)
    ),
    "gelu: expected x to be a tensor, got list [1.0]": lambda: ours.gelu([1.0]),
    "gelu: expected x to have a floating point dtype, got torch.int64": lambda: ours.gelu(integers),
    "silu: expected x to be a tensor, got int 1": lambda: ours.silu(1),
    "silu: expected x to have a floating point dtype, got torch.int64": lambda: ours.silu(integers),
    "swish: expected x to have a floating point dtype, got torch.int64": lambda: ours.swish(integers),
    "swish: expected beta to be a number, got str '1'": lambda: ours.swish(x, "1"),
    "swish: expected beta to have a floating point dtype, got torch.int64": lambda: ours.swish(x, torch.tensor(1)),
    "glu: expected x to have a floating point dtype, got torch.int64": lambda: ours.glu(integers),
    "glu: expected dim to be an integer, got float 0.0": lambda: ours.glu(x, 0.0),
    "gated_unit: expected gate to have a floating point dtype, got torch.int64": lambda: ours.gated_unit(
        integers, x, "silu"
    ),
    "gated_unit: expected value to have a floating point dtype, got torch.int64": lambda: ours.gated_unit(
        x, integers, "silu"
    ),
    "swiglu: expected value to be a tensor, got float 1.0": lambda: ours.swiglu(x, 1.0),
    "gated_unit: expected activation to be one of relu, gelu, silu, sigmoid or a function, got int 1": lambda: (
        ours.gated_unit(x, x, 1)
    ),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_type_error_messages(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert str(caught.value) == message
