"""The exponential moving average with PyTorch's momentum: one step and many."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab.moving_average import (
    debias,
    effective_window,
    ema_update,
    ema_update_,
    ema_weights,
    from_keras,
    half_life,
    to_keras,
)
from tolerance import TOLERANCE

BOTH = pytest.mark.parametrize("update", [ema_update, ema_update_])


@BOTH
def test_momentum_is_the_weight_of_the_new_value(update):
    # a quarter of the way from 4 to 8
    assert torch.equal(update(torch.tensor([4.0]), torch.tensor([8.0]), 0.25), torch.tensor([5.0]))


@BOTH
def test_momentum_0_and_1_and_equal_values_are_exact(update, rng):
    average, value = torch.randn(50, generator=rng), torch.randn(50, generator=rng)
    assert torch.equal(update(average.clone(), value, 0.0), average)
    assert torch.equal(update(average.clone(), value, 1.0), value)
    assert torch.equal(update(average.clone(), average, 0.1), average)


@BOTH
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("value_dtype", TOLERANCE, ids=str)
def test_update_matches_the_formula_and_rounds_once(update, dtype, value_dtype, rng):
    average, value = (torch.randn(500, generator=rng, dtype=torch.float64) for _ in range(2))
    average, value = average.to(dtype), value.to(value_dtype)
    expected = 0.7 * average.double() + 0.3 * value.double()
    got = update(average, value, 0.3)
    assert got.dtype == dtype
    close = TOLERANCE[torch.float32] if dtype == torch.float64 != value_dtype else TOLERANCE[dtype]
    assert_close(got.double(), expected, **close)


@BOTH
@pytest.mark.parametrize("momentum", [0.0, 0.3, 0.5, 0.7, 1.0])
def test_overflowing_differences_follow_the_formula(update, momentum):
    far = [math.inf, -math.inf, 3e38, -3e38, 1.0, math.nan]
    average, value = torch.cartesian_prod(torch.tensor(far), torch.tensor(far)).unbind(-1)
    expected = ((1 - momentum) * average.double() + momentum * value.double()).float()
    assert_close(update(average.clone(), value, momentum), expected, equal_nan=True)


def test_ema_update_copies_and_ema_update__overwrites():
    average, value = torch.tensor([4.0]), torch.tensor([8.0])
    new = ema_update(average, value, 0.25)
    assert new is not average
    assert torch.equal(average, torch.tensor([4.0]))
    assert ema_update_(average, value, 0.25) is average
    assert torch.equal(average, new)


def test_in_place_update_records_no_gradient():
    value = torch.tensor([8.0], requires_grad=True)
    ema_update(torch.tensor([4.0]), value, 0.25).backward()
    assert torch.equal(value.grad, torch.tensor([0.25]))
    assert not ema_update_(torch.tensor([4.0]), value, 0.25).requires_grad


@given(st.floats(0, 1), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_result_is_between_average_and_value(momentum, average, value):
    average, value = torch.tensor([average], dtype=torch.float64), torch.tensor([value], dtype=torch.float64)
    new = ema_update(average, value, momentum)
    assert torch.minimum(average, value) - 1e-12 <= new <= torch.maximum(average, value) + 1e-12


@BOTH
def test_updates_reject_wrong_shapes_and_momentum(update):
    ones = torch.ones(3)
    name = update.__name__
    with pytest.raises(ValueError, match=rf"{name}: expected value to have shape \(3,\), got \(1,\)"):
        update(ones, ones[:1], 0.1)
    with pytest.raises(ValueError, match=f"{name}: expected momentum to be between 0 and 1, got 1.5"):
        update(ones, ones, 1.5)
    with pytest.raises(ValueError, match=f"{name}: expected momentum to be between 0 and 1, got -0.5"):
        update(ones, ones, -0.5)
    with pytest.raises(TypeError, match=f"{name}: expected value to be a tensor, got float"):
        update(ones, 1.0, 0.1)
    with pytest.raises(TypeError, match=f"{name}: expected average to have a floating point dtype, got torch.int64"):
        update(ones.long(), ones, 0.1)


# What many steps come to


def averaged(values, momentum, start=0.0):
    """The average after every one of the values, one step at a time."""
    average = torch.as_tensor(start, dtype=torch.float64).expand(values.shape[1:])
    for value in values:
        average = ema_update(average, value, momentum)
    return average


def test_ema_weights_start_with_the_newest():
    assert torch.equal(ema_weights(0.5, 4), torch.tensor([0.5, 0.25, 0.125, 0.0625]))
    assert torch.equal(ema_weights(1.0, 3), torch.tensor([1.0, 0.0, 0.0]))
    assert torch.equal(ema_weights(0.0, 3), torch.zeros(3))
    assert ema_weights(0.1, 0).shape == (0,)


@given(st.floats(0, 1), st.integers(0, 40), st.integers(0, 2**16))
def test_ema_weights_match_repeated_updates(momentum, steps, seed):
    values = torch.randn(steps, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    weights = ema_weights(momentum, steps, dtype=torch.float64)
    kept = (1 - momentum) ** steps
    assert_close(averaged(values, momentum, 7.0), weights.flip(0) @ values + 7 * kept, **TOLERANCE[torch.float64])
    assert weights.sum().item() == pytest.approx(1 - kept, abs=1e-12)


def test_weights_sum_to_one_with_a_mean_age_and_a_sample_size():
    # momentum 0.1: mean age 10, and as good as the average of 19 values
    weights = ema_weights(0.1, 2000, dtype=torch.float64)
    age = torch.arange(1, 2001, dtype=torch.float64)
    assert weights.sum().item() == pytest.approx(1, abs=1e-12)
    assert (age * weights).sum().item() == pytest.approx(10, abs=1e-9)
    assert 1 / weights.square().sum().item() == pytest.approx(19, abs=1e-9)
    assert (age * weights).sum().item() == pytest.approx(effective_window(0.1), abs=1e-9)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_weights_are_computed_in_float64_and_rounded_once(dtype):
    exact = torch.tensor([0.3 * 0.7**k for k in range(60)], dtype=torch.float64)
    weights = ema_weights(0.3, 60, dtype=dtype)
    assert weights.dtype == dtype
    assert ema_weights(0.3, 60).dtype == torch.float32
    half_a_unit = torch.finfo(dtype).eps / 2 if dtype != torch.float64 else 1e-13
    subnormal = torch.finfo(dtype).tiny * torch.finfo(dtype).eps if dtype != torch.float64 else 0
    assert ((weights.double() - exact).abs() <= exact * half_a_unit + subnormal).all()


@pytest.mark.parametrize(
    ("keras", "window", "steps"), [(0.9, 10, 6.58), (0.99, 100, 68.97), (0.999, 1000, 692.80), (0.5, 2, 1.0)]
)
def test_half_life_and_window(keras, window, steps):
    momentum = from_keras(keras)
    assert half_life(momentum) == pytest.approx(steps, abs=0.005)
    assert effective_window(momentum) == pytest.approx(window)
    assert keras ** half_life(momentum) == pytest.approx(0.5)


def test_half_life_and_window_at_momentum_0_and_1():
    assert half_life(0) == effective_window(0) == math.inf
    assert half_life(1) == 0
    assert effective_window(1) == 1
    assert half_life(1e-12) == pytest.approx(1e12 * math.log(2))


@given(st.floats(0.001, 1), st.integers(1, 500), st.floats(-1e3, 1e3))
def test_debias_finds_a_constant_after_every_step(momentum, steps, constant):
    values = torch.full((steps, 1), constant, dtype=torch.float64)
    found = debias(averaged(values, momentum), momentum, steps)
    assert_close(found, values[0], rtol=1e-11, atol=0)


def test_debias_takes_the_smallest_normal_weight():
    tiny = torch.finfo(torch.float32).tiny
    assert_close(debias(torch.tensor([tiny]), tiny, 1), torch.tensor([1.0]))


def test_debias_refuses_a_momentum_that_float32_cannot_hold():
    with pytest.raises(ValueError, match=r"large enough for torch\.float32, got 1e-40"):
        debias(torch.tensor([1.0]), 1e-40, 3)


@pytest.mark.parametrize(("keras", "share"), [(0.9, 0.6513), (0.99, 0.0956), (0.999, 0.0100)])
def test_debias_divides_by_the_weight_of_ten_steps(keras, share):
    assert debias(torch.tensor([share]), 1 - keras, 10).item() == pytest.approx(1, abs=5e-3)


def test_debias_is_accurate_for_a_tiny_momentum():
    # 1e-18 of the way to 5, three times; 1 - 1e-18 is 1 in float64
    assert_close(debias(torch.tensor([1.5e-17]), 1e-18, 3), torch.tensor([5.0]))
    assert torch.equal(debias(torch.tensor([5.0]), 1, 3), torch.tensor([5.0]))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_debias_is_rounded_once(dtype, rng):
    average = torch.randn(7, 100, generator=rng, dtype=torch.float64).to(dtype)
    got = debias(average, 0.1, 3)
    assert got.dtype == dtype
    assert_close(got.double(), average.double() / 0.271, **TOLERANCE[dtype])


def test_momentum_converts_to_keras_and_back():
    assert to_keras(0.1) == 0.9
    assert from_keras(0.99) == pytest.approx(0.01)
    # batch means of 10 and then 20, as torch.nn.BatchNorm1d(momentum=0.1) and Keras' momentum 0.1 average them
    values = torch.tensor([[10.0], [20.0]], dtype=torch.float64)
    assert averaged(values, 0.1).item() == pytest.approx(2.9)
    assert averaged(values, from_keras(0.1)).item() == pytest.approx(18.9)


@given(st.floats(0, 1))
def test_from_keras_inverts_to_keras(momentum):
    assert from_keras(to_keras(momentum)) == pytest.approx(momentum, abs=1e-15)
    assert to_keras(from_keras(momentum)) == pytest.approx(momentum, abs=1e-15)


def test_first_and_second_derivative(rng):
    average, value = (torch.randn(3, 2, generator=rng, dtype=torch.float64, requires_grad=True) for _ in range(2))
    for function in (lambda a, v: ema_update(a, v, 0.3) ** 2, lambda a, v: debias(a, 0.3, 4) * v):
        assert torch.autograd.gradcheck(function, (average, value))
        assert torch.autograd.gradgradcheck(function, (average, value))


COMPILED = {  # functions of a tensor and of what a slider moves
    "ema_update": lambda x, m: ema_update(x, x + 1, m),
    "ema_update_": lambda x, m: ema_update_(x.clone(), x + 1, m),
    "ema_weights": lambda x, m: x.sum() * ema_weights(m, 5, dtype=torch.float64),
    "half_life": lambda x, m: x * half_life(m),
    "effective_window": lambda x, m: x * effective_window(m),
    "debias": lambda x, m: debias(x, m, 3),
    "to_keras": lambda x, m: x * to_keras(m),
    "from_keras": lambda x, m: x * from_keras(m),
}


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(name, rng):
    x = torch.randn(3, 4, generator=rng, dtype=torch.float64)
    compiled = torch.compile(COMPILED[name], fullgraph=True, backend="aot_eager", dynamic=False)
    for momentum in (0.3, 0.7, 1.0):
        assert_close(compiled(x, momentum), COMPILED[name](x, momentum), **TOLERANCE[x.dtype])


ONE = torch.ones(3)
NAN = float("nan")
REFUSED = {
    "ema_weights: expected momentum to be between 0 and 1, got 1.5": lambda: ema_weights(1.5, 3),
    "ema_weights: expected momentum to be between 0 and 1, got -0.1": lambda: ema_weights(-0.1, 3),
    "ema_weights: expected steps to be at least 0, got -1": lambda: ema_weights(0.1, -1),
    "ema_weights: expected steps to be between 0 and 134217728, got 4294967296": lambda: ema_weights(0.1, 2**32),
    "half_life: expected momentum to be between 0 and 1, got nan": lambda: half_life(NAN),
    "half_life: expected momentum to be between 0 and 1, got -0.1": lambda: half_life(-0.1),
    "effective_window: expected momentum to be between 0 and 1, got 2.0": lambda: effective_window(2),
    "debias: expected momentum to be between 0 and 1, got 1.1": lambda: debias(ONE, 1.1, 3),
    "debias: expected momentum to be above 0, got 0: the values have no weight": lambda: debias(ONE, 0.0, 3),
    "debias: expected steps to be at least 1, got 0": lambda: debias(ONE, 0.1, 0),
    "to_keras: expected momentum to be between 0 and 1, got -1.0": lambda: to_keras(-1),
    "from_keras: expected momentum to be between 0 and 1, got 99.0": lambda: from_keras(99),
}


@pytest.mark.parametrize("message", REFUSED)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        REFUSED[message]()
    assert str(caught.value) == message
