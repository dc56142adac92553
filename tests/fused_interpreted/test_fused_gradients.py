"""Gradients of the fused functions: exact, repeatable, and compatible with torch.compile and autocast."""

import pytest
import torch
from fused_reference import EPS, NAMES, inputs, ours, torchs
from torch.testing import assert_close

from blocklab import fused
from blocklab.fused import operators


@pytest.mark.parametrize("shape", [(3, 7), (2, 2, 3)], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_gradcheck(name, shape):
    tensors = [t.requires_grad_() for t in inputs(name, shape)]
    assert torch.autograd.gradcheck(lambda *leaves: ours(name, *leaves), tensors)


@pytest.mark.parametrize("name", NAMES)
def test_weight_gradient_counts_every_row_once(name):
    # more rows than programs: each program gets 2 or 3 tiles
    tensors = [t.requires_grad_() for t in inputs(name, (8, 1500))]
    pair = [
        torch.autograd.grad(function(name, *tensors).sum(), tensors, allow_unused=True) for function in (ours, torchs)
    ]
    assert_close(*pair, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_backward_twice_doubles_the_gradient(name):
    # Liger-Kernel #254, #272, #343: dx overwrote dy or a saved tensor, so that the second time differed
    tensors = [t.requires_grad_() for t in inputs(name, (4, 24), torch.float32)]
    used = tensors[: 2 if name == "rms_norm" else None]
    y = ours(name, *tensors)
    dy = torch.randn(4, 24, generator=torch.Generator().manual_seed(1))
    before = [t.detach().clone() for t in (*tensors, y, dy)]
    y.backward(dy, retain_graph=True)
    once = [t.grad.clone() for t in used]
    y.backward(dy)
    assert all(torch.equal(t.grad, 2 * gradient) for t, gradient in zip(used, once, strict=True))
    assert all(map(torch.equal, (*tensors, y, dy), before))


@pytest.mark.parametrize("name", NAMES)
def test_input_used_twice_gets_both_gradients(name):
    # Liger-Kernel #1305: two gradients in the same memory
    x, *others = inputs(name, (4, 24))
    x.requires_grad_()
    twice = {function: function(name, x, *others) * function(name, x + 1, *others) + x for function in (ours, torchs)}
    pair = [torch.autograd.grad(y.sum(), x) for y in twice.values()]
    assert_close(*pair, rtol=1e-12, atol=1e-12)


def test_swiglu_of_a_tensor_with_itself():
    x = inputs("swiglu", (4, 24))[0].requires_grad_()
    pair = [torch.autograd.grad(function("swiglu", x, x).sum(), x) for function in (ours, torchs)]
    assert_close(*pair, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_rejects_second_derivatives(name):
    x, *others = (t.requires_grad_() for t in inputs(name, (4, 24)))
    (dx,) = torch.autograd.grad(ours(name, x, *others).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=f"backward through blocklab.{name}_backward"):
        torch.autograd.grad(dx.sum(), x)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_have_the_dtypes_of_their_tensors(name):
    # what mixed precision does: activations of a half type, parameters in float32
    x, *others = inputs(name, (4, 24), torch.bfloat16)
    leaves = [x.requires_grad_(), *(t.float().requires_grad_() for t in others)]
    y = ours(name, *leaves)
    assert y.dtype == (torch.float32 if name == "swiglu" else torch.bfloat16)
    y.sum().backward()
    used = leaves[: 2 if name == "rms_norm" else None]
    assert [t.grad.dtype for t in used] == [t.dtype for t in used]


# What torch does with operators


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # torch 2.14's own check reads it
@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("_layer_norm", ((5, 24), (24,), (24,), EPS)),
        ("_layer_norm", ((5, 24), None, None, EPS)),
        ("_layer_norm_backward", ((5, 24), (5, 24), (24,), (5,), (5,))),
        ("_rms_norm", ((5, 24), (24,), EPS)),
        ("_rms_norm_backward", ((5, 24), (5, 24), None, (5,))),
        ("_swiglu", ((5, 24), (5, 24))),
        ("_swiglu_backward", ((5, 24), (5, 24), (5, 24))),
    ],
)
def test_operators_pass_opcheck(operator, arguments):
    def tensor(shape):
        return torch.rand(shape).requires_grad_(not operator.endswith("backward"))

    torch.library.opcheck(getattr(operators, operator), [tensor(a) if isinstance(a, tuple) else a for a in arguments])


def block(x, weight, bias):
    shape = weight.shape
    return fused.swiglu(fused.layer_norm(x, shape, weight, bias), fused.rms_norm(x, shape, weight))


def test_compiles_as_one_graph_for_any_number_of_rows():
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(block, fullgraph=True, dynamic=True, backend=backend)
    for rows in (3, 5, 8):
        tensors = [t.requires_grad_() for t in inputs("layer_norm", (rows, 2, 24), torch.float32)]
        pair = [torch.autograd.grad(function(*tensors).square().sum(), tensors) for function in (compiled, block)]
        assert_close(*pair, rtol=0, atol=0)
    assert len(graphs) == 1


def test_gradients_compile_too():
    tensors = [t.requires_grad_() for t in inputs("layer_norm", (3, 24), torch.float32)]
    compiled = torch.compile(block, fullgraph=True, backend="aot_eager")
    pair = [torch.autograd.grad(function(*tensors).square().sum(), tensors) for function in (compiled, block)]
    assert_close(*pair, rtol=0, atol=0)


def test_autocast_does_not_change_dtypes():
    x, weight, bias = inputs("layer_norm", (3, 24), torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        narrow = x @ torch.eye(24)
        assert narrow.dtype == torch.bfloat16
        assert fused.layer_norm(narrow, (24,), weight, bias).dtype == torch.bfloat16
        assert fused.rms_norm(x, (24,), weight).dtype == torch.float32
