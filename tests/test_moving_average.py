"""One step of the exponential moving average, in PyTorch's reading of momentum."""

import pytest
import torch
from blocklab.moving_average import ema_update, ema_update_
from conftest import TOLERANCE
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

BOTH = pytest.mark.parametrize("update", [ema_update, ema_update_])


@BOTH
def test_momentum_is_the_weight_of_the_new_value(update):
    # a quarter of the way from 4 to 8
    assert torch.equal(update(torch.tensor([4.0]), torch.tensor([8.0]), 0.25), torch.tensor([5.0]))


@BOTH
def test_the_ends_and_an_average_that_has_arrived_are_exact(update, rng):
    average, value = torch.randn(50, generator=rng), torch.randn(50, generator=rng)
    assert torch.equal(update(average.clone(), value, 0.0), average)
    assert torch.equal(update(average.clone(), value, 1.0), value)
    assert torch.equal(update(average.clone(), average, 0.1), average)


@BOTH
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("value_dtype", TOLERANCE, ids=str)
def test_is_the_formula_rounded_once(update, dtype, value_dtype, rng):
    average, value = (torch.randn(500, generator=rng, dtype=torch.float64) for _ in range(2))
    average, value = average.to(dtype), value.to(value_dtype)
    expected = 0.7 * average.double() + 0.3 * value.double()
    got = update(average, value, 0.3)
    assert got.dtype == dtype
    close = TOLERANCE[torch.float32] if dtype == torch.float64 != value_dtype else TOLERANCE[dtype]
    assert_close(got.double(), expected, **close)


def test_the_first_is_a_new_tensor_and_the_second_is_not():
    average, value = torch.tensor([4.0]), torch.tensor([8.0])
    new = ema_update(average, value, 0.25)
    assert new is not average
    assert torch.equal(average, torch.tensor([4.0]))
    assert ema_update_(average, value, 0.25) is average
    assert torch.equal(average, new)


def test_only_the_first_is_seen_by_autograd():
    value = torch.tensor([8.0], requires_grad=True)
    ema_update(torch.tensor([4.0]), value, 0.25).backward()
    assert torch.equal(value.grad, torch.tensor([0.25]))
    assert not ema_update_(torch.tensor([4.0]), value, 0.25).requires_grad


@given(st.floats(0, 1), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_lies_between_the_two(momentum, average, value):
    average, value = torch.tensor([average], dtype=torch.float64), torch.tensor([value], dtype=torch.float64)
    new = ema_update(average, value, momentum)
    assert torch.minimum(average, value) - 1e-12 <= new <= torch.maximum(average, value) + 1e-12


@BOTH
def test_says_what_was_wrong(update):
    ones = torch.ones(3)
    name = update.__name__
    with pytest.raises(ValueError, match=rf"{name} wants value of shape \(3,\), got \(1,\)"):
        update(ones, ones[:1], 0.1)
    with pytest.raises(ValueError, match=f"{name} wants momentum to be between 0 and 1, got 1.5"):
        update(ones, ones, 1.5)
    with pytest.raises(ValueError, match=f"{name} wants momentum to be between 0 and 1, got -0.5"):
        update(ones, ones, -0.5)
    with pytest.raises(TypeError, match=f"{name} wants value to be a tensor, got float"):
        update(ones, 1.0, 0.1)
    with pytest.raises(TypeError, match=f"{name} wants average of a floating point type, got torch.int64"):
        update(ones.long(), ones, 0.1)
