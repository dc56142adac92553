"""Call a fused function and torch's by the same name with the same arguments, and compare their results."""

import torch
import torch.nn.functional as F

from blocklab import fused

NAMES = ["layer_norm", "rms_norm", "swiglu"]
EPS = 0.1  # far from negligible, and keeps equal values well conditioned


def ours(name, *tensors):
    return _call(fused, name, *tensors)


def torchs(name, gate, value=None, bias=None):
    return F.silu(gate) * value if name == "swiglu" else _call(F, name, gate, value, bias)


def _call(namespace, name, x, *parameters):
    if name == "swiglu":
        return namespace.swiglu(x, *parameters)
    shape = tuple(x.shape[-1:]) if parameters[0] is None else tuple(parameters[0].shape)
    return getattr(namespace, name)(x, shape, *(parameters[:1] if name == "rms_norm" else parameters), eps=EPS)


def inputs(name, shape, dtype=torch.float64, seed=0):
    """gate and value for swiglu, otherwise x, weight and bias; rms_norm ignores bias."""
    rng = torch.Generator().manual_seed(seed)
    shapes = [shape, shape] if name == "swiglu" else [shape, shape[-1:], shape[-1:]]
    return [(2 * torch.randn(s, generator=rng, dtype=torch.float64) + 1).to(dtype) for s in shapes]


def result_and_gradients(function, name, tensors, dy):
    """y and the gradients of the tensors that the function uses."""
    leaves = [t.detach().requires_grad_() for t in tensors[: 2 if name == "rms_norm" else None]]
    y = function(name, *leaves, *tensors[len(leaves) :])
    return [y.detach(), *torch.autograd.grad(y, leaves, dy.to(y.dtype))]


def error(got, exact):
    """The relative error ‖got - exact‖ / ‖exact‖."""
    return torch.linalg.vector_norm(got.double() - exact) / torch.linalg.vector_norm(exact).clamp_min(1e-300)
