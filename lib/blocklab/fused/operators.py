"""The kernels as custom operators of torch, with the shapes of their results, for torch.compile, and their gradients.

torch.compile does not look into an operator, so it cannot change a kernel's arguments, such as an eps that becomes a
float64 and makes the whole kernel compute in float64.

x may be float32, float16 or bfloat16, weight and bias each of a type of their own. Arithmetic is float32 and rounded
once, to the dtype of x or the wider one of gate and value. All raise ImportError without Triton, ValueError for a wrong
shape, width or device and TypeError for another dtype. (On a machine without a GPU, TRITON_INTERPRET=1 runs them.)
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.library import custom_op

from blocklab._validation import check_number, check_shape
from blocklab.fused._validation import check_fused, check_width
from blocklab.fused.layer_norm import backward as layer_norm_backward
from blocklab.fused.layer_norm import forward as layer_norm_forward
from blocklab.fused.rms_norm import backward as rms_norm_backward
from blocklab.fused.rms_norm import forward as rms_norm_forward
from blocklab.fused.swiglu import backward as swiglu_backward
from blocklab.fused.swiglu import forward as swiglu_forward


def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`normalization.layer_norm` on a GPU, in one kernel.

        y = weight * (x - mean) / sqrt(var + eps) + bias

    x: (*, *normalized_shape); weight, bias: normalized_shape, of 1 to 65536 elements.
    Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450

    >>> layer_norm(torch.tensor([[0.0, 2.0], [10.0, 30.0]]).cuda(), (2,)).cpu()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    check_fused("fused.layer_norm", x=x, or_none={"weight": weight, "bias": bias})
    width = check_width("fused.layer_norm", x, normalized_shape, weight=weight, bias=bias)
    eps = check_number("fused.layer_norm", "eps", eps)
    weight, bias = (None if vector is None else vector.reshape(width) for vector in (weight, bias))
    y, _, _ = _layer_norm(x.reshape(-1, width), weight, bias, eps)
    return y.view(x.shape)


_layer_norm = custom_op("blocklab::layer_norm", layer_norm_forward, mutates_args=())
_layer_norm_backward = custom_op("blocklab::layer_norm_backward", layer_norm_backward, mutates_args=())
_layer_norm.register_fake(
    lambda x, weight, bias, eps: (x.new_empty(x.shape), _statistics(x, x.shape[0]), _statistics(x, x.shape[0]))
)
_layer_norm_backward.register_fake(
    lambda dy, x, weight, means, scales: (x.new_empty(x.shape), _statistics(x, 2, x.shape[1]))
)


def _keep_layer_norm(ctx, inputs, output):
    x, weight, bias, _ = inputs
    _, means, scales = output
    ctx.save_for_backward(x, weight, bias, means, scales)
    ctx.set_materialize_grads(False)  # no zeros for the statistics, which have no gradient


def _differentiate_layer_norm(ctx, dy, _dmeans, _dscales):
    if dy is None:
        return None, None, None, None
    x, weight, bias, means, scales = ctx.saved_tensors
    dx, (dweight, dbias) = _layer_norm_backward(dy, x, weight, means, scales)
    # autograd rounds them to the types of weight and bias
    return dx, None if weight is None else dweight, None if bias is None else dbias, None


_layer_norm.register_autograd(_differentiate_layer_norm, setup_context=_keep_layer_norm)


def rms_norm(
    x: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """`normalization.rms_norm` on a GPU, in one kernel.

        y = weight * x / sqrt(mean(x**2) + eps)

    x: (*, *normalized_shape); weight: normalized_shape, of 1 to 65536 elements. eps=None is the machine epsilon of the
    type computed in. Source: Zhang and Sennrich 2019, arXiv:1910.07467

    >>> rms_norm(torch.tensor([3.0, 4.0]).cuda(), (2,)).cpu()
    tensor([0.8485, 1.1314])
    """
    check_fused("fused.rms_norm", x=x, or_none={"weight": weight})
    width = check_width("fused.rms_norm", x, normalized_shape, weight=weight)
    plain = torch.finfo(torch.promote_types(x.dtype, torch.float32)).eps
    eps = plain if eps is None else check_number("fused.rms_norm", "eps", eps)
    y, _ = _rms_norm(x.reshape(-1, width), None if weight is None else weight.reshape(width), eps)
    return y.view(x.shape)


_rms_norm = custom_op("blocklab::rms_norm", rms_norm_forward, mutates_args=())
_rms_norm_backward = custom_op("blocklab::rms_norm_backward", rms_norm_backward, mutates_args=())
_rms_norm.register_fake(lambda x, weight, eps: (x.new_empty(x.shape), _statistics(x, x.shape[0])))
_rms_norm_backward.register_fake(lambda dy, x, weight, scales: (x.new_empty(x.shape), _statistics(x, x.shape[1])))


def _keep_rms_norm(ctx, inputs, output):
    x, weight, _ = inputs
    _, scales = output
    ctx.save_for_backward(x, weight, scales)
    ctx.set_materialize_grads(False)


def _differentiate_rms_norm(ctx, dy, _dscales):
    if dy is None:
        return None, None, None
    x, weight, scales = ctx.saved_tensors
    dx, dweight = _rms_norm_backward(dy, x, weight, scales)
    return dx, None if weight is None else dweight, None


_rms_norm.register_autograd(_differentiate_rms_norm, setup_context=_keep_rms_norm)


def swiglu(gate: Tensor, value: Tensor) -> Tensor:
    """`feed_forward.swiglu` on a GPU, in one kernel.

        silu(gate) * value

    gate, value: the same shape. Source: Shazeer 2020, arXiv:2002.05202

    >>> swiglu(torch.tensor([-1.0, 1.0]).cuda(), torch.tensor([10.0, 10.0]).cuda()).cpu()
    tensor([-2.6894,  7.3106])
    """
    check_fused("fused.swiglu", gate=gate, value=value)
    check_shape("fused.swiglu", gate.shape, value=value)
    matrix = (gate.shape[:-1].numel(), gate.shape[-1]) if gate.dim() else (1, 1)
    return _swiglu(gate.reshape(matrix), value.reshape(matrix)).view(gate.shape)


_swiglu = custom_op("blocklab::swiglu", swiglu_forward, mutates_args=())
_swiglu_backward = custom_op("blocklab::swiglu_backward", swiglu_backward, mutates_args=())
_swiglu.register_fake(
    lambda gate, value: gate.new_empty(gate.shape, dtype=torch.promote_types(gate.dtype, value.dtype))
)
_swiglu_backward.register_fake(lambda dy, gate, value: (gate.new_empty(gate.shape), value.new_empty(gate.shape)))
_swiglu.register_autograd(
    lambda ctx, dy: _swiglu_backward(dy, *ctx.saved_tensors),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)


def _statistics(x: Tensor, *shape: int) -> Tensor:
    """An empty tensor in the type computed in."""
    return x.new_empty(shape, dtype=torch.promote_types(x.dtype, torch.float32))
