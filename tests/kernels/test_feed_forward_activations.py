"""Activations and gated units compared with torch's and with recorded numbers; limits and derivatives."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab import feed_forward as ours
from tolerance import TOLERANCE

DOUBLE = torch.float64
TEN_DIGITS = {"rtol": 0, "atol": 6e-11}
NAN = float("nan")
each_dtype = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
ONE_ARGUMENT = {
    "relu": ours.relu,
    "gelu": ours.gelu,
    "gelu, tanh": lambda x: ours.gelu(x, "tanh"),
    "silu": ours.silu,
    "swish": ours.swish,
    "swish, beta 3": lambda x: ours.swish(x, 3.0),
}
TORCHS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu, tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "swish": F.silu,
    "swish, beta 3": lambda x: x * torch.sigmoid(3 * x),
}
each_activation = pytest.mark.parametrize("name", ONE_ARGUMENT)


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=DOUBLE)


NUMBERS = [-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0]
VECTORS = {
    "silu": [
        *(-0.1422776195, -0.238405844, -0.2689414214, -0.1887703344, 0.0),
        *(0.3112296656, 0.7310585786, 1.761594156, 2.8577223805),
    ],
    "gelu": [
        *(-0.0040496941, -0.0455002639, -0.1586552539, -0.1542687694, 0.0),
        *(0.3457312306, 0.8413447461, 1.9544997361, 2.9959503059),
    ],
    "gelu, tanh": [
        *(-0.0036373921, -0.0454023059, -0.1588080094, -0.1542859902, 0.0),
        *(0.3457140098, 0.8411919906, 1.9545976941, 2.9963626079),
    ],
    "relu": [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0, 3.0],
}


@pytest.mark.parametrize("name", VECTORS)
def test_activations_match_recorded_numbers(name):
    x = torch.tensor(NUMBERS, dtype=DOUBLE)
    assert_close(ONE_ARGUMENT[name](x), torch.tensor(VECTORS[name], dtype=DOUBLE), **TEN_DIGITS)


def test_swish_matches_recorded_quick_gelu():
    expected = [-0.0180713097, -0.0643413769, -0.1542042341, -0.1496115634, 0.0]
    expected += [0.3503884366, 0.8457957659, 1.9356586231, 2.9819286903]
    x = torch.tensor(NUMBERS, dtype=DOUBLE)
    assert_close(ours.swish(x, 1.702), torch.tensor(expected, dtype=DOUBLE), **TEN_DIGITS)


@each_activation
@each_dtype
def test_agrees_with_torch_in_float64_and_is_rounded_once(name, dtype, rng):
    x = (4 * normal((7, 11, 500), rng)).to(dtype)[..., ::2]
    before = x.clone()
    y = ONE_ARGUMENT[name](x)
    assert y.dtype == dtype
    assert_close(y.double(), TORCHS[name](x.double()), **TOLERANCE[dtype])
    assert torch.equal(x, before)


def tail(name, x):
    """The exact value for a large negative x, in Python floats."""
    if name == "gelu":
        return x * math.erfc(-x / math.sqrt(2)) / 2
    u = 1.702 * x if name == "quick" else x
    u = 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3) if name == "gelu, tanh" else u
    return x / (1 + math.exp(-u))


@pytest.mark.parametrize("name", ["gelu", "gelu, tanh", "silu", "swish"])
@each_dtype
def test_large_negative_numbers_stay_accurate(name, dtype):
    # (1 + erf) and (1 + tanh) lose them all: in float32 nothing is left at -6
    x = torch.tensor([-1.0, -2.5, -4.0, -5.0, -6.0], dtype=dtype)
    expected = torch.tensor([tail(name, v) for v in x.tolist()], dtype=DOUBLE)
    rounding = {torch.float32: 2e-5, DOUBLE: 1e-13}.get(dtype, torch.finfo(dtype).eps / 2 + 2e-5)
    smallest = torch.finfo(torch.float16).smallest_normal * torch.finfo(torch.float16).eps
    assert_close(ONE_ARGUMENT[name](x).double(), expected, rtol=rounding, atol=smallest if dtype == torch.half else 0)


@each_activation
def test_activations_match_torch_at_extreme_numbers(name):
    x = torch.tensor([NAN, -0.0, 1e30, -1e30, 1e-30, -1e-30, 88.0, -88.0, -104.0], dtype=torch.float32)
    assert_close(ONE_ARGUMENT[name](x), TORCHS[name](x), rtol=1e-6, atol=1e-30, equal_nan=True)
    assert ONE_ARGUMENT[name](torch.tensor(math.inf)) == math.inf


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
def test_relu_of_integers_matches_torch(dtype):
    x = torch.tensor([0, 1, 200, 127]).to(dtype) - (1 if dtype == torch.uint8 else 50)
    y = ours.relu(x)
    assert y.dtype == dtype
    assert torch.equal(y, F.relu(x))


def test_relu_has_no_slope_at_0():
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    ours.relu(x).sum().backward()
    assert torch.equal(x.grad, torch.tensor([0.0, 0.0, 1.0]))


def test_silu_has_its_minimum_where_lambert_says(rng):
    w = 0.2784645427610738  # W(1/e): w exp(w) = 1/e
    assert w * math.exp(w) == pytest.approx(1 / math.e, abs=1e-15)
    x = torch.tensor(-1 - w, dtype=DOUBLE, requires_grad=True)
    y = ours.silu(x)
    (slope,) = torch.autograd.grad(y, x)
    assert y.item() == pytest.approx(-w, abs=1e-15)
    assert slope.item() == pytest.approx(0, abs=1e-15)
    assert (ours.silu(5 * normal(1000, rng)) >= -w - 1e-15).all()


@pytest.mark.parametrize(
    ("approximate", "place", "minimum"),
    [("none", -0.7517915247, -0.1699712075), ("tanh", -0.7524614221, -0.1700407506)],
)
def test_gelu_has_its_minimum(approximate, place, minimum):
    x = torch.tensor(place, dtype=DOUBLE, requires_grad=True)
    y = ours.gelu(x, approximate)
    (slope,) = torch.autograd.grad(y, x)
    assert y.item() == pytest.approx(minimum, abs=6e-11)
    assert slope.item() == pytest.approx(0, abs=1e-9)


def test_distance_of_approximations_from_gelu():
    x = torch.linspace(-5, 5, 20001, dtype=DOUBLE)
    assert (ours.gelu(x) - ours.gelu(x, "tanh")).abs().max().item() == pytest.approx(4.7323552e-4, rel=1e-5)
    assert (ours.gelu(x) - ours.swish(x, 1.702)).abs().max().item() == pytest.approx(2.0334872e-2, rel=1e-5)
    assert (ours.silu(x) - ours.gelu(x)).abs().max().item() == pytest.approx(0.19300199, rel=1e-6)


@given(st.floats(-50, 50))
def test_gelu_minus_its_mirror_image_is_the_identity(t):
    t = torch.tensor(t, dtype=DOUBLE)
    for activation in (ours.silu, ours.gelu, ours.relu, lambda x: ours.gelu(x, "tanh"), lambda x: ours.swish(x, 2.5)):
        assert_close(activation(t) - activation(-t), t, **TOLERANCE[DOUBLE])


@given(st.floats(-20, 20), st.floats(0.01, 50))
def test_swish_is_silu_on_another_scale(t, beta):
    t = torch.tensor(t, dtype=DOUBLE)
    assert_close(ours.swish(t, beta), ours.silu(beta * t) / beta, **TOLERANCE[DOUBLE])


def test_swish_goes_from_half_of_x_to_relu(rng):
    x = 3 * normal(5000, rng)
    assert torch.equal(ours.swish(x, 0), x / 2)
    assert_close(ours.swish(x, 1e-9), x / 2, rtol=1e-7, atol=1e-7)
    for beta in (1, 10, 100):
        gap = ours.swish(torch.linspace(-5, 5, 100001, dtype=DOUBLE), beta) - F.relu(torch.linspace(-5, 5, 100001))
        assert gap.abs().max().item() == pytest.approx(0.2784645428 / beta, rel=1e-4)
    assert_close(ours.swish(x, 1e12), F.relu(x), rtol=0, atol=1e-11)
    assert_close(ours.swish(x, -2.0), x * torch.sigmoid(-2 * x))


def test_beta_can_be_learned(rng):
    x, beta = normal((3, 4), rng).requires_grad_(), torch.tensor(1.5, dtype=DOUBLE, requires_grad=True)
    assert_close(ours.swish(x, beta), ours.swish(x, 1.5))
    assert torch.autograd.gradcheck(ours.swish, (x, beta))
    assert torch.autograd.gradgradcheck(ours.swish, (x, beta))
    assert ours.swish(x.half(), beta).dtype == torch.float16


# Gated units


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
@each_dtype
def test_glu_matches_torch(dim, dtype, rng):
    x = normal((4, 6, 8), rng).to(dtype).transpose(0, 2)
    y = ours.glu(x, dim)
    assert y.dtype == dtype
    assert_close(y.double(), F.glu(x.double(), dim), **TOLERANCE[dtype])


def test_glu_has_the_sigmoid_on_the_second_half():
    # sigmoid(log 3) = 3/4
    a = torch.tensor([[8.0, -4.0, math.log(3), 0.0]], dtype=DOUBLE)
    assert_close(ours.glu(a), torch.tensor([[6.0, -2.0]], dtype=DOUBLE))
    expected = torch.tensor([[0.6224593312018546, -1.9051482536448667]], dtype=DOUBLE)
    assert_close(ours.glu(torch.tensor([[1.0, -2.0, 0.5, 3.0]], dtype=DOUBLE)), expected, **TOLERANCE[DOUBLE])


def test_glu_of_an_empty_axis():
    assert ours.glu(torch.ones(2, 0)).shape == (2, 0)
    assert ours.glu(torch.ones(0, 4)).shape == (0, 2)


FAMILY = {  # the activation of the gate, as Shazeer's table has it
    "sigmoid": (torch.sigmoid, lambda g: 1 / (1 + torch.exp(-g))),
    "bilinear": (lambda g: g, lambda g: g),
    "relu": (ours.relu, lambda g: g.clamp(min=0)),
    "gelu": (ours.gelu, F.gelu),
    "silu": (ours.silu, F.silu),
}


@pytest.mark.parametrize("name", FAMILY)
@each_dtype
def test_only_the_gate_is_activated(name, dtype, rng):
    gate, value = (normal((5, 2000), rng).to(dtype) for _ in range(2))
    activation, exact = FAMILY[name]
    y = ours.gated_unit(gate, value, activation)
    assert y.dtype == dtype
    # the product is rounded once: the activation saw the wide gate
    assert_close(y.double(), exact(gate.double()) * value.double(), **TOLERANCE[dtype])
    if name != "bilinear":
        assert torch.equal(ours.gated_unit(gate, value, name), y)


@each_dtype
def test_swiglu_is_rounded_once(dtype, rng):
    gate, value = (3 * normal((7, 3000), rng) for _ in range(2))
    gate, value = gate.to(dtype), value.to(dtype)
    y = ours.swiglu(gate, value)
    assert y.dtype == dtype
    assert_close(y.double(), F.silu(gate.double()) * value.double(), **TOLERANCE[dtype])


def test_swiglu_by_hand():
    # silu(log 3) = 3/4 log 3
    gate, value = torch.tensor([math.log(3)], dtype=DOUBLE), torch.tensor([8.0], dtype=DOUBLE)
    assert_close(ours.swiglu(gate, value), torch.tensor([6 * math.log(3)], dtype=DOUBLE))


def test_two_dtypes_give_the_wider_one():
    gate, value = torch.ones(3, dtype=torch.bfloat16), torch.ones(3, dtype=torch.float32)
    assert ours.swiglu(gate, value).dtype == ours.swiglu(value, gate).dtype == torch.float32
    assert ours.swiglu(gate, value.half()).dtype == torch.float32


def test_activation_can_be_given_by_name(rng):
    gate, value = normal((3, 4), rng), normal((3, 4), rng)
    for name, activation in {"relu": ours.relu, "gelu": ours.gelu, "silu": ours.silu, "sigmoid": torch.sigmoid}.items():
        assert torch.equal(ours.gated_unit(gate, value, name), activation(gate) * value)


DIFFERENTIABLE = {
    **{name: lambda a, b, f=f: f(a) for name, f in ONE_ARGUMENT.items()},
    "glu": lambda a, b: ours.glu(torch.cat([a, b], -1)),
    "gated_unit": lambda a, b: ours.gated_unit(a, b, "gelu"),
    "swiglu": ours.swiglu,
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_first_and_second_derivative(name, rng):
    a, b = normal((3, 4), rng).requires_grad_(), normal((3, 4), rng).requires_grad_()
    assert torch.autograd.gradcheck(DIFFERENTIABLE[name], (a, b))
    assert torch.autograd.gradgradcheck(DIFFERENTIABLE[name], (a, b))
    if name != "relu":
        zero = torch.zeros(2, 3, dtype=DOUBLE, requires_grad=True)
        assert torch.autograd.gradgradcheck(DIFFERENTIABLE[name], (zero, b[:2, :3]))


@pytest.mark.parametrize("name", ["relu", "gelu", "gelu, tanh", "silu"])
def test_activation_gradients_match_torch(name, rng):
    x = (4 * normal(200, rng)).requires_grad_()
    got, expected = (torch.autograd.grad(f[name](x).sum(), x)[0] for f in (ONE_ARGUMENT, TORCHS))
    assert_close(got, expected, **TOLERANCE[DOUBLE])


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("dtype", [torch.bfloat16, DOUBLE], ids=str)
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(name, dtype, rng):
    a, b = normal((3, 4), rng).to(dtype), normal((3, 4), rng).to(dtype)
    torch.compiler.reset()  # forget the other cases, of which it counts the same code's
    compiled = torch.compile(DIFFERENTIABLE[name], fullgraph=True, backend="aot_eager")
    assert_close(compiled(a, b), DIFFERENTIABLE[name](a, b), **TOLERANCE[dtype])


@pytest.mark.parametrize("beta", [0.0, 3.0, 0.5])
def test_every_beta_compiles(beta, rng):
    x = normal(5, rng)
    torch.compiler.reset()
    compiled = torch.compile(ours.swish, fullgraph=True, backend="aot_eager", dynamic=False)
    assert_close(compiled(x, beta), ours.swish(x, beta))
    assert_close(compiled(x, torch.tensor(beta)), ours.swish(x, beta))


def test_complex_numbers_where_torch_takes_them(rng):
    x = torch.complex(normal(9, rng), normal(9, rng))
    assert_close(ours.silu(x), F.silu(x), **TOLERANCE[DOUBLE])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("beta", [1e39, 1e300, 1.7e308])
def test_the_steepest_swish_is_relu(beta, dtype):
    x = torch.tensor([-2.0, -1e-3, 0.0, 1e-3, 2.0], dtype=dtype)
    assert torch.equal(ours.swish(x, beta), ours.relu(x))
    assert torch.equal(ours.swish(x, -beta), -ours.relu(-x))
