"""Results and gradients against torch in float64, for all dtypes, widths and memory layouts."""

import pytest
import torch
import torch.nn.functional as F
from fused_reference import EPS, NAMES, error, inputs, ours, result_and_gradients, torchs
from torch.testing import assert_close

from blocklab import fused, normalization
from tolerance import TOLERANCE

# One number; less than a tile; a tile; more than one piece backward (from 8193, or 4097 where odd); and forward.
WIDTHS = [1, 7, 129, 1000, 2048, 4099, 8200, 33000]
TYPES = [torch.float32, torch.float16, torch.bfloat16]
ROWS = 5  # not a multiple of the three programs that share the rows in the interpreter


def as_stored(exact, dtype):
    """The exact result in the dtype. The interpreter truncates to bfloat16; a GPU rounds, as another test checks."""
    if dtype != torch.bfloat16:
        return exact.to(dtype)
    return (exact.float().view(torch.int32) & -(2**16)).view(torch.float32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_float64_matches_torch(name, width):
    tensors = inputs(name, (ROWS, width))
    dy = torch.randn(ROWS, width, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    got, exact = (result_and_gradients(function, name, tensors, dy) for function in (ours, torchs))
    assert_close(got, exact, **TOLERANCE[torch.float64])


@pytest.mark.parametrize("width", [7, 1000, 8200])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_error_is_at_most_torchs(name, dtype, width):
    tensors = inputs(name, (ROWS, width), dtype)
    dy = torch.randn(ROWS, width, generator=torch.Generator().manual_seed(1)).to(dtype)
    exact = result_and_gradients(torchs, name, [t.double() for t in tensors], dy)
    got, native = (result_and_gradients(function, name, tensors, dy) for function in (ours, torchs))
    assert {t.dtype for t in got} == {dtype}
    for mine, torchs_own, true in zip(got, native, exact, strict=True):
        assert error(mine, true) <= 1.5 * max(error(torchs_own, true), error(as_stored(true, dtype), true))


@pytest.mark.parametrize("name", NAMES)
def test_half_types_are_rounded_once(name):
    # a second rounding would move some of the 20,000 numbers out of tolerance; weight and bias keep their dtypes
    x, *others = inputs(name, (20, 1000), torch.float16)
    others = [t.half() if name == "swiglu" else t.float() for t in others]
    y = ours(name, x, *others)
    assert y.dtype == torch.float16
    assert_close(y.double(), torchs(name, x.double(), *(t.double() for t in others)), **TOLERANCE[torch.float16])


# Layouts

LAYOUTS = {
    "transposed": lambda x: x.transpose(0, -1).contiguous().transpose(0, -1),
    "part of wider rows": lambda x: torch.cat([x + 1, x, x + 2], -1)[..., x.shape[-1] : 2 * x.shape[-1]],
    "every other number": lambda x: torch.stack([x, x + 1], -1).flatten(-2)[..., ::2],
    "every other row": lambda x: torch.stack([x, x + 1], -2).flatten(-3, -2)[..., ::2, :],
    "one row for all": lambda x: x[:1, :1].expand_as(x),
    "one number for all": lambda x: x[:1, :1, :1].expand_as(x),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_memory_layout_does_not_change_a_bit(name, layout):
    rng = torch.Generator().manual_seed(1)
    tensors = inputs(name, (4, 3, 24), torch.float32)
    x, dy = (LAYOUTS[layout](t) for t in (tensors[0], torch.randn(4, 3, 24, generator=rng)))
    strided = result_and_gradients(ours, name, [x, *tensors[1:]], dy)
    compact = result_and_gradients(ours, name, [x.contiguous(), *tensors[1:]], dy.contiguous())
    assert all(map(torch.equal, strided, compact))


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_parameters_may_be_strided(name):
    x, *vectors = inputs(name, (3, 24), torch.float32)
    strided = [torch.stack([v, v + 1], -1)[:, 0] for v in vectors]
    assert torch.equal(ours(name, x, *strided), ours(name, x, *vectors))


# Shapes and arguments


@pytest.mark.parametrize("shape", [(5,), (2, 5), (2, 3, 4, 5), (1, 1), (0, 5), (4, 0, 5)], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_any_leading_shape(name, shape):
    # an empty batch runs no program, but the weight's gradient has to be zero: attention-gym #260, triton #10464
    tensors = inputs(name, shape)
    dy = torch.ones(shape, dtype=torch.float64)
    got, exact = (result_and_gradients(function, name, tensors, dy) for function in (ours, torchs))
    assert got[0].shape == shape
    assert_close(got, exact, **TOLERANCE[torch.float64])


def test_swiglu_of_a_scalar_and_of_no_columns():
    assert_close(fused.swiglu(torch.tensor(2.0), torch.tensor(3.0)), 3 * F.silu(torch.tensor(2.0)))
    assert fused.swiglu(torch.empty(3, 0), torch.empty(3, 0)).shape == (3, 0)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_several_axes_are_normalized_together(axes):
    # pytorch #192016: out-of-bounds writes with many rows and several axes
    x = inputs("layer_norm", (2, 3, 4, 5))[0].requires_grad_()
    shape = tuple(x.shape[-axes:])
    weight, bias = (torch.randn(shape, dtype=torch.float64).requires_grad_() for _ in range(2))
    for got, exact, leaves in [
        (fused.layer_norm(x, shape, weight, bias), F.layer_norm(x, shape, weight, bias), (x, weight, bias)),
        (fused.rms_norm(x, shape, weight), F.rms_norm(x, shape, weight), (x, weight)),
    ]:
        assert_close(got, exact, **TOLERANCE[torch.float64])
        pair = [torch.autograd.grad((y * x.detach()).sum(), leaves) for y in (got, exact)]
        assert_close(*pair, **TOLERANCE[torch.float64])


@pytest.mark.parametrize(("weighted", "biased"), [(False, False), (True, False), (False, True)])
def test_weight_and_bias_are_each_optional(weighted, biased):
    x, weight, bias = inputs("layer_norm", (3, 24))
    x.requires_grad_()
    arguments = ((24,), weight.requires_grad_() if weighted else None, bias.requires_grad_() if biased else None)
    leaves = [t for t in (x, *arguments[1:]) if t is not None]
    for got, exact, used in [
        (fused.layer_norm(x, *arguments), F.layer_norm(x, *arguments), leaves),
        (fused.rms_norm(x, *arguments[:2]), F.rms_norm(x, *arguments[:2]), leaves[: 1 + weighted]),
    ]:
        pair = [[y, *torch.autograd.grad((y * x.detach()).sum(), used)] for y in (got, exact)]
        assert_close(*pair, **TOLERANCE[torch.float64])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_default_eps_matches_torch(dtype):
    # pytorch PR #142848: without eps, rms_norm of a half type takes float32's. 1e-8 and 1e-6 beside them: both show.
    x = torch.tensor([[1e-4, 2e-4, -1e-4], [1e-3, 2e-3, -1e-3]]).to(dtype)
    assert_close(fused.rms_norm(x, (3,)), normalization.rms_norm(x, (3,)), **TOLERANCE[dtype])
    assert_close(fused.layer_norm(x, (3,)), normalization.layer_norm(x, (3,)), **TOLERANCE[dtype])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, about rows of a tile that are not there
@pytest.mark.parametrize("eps", [0, 1e-12, EPS])
def test_eps_is_added_under_the_root(eps):
    x = inputs("layer_norm", (3, 24))[0]
    assert_close(fused.layer_norm(x, (24,), eps=eps), F.layer_norm(x, (24,), eps=eps), **TOLERANCE[torch.float64])
    assert_close(fused.rms_norm(x, (24,), eps=eps), F.rms_norm(x, (24,), eps=eps), **TOLERANCE[torch.float64])
