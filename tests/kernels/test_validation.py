"""The checks of arguments that all kernels share: what they accept, and the complete messages of their errors."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from blocklab import _validation as ours

x = torch.ones(2, 3)
meta = torch.ones(2, device="meta")
learned = torch.tensor(1.0, requires_grad=True)
linear = nn.Linear(3, 4)
NAN = float("nan")
NAMES = {"relu": torch.relu, "tanh": torch.tanh}


def nested(layout):
    return torch.nested.nested_tensor([x[0], x[1, :2]], layout=layout)


WRONG_TYPES = {
    "f: expected x to be a tensor, got list [1.0]": lambda: ours.check_tensor("f", "x", [1.0]),
    "f: expected x to be a tensor, got the class Linear": lambda: ours.check_tensor("f", "x", nn.Linear),
    "f: expected x to be a dense tensor, got a sparse_coo one": lambda: ours.check_tensor("f", "x", x.to_sparse()),
    "f: expected x to be a dense tensor, got a nested one": lambda: ours.check_tensor("f", "x", nested(torch.jagged)),
    "f: expected a to have a floating point dtype, got torch.int64": lambda: ours.check_float("f", a=x.long()),
    "f: expected b to have a floating point dtype, got torch.complex64": lambda: ours.check_float(
        "f", a=x, or_none={"b": x.to(torch.complex64), "c": None}
    ),
    "f: expected a to be torch.float32 like weights, got torch.float64": lambda: ours.check_matches_weights(
        "f", linear, a=x.double()
    ),
    "f: expected n to be a number, got str '1'": lambda: ours.check_number("f", "n", "1"),
    "f: expected n to be a number, got Tensor of shape () and torch.float32 that requires grad": lambda: (
        ours.check_number("f", "n", learned)
    ),
    "f: expected n to be a number, got Tensor of shape (1,) and torch.float32": lambda: ours.check_range(
        "f", "n", torch.ones(1), 0
    ),
    "f: expected n to be an integer, got float 2.0": lambda: ours.check_integer("f", "n", 2.0),
    "f: expected n to be an integer, got bool True": lambda: ours.check_integer("f", "n", True),
    "f: expected n to be an integer, got Tensor of shape () and torch.bool": lambda: ours.check_integer(
        "f", "n", torch.tensor(True)
    ),
    "f: expected flag to be True or False, got NoneType": lambda: ours.check_flag("f", other=True, flag=None),
    "f: expected flag to be True or False, got int 1": lambda: ours.check_flag("f", flag=1),
    "f: expected dtype to be a floating point type, got torch.int8": lambda: ours.check_dtype("f", torch.int8),
    "f: expected dtype to be a floating point type, got str 'half'": lambda: ours.check_dtype("f", "half"),
    "f: expected activation to be one of relu, tanh or a function, got int 1": lambda: ours.check_activation(
        "f", 1, NAMES
    ),
    "f: expected activation to be one of relu, tanh or a function, got the class ReLU": lambda: ours.check_activation(
        "f", nn.ReLU, NAMES
    ),
    "f: expected activation(gate) to be a tensor, got NoneType": lambda: ours.activate("f", lambda x: None, gate=x),
    "f: expected activation(gate) to have dtype torch.float32, got torch.int64": lambda: ours.activate(
        "f", torch.Tensor.long, gate=x
    ),
    "f: expected axes to be an integer or a tuple of integers, got (0, 1.0)": lambda: ours.check_axes("f", x, (0, 1.0)),
    "f: expected normalized_shape to be a tuple of integers, got 3": lambda: ours.check_normalized_shape("f", x, 3),
    "f: expected normalized_shape to be a tuple of integers, got [3.0]": lambda: ours.check_normalized_shape(
        "f", x, [3.0]
    ),
    "f: expected n to be an integer, got str '3'": lambda: ours.check_sizes("f", "n", (2, "3")),
    "f: expected n to be an integer, got float 3.0": lambda: ours.check_sizes("f", "n", torch.tensor([3.0])),
    "f: expected n to be an integer, got list [2, 3]": lambda: ours.check_sizes("f", "n", np.array([[2, 3]])),
}
WRONG_VALUES = {
    "f: expected b on cpu like a, got it on meta": lambda: ours.check_float("f", a=x, b=meta),
    "f: expected c on cpu like a, got it on meta": lambda: ours.check_one_device("f", a=x, b=x, c=meta),
    "f: expected a on cpu like weights, got it on meta": lambda: ours.check_matches_weights("f", linear, a=meta),
    "f: expected b to have shape (3,), got (2, 3)": lambda: ours.check_shape("f", [3], a=x[0], none=None, b=x),
    "f: expected n to be at least 0, got -1.0": lambda: ours.check_range("f", "n", -1, 0),
    "f: expected n to be between 0 and 1, got nan": lambda: ours.check_range("f", "n", NAN, 0, 1),
    "f: expected n to be between 0 and 1, got 1.5": lambda: ours.check_range("f", "n", 1.5, 0, 1),
    "f: expected n to be at least 1, got 0": lambda: ours.check_integer("f", "n", 0, 1, 5),
    "f: expected n to be between 1 and 5, got 6": lambda: ours.check_integer("f", "n", 6, 1, 5),
    "f: expected mode to be 'a' or 'b', got 'c'": lambda: ours.check_choice("f", "mode", "c", "a", "b"),
    "f: expected mode to be 'a' or 'b', got ['a']": lambda: ours.check_choice("f", "mode", ["a"], "a", "b"),
    "f: expected activation to be one of relu, tanh or a function, got 'sin'": lambda: ours.check_activation(
        "f", "sin", NAMES
    ),
    "f: expected activation(gate) to have shape (2, 3), got ()": lambda: ours.activate("f", torch.sum, gate=x),
    "f: expected axes between -2 and 1, at least one, got 2": lambda: ours.check_axes("f", x, 2),
    "f: expected axes between -1 and 0, at least one, got 1": lambda: ours.check_axes("f", x[0], 1),
    "f: expected axes between -2 and 1, at least one, got -3": lambda: ours.check_axes("f", x, -3),
    "f: expected axes between -2 and 1, at least one, got []": lambda: ours.check_axes("f", x, []),
    "f: expected different axes, got (0, -2) for x of shape (2, 3)": lambda: ours.check_axes("f", x, (0, -2)),
    "f: expected normalized_shape to have at least one axis, got ()": lambda: ours.check_normalized_shape("f", x, ()),
    "f: expected x to end with shape (2,), got (2, 3)": lambda: ours.check_normalized_shape("f", x, (2,)),
    "f: expected n to have at least one axis, got ()": lambda: ours.check_sizes("f", "n", ()),
    "f: expected n to be at least 0, got -1": lambda: ours.check_sizes("f", "n", [2, -1]),
    "f: expected a x b to have at most 6 elements, got 2 x 4": lambda: ours.check_numel("f", "a x b", 2, 4, most=6),
    f"f: expected a to have at most {2**30} elements, got {2**30 + 1}": lambda: ours.check_numel("f", "a", 2**30 + 1),
}


@pytest.mark.filterwarnings("ignore:.*nested tensors")
@pytest.mark.parametrize("message", WRONG_TYPES)
def test_type_error_messages(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert str(caught.value) == message


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message


@pytest.mark.filterwarnings("ignore:.*nested tensors")
def test_only_jagged_tensors_can_be_allowed():
    ours.check_tensor("f", "x", nested(torch.jagged), also_jagged=True)
    for also_jagged in (False, True):
        with pytest.raises(TypeError, match=r"^f: expected x to be a dense tensor, got a nested one$"):
            ours.check_tensor("f", "x", nested(torch.strided), also_jagged)


def test_numbers_are_returned_as_floats():
    for value in (1, 1.0, True, np.float32(1), torch.tensor(1)):
        assert type(ours.check_number("f", "n", value)) is float
        assert ours.check_range("f", "n", value, 1, 1) == 1
    assert ours.check_number("f", "n", meta[0]).is_meta


def test_integers_are_returned_as_python_integers():
    for value in (3, np.int8(3), torch.tensor(3)):
        assert type(ours.check_integer("f", "n", value, 3, 3)) is int
        assert ours.check_sizes("f", "n", value) == ours.check_normalized_shape("f", x, [value]) == (3,)
        assert ours.check_sizes("f", "n", [0, value]) == (0, 3)
    for sizes in (torch.tensor([0, 3]), np.array([0, 3]), torch.Size([0, 3]), range(0, 6, 3)):
        assert ours.check_sizes("f", "n", sizes) == (0, 3)
        assert all(type(size) is int for size in ours.check_sizes("f", "n", sizes))


def test_axes_are_returned_as_a_tuple():
    assert ours.check_axes("f", x, 1) == (1,)
    assert ours.check_axes("f", x, [-1, np.int64(-2)]) == (-1, -2)
    assert ours.check_axes("f", torch.tensor(1.0), 0) == (0,)


def test_largest_allowed_size_is_accepted():
    ours.check_numel("f", "a x b", 2, 3, most=6)
    ours.check_numel("f", "a", 2**30)
    assert ours.check_normalized_shape("f", x, (2, 3)) == (2, 3)


def test_float16_is_computed_in_float32():
    assert ours.upcast(x.half()).dtype == torch.float32
    assert ours.upcast(x.double()).dtype == torch.float64


def test_optional_types_are_accepted():
    ours.check_float("f", also_complex=True, a=x.to(torch.complex64))
    ours.check_float("f", also_jagged=True, a=nested(torch.jagged))
    ours.check_float("f", a=meta, b=meta)


def test_quantized_weights_are_not_checked():
    ours.check_matches_weights("f", torch.ones(2, dtype=torch.int8), a=meta)
    ours.check_matches_weights("f", nn.Identity(), a=x)


def test_autocast_applies_to_all_types_but_float64():
    assert ours.autocast(x) is x
    with torch.autocast("cpu", torch.bfloat16):
        assert ours.autocast(x).dtype == torch.bfloat16
        assert ours.autocast(x.double()).dtype == torch.float64
        ours.check_matches_weights("f", linear, a=x.bfloat16())
        assert ours.activate("f", torch.Tensor.bfloat16, gate=x).dtype == torch.bfloat16
        with pytest.raises(TypeError, match=r"to have dtype torch\.float32, got torch\.bool"):
            ours.activate("f", lambda x: x > 0, gate=x)
    assert not ours.autocast_applies(meta)


def test_activations_are_returned_as_functions():
    assert ours.check_activation("f", "tanh", NAMES) is torch.tanh
    assert ours.check_activation("f", torch.sin, NAMES) is torch.sin
    assert_close(ours.activate("f", torch.sin, gate=x), x.sin())


def test_messages_shorten_long_values():
    assert len(ours.short_repr(10**100)) < 50
    assert ours.describe("a") == "str 'a'"
    assert ours.describe(torch.int8) == "torch.int8"
