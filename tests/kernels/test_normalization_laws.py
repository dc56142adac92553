"""Properties of the norms for every input: which numbers affect which, invariances, gradients."""

import math

import pytest
import torch
from torch.testing import assert_close

from blocklab import normalization as ours
from tolerance import TOLERANCE

SHAPE = (4, 6, 5)  # (N, C, L)
NORMS = {  # norm, and the axes of (N, C, L) along which two numbers share a mean
    "batch_norm": (lambda x, eps=1e-5: ours.batch_norm(x, None, None, training=True, eps=eps), {0, 2}),
    "instance_norm": (lambda x, eps=1e-5: ours.instance_norm(x, eps=eps), {2}),
    "layer_norm": (lambda x, eps=1e-5: ours.layer_norm(x, (5,), eps=eps), {2}),
    "layer_norm, two axes": (lambda x, eps=1e-5: ours.layer_norm(x, (6, 5), eps=eps), {1, 2}),
    "rms_norm": (lambda x, eps=1e-5: ours.rms_norm(x, (5,), eps=eps), {2}),
    "group_norm(1)": (lambda x, eps=1e-5: ours.group_norm(x, 1, eps=eps), {1, 2}),
    "standardize(0)": (lambda x, eps=1e-5: ours.standardize(x, 0, eps=eps), {0}),
    "standardize(1, 2)": (lambda x, eps=1e-5: ours.standardize(x, (1, 2), eps=eps), {1, 2}),
    "batch_norm_loops": (lambda x, eps=1e-5: ours.batch_norm_loops(x, eps), {0, 1}),
    "batch_norm_loops, per position": (lambda x, eps=1e-5: ours.batch_norm_loops(x, eps, per_position=True), {0}),
    "layer_norm_loops": (lambda x, eps=1e-5: ours.layer_norm_loops(x, eps), {2}),
}
each_norm = pytest.mark.parametrize("name", NORMS)


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=torch.float64)


@each_norm
def test_number_affects_only_those_that_share_its_mean(name, rng):
    norm, axes = NORMS[name]
    x = normal(SHAPE, rng)
    poked = x.clone()
    poked[1, 2, 3] += 10
    moved = norm(poked) != norm(x)
    place = (1, 2, 3)
    expected = torch.zeros(SHAPE, dtype=torch.bool)
    expected[tuple(slice(None) if axis in axes else place[axis] for axis in range(3))] = True
    assert torch.equal(moved, expected)


def test_number_affects_only_its_group(rng):
    x = normal(SHAPE, rng)
    poked = x.clone()
    poked[1, 2, 3] += 10
    moved = ours.group_norm(poked, 2) != ours.group_norm(x, 2)
    expected = torch.zeros(SHAPE, dtype=torch.bool)
    expected[1, :3] = True
    assert torch.equal(moved, expected)


@each_norm
def test_scale_and_shift_are_ignored_but_rms_norm_keeps_the_shift(name, rng):
    norm, _ = NORMS[name]
    x = normal(SHAPE, rng)
    assert_close(norm(3 * x, eps=0.0), norm(x, eps=0.0), rtol=1e-11, atol=1e-11)
    assert_close(norm(-x, eps=0.0), -norm(x, eps=0.0), rtol=1e-11, atol=1e-11)
    ignored = torch.allclose(norm(x + 7, eps=0.0), norm(x, eps=0.0), rtol=1e-9, atol=1e-9)
    assert ignored == (name != "rms_norm")


@each_norm
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_constant_rows_stay_finite(name, dtype):
    norm, _ = NORMS[name]
    assert torch.equal(norm(torch.zeros(SHAPE, dtype=dtype)), torch.zeros(SHAPE, dtype=dtype))
    constant = norm(torch.full(SHAPE, 3.0, dtype=dtype))
    assert torch.isfinite(constant).all()
    assert torch.equal(constant, torch.zeros_like(constant)) == (name != "rms_norm")


@pytest.mark.parametrize("number", [3333.3333, 6e4, -0.1])
@pytest.mark.parametrize("count", [1000, 50176, 2**20 + 7])
def test_equal_numbers_leave_only_rounding_error(number, count):
    row = torch.full((1, 1, count), number)
    rounding = 4 * torch.finfo(torch.float32).eps * abs(number) / 1e-5**0.5
    for y in (ours.layer_norm(row, (count,)), ours.group_norm(row, 1), ours.batch_norm(row, None, None, training=True)):
        assert y.abs().max() <= min(rounding, 1.0)


def test_infinity_in_a_batch_matches_torch():
    x = torch.tensor([[math.inf], [1.0], [2.0]])
    for batch_norm in (ours.batch_norm, torch.nn.functional.batch_norm):
        mean, var = torch.zeros(1), torch.ones(1)
        assert batch_norm(x, mean, var, training=True).isnan().all()
        assert mean == math.inf


@pytest.mark.parametrize("momentum", [0.1, 0.9])
def test_infinite_running_statistics_match_torch(momentum, rng):
    x = torch.randn(5, 3, generator=rng)
    results = []
    for batch_norm in (ours.batch_norm, torch.nn.functional.batch_norm):
        mean, var = torch.tensor([math.inf, -math.inf, 3e38]), torch.tensor([math.inf, 1.0, 3e38])
        batch_norm(x, mean, var, training=True, momentum=momentum)
        results.append((mean, var))
    assert_close(*results)


@each_norm
def test_float16_squares_neither_overflow_nor_vanish(name):
    norm, _ = NORMS[name]
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float16)
    x = signs.reshape(4, 1, 1) * signs.reshape(1, 4, 1) * signs.reshape(1, 1, 4)  # mean zero along every axis
    square = {"eps": 1e-12} if name != "rms_norm" else {"eps": 0.0}
    wide = norm_for_cube(name, norm)
    assert_close(wide(300 * x, **square), x)  # 300² = 90,000, above 65,504
    assert_close(wide(1e-4 * x, **square), x, rtol=1e-3, atol=0)  # 1e-8, below 6e-8


def norm_for_cube(name, norm):
    """The same norm for a (4, 4, 4) input."""
    if name == "layer_norm, two axes":
        return lambda x, eps: ours.layer_norm(x, (4, 4), eps=eps)
    if name in ("layer_norm", "rms_norm"):
        return lambda x, eps: getattr(ours, name)(x, (4,), eps=eps)
    return norm


def test_variance_does_not_cancel_with_a_large_offset():
    # variance 2/3; mean(x²) - mean(x)² would not see it: beside 1e8 float32 has no room for it
    x = torch.tensor([[9999.0, 10000.0, 10001.0]])
    assert_close(ours.layer_norm(x, (3,)), torch.tensor([[-1.0, 0.0, 1.0]]) * 1.5**0.5, rtol=1e-4, atol=0)


RUNNING = torch.tensor([0.5, -1.0, 2.0, 3.0], dtype=torch.float64)
DIFFERENTIABLE = {  # functions of x, weight and bias, both (C,), for an x of (N, C, L)
    "batch_norm, training": lambda x, w, b: ours.batch_norm(x, None, None, w, b, training=True, eps=0.1),
    "batch_norm, eval": lambda x, w, b: ours.batch_norm(x, RUNNING, RUNNING**2, w, b, eps=0.1),
    "instance_norm": lambda x, w, b: ours.instance_norm(x, None, None, w, b, eps=0.1),
    "group_norm": lambda x, w, b: ours.group_norm(x, 2, w, b, eps=0.1),
    "layer_norm": lambda x, w, b: ours.layer_norm(x.mT, (4,), w, b, eps=0.1),
    "rms_norm": lambda x, w, b: ours.rms_norm(x.mT, (4,), w, eps=0.1) + b,
    "standardize": lambda x, w, b: ours.standardize(x, 1, eps=0.1) * w[:, None] + b[:, None],
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("rows", ["random", "zero", "constant"])
def test_first_and_second_derivative(name, rows, rng):
    x = {"random": normal((2, 4, 3), rng), "zero": torch.zeros(2, 4, 3), "constant": torch.full((2, 4, 3), 2.0)}[rows]
    inputs = [t.double().requires_grad_() for t in (x, normal(4, rng), normal(4, rng))]
    assert torch.autograd.gradcheck(DIFFERENTIABLE[name], inputs)
    assert torch.autograd.gradgradcheck(DIFFERENTIABLE[name], inputs)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_compiles_without_graph_breaks(name, rng):
    x, weight, bias = normal((2, 4, 3), rng), normal(4, rng), normal(4, rng)
    compiled = torch.compile(DIFFERENTIABLE[name], fullgraph=True, backend="aot_eager")
    assert_close(compiled(x, weight, bias), DIFFERENTIABLE[name](x, weight, bias), **TOLERANCE[x.dtype])


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_compiles_once_for_all_widths(name, rng):
    function = getattr(ours, name)
    torch.compiler.reset()
    compiled = torch.compile(lambda x: function(x, x.shape[-1:]), fullgraph=True, backend="aot_eager", dynamic=True)
    for width in (5, 7, 11):
        x = normal((3, width), rng)
        assert_close(compiled(x), function(x, (width,)), **TOLERANCE[x.dtype])


@pytest.mark.parametrize("shape", [(0, 6, 5), (4, 6, 0)], ids=str)
def test_empty_input_gives_empty_output_and_leaves_the_running_statistics(shape):
    x, mean, var = torch.zeros(shape), torch.full((6,), 0.5), torch.full((6,), 2.0)
    results = [
        ours.batch_norm(x, mean, var, training=True),
        ours.batch_norm(x, mean, var),
        ours.instance_norm(x, mean, var),
        ours.group_norm(x, 3),
        ours.layer_norm(x, shape[-1:]),
        ours.rms_norm(x, shape[-1:]),
        ours.standardize(x, (0, 2)),
        ours.batch_norm_loops(x),
        ours.batch_norm_loops(x, per_position=True),
        ours.layer_norm_loops(x),
    ]
    assert all(y.shape == shape and y.dtype == x.dtype for y in results)
    assert torch.equal(mean, torch.full((6,), 0.5))
    assert torch.equal(var, torch.full((6,), 2.0))


def test_standardize_accepts_a_scalar_tensor():
    assert torch.equal(ours.standardize(torch.tensor(3.0), -1), torch.tensor(0.0))


def test_eval_accepts_a_batch_of_one():
    x = torch.full((1, 3), 5.0)
    assert_close(ours.batch_norm(x, torch.ones(3), torch.full((3,), 4.0), eps=0.0), torch.full((1, 3), 2.0))


@pytest.mark.parametrize("norm", [ours.batch_norm, ours.instance_norm])
def test_running_statistics_carry_no_graph(norm, rng):
    x = normal(SHAPE, rng).requires_grad_()
    mean, var = torch.zeros(6, dtype=torch.float64), torch.ones(6, dtype=torch.float64)
    y = norm(x, mean, var, None, None, True)
    assert y.requires_grad
    assert not mean.requires_grad
    assert not var.requires_grad
    assert mean.abs().max() > 0


@pytest.mark.parametrize("norm", [ours.batch_norm, ours.instance_norm])
def test_running_variance_is_unbiased_and_the_normalizer_is_not(norm):
    x = torch.tensor([1.0, 2.0, 3.0, 6.0], dtype=torch.float64).reshape(1, 1, 4)  # variance 3.5, unbiased 14/3
    mean, var = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    y = norm(x, mean, var, None, None, True, momentum=1.0, eps=0.0)
    assert_close(mean, torch.tensor([3.0], dtype=torch.float64))
    assert_close(var, torch.tensor([14 / 3], dtype=torch.float64))
    assert_close(y, (x - 3) / 3.5**0.5)


BEYOND = [(torch.float32, 1e20), (torch.float32, 1e38), (torch.bfloat16, 1e20), (torch.float64, 1e160)]


@pytest.mark.parametrize(("dtype", "scale"), BEYOND, ids=str)
def test_overflowing_squares_give_0_or_nan(dtype, scale, rng):
    x = (scale * torch.randn(4, 6, 8, generator=rng, dtype=torch.float64)).to(dtype)
    for y in (
        ours.standardize(x, (0, 2)),
        ours.batch_norm(x, None, None, training=True),
        ours.instance_norm(x),
        ours.layer_norm(x, (8,)),
        ours.group_norm(x, 2),
        ours.rms_norm(x, (8,)),
    ):
        assert ((y == 0) | y.isnan()).float().mean() > 0.9  # a row of small numbers may have a square yet
    theirs = torch.nn.functional.layer_norm(x, (8,))
    assert ((theirs == 0) | theirs.isnan()).float().mean() > 0.9
