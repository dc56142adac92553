import torch
import torch.nn.functional as F


def by_autograd(grad_output, x, weight, eps=1e-5):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    bias = torch.zeros_like(weight, requires_grad=True)
    return torch.autograd.grad(F.layer_norm(x, weight.shape, weight, bias, eps), (x, weight, bias), grad_output)


def torchs_own(grad_output, x, weight, eps=1e-5):
    _, mean, rstd = torch.native_layer_norm(x, weight.shape, weight, None, eps)
    wanted = [True, True, True]
    bias = torch.zeros_like(weight)
    return torch.ops.aten.native_layer_norm_backward(grad_output, x, weight.shape, mean, rstd, weight, bias, wanted)


def two_projections(grad_output, x, weight, eps=1e-5):
    """Take out of g its part along the ones and its part along x_hat."""
    centred = x - x.mean(-1, keepdim=True)
    scale = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
    x_hat = centred * scale
    g = grad_output * weight
    grad_x = scale * (g - g.mean(-1, keepdim=True) - x_hat * (g * x_hat).mean(-1, keepdim=True))
    tokens = tuple(range(x.dim() - 1))
    return grad_x, (grad_output * x_hat).sum(tokens), grad_output.sum(tokens)


def with_sums(dy, x, gamma, eps=1e-5):
    d = x.shape[-1]
    deviation = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    x_hat = (x - x.mean(-1, keepdim=True)) / deviation
    g = dy * gamma
    dx = (d * g - g.sum(-1, keepdim=True) - x_hat * (g * x_hat).sum(-1, keepdim=True)) / (d * deviation)
    return dx, torch.einsum("...d,...d->d", dy, x_hat), torch.einsum("...d->d", dy)


def step_by_step_back(dout, x, weight, eps=1e-5):
    """The chain rule through every step of the forward pass."""
    d = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / d
    centred = x - mean
    variance = (centred**2).sum(-1, keepdim=True) / d
    inverse = 1 / torch.sqrt(variance + eps)
    d_normalized = dout * weight
    d_inverse = (d_normalized * centred).sum(-1, keepdim=True)
    d_variance = -0.5 * d_inverse * inverse**3
    d_centred = d_normalized * inverse + 2 * centred * d_variance / d
    d_mean = -d_centred.sum(-1, keepdim=True)
    d_x = d_centred + d_mean / d
    flat = dout.reshape(-1, d)
    return d_x, (flat * (centred * inverse).reshape(-1, d)).sum(0), flat.sum(0)


def by_the_jacobian(grad_output, x, weight, eps=1e-5):
    d = x.shape[-1]
    one = torch.ones(d, d, dtype=x.dtype) / d
    rows, grads = x.reshape(-1, d), grad_output.reshape(-1, d)
    grad_x, grad_weight = [], torch.zeros_like(weight)
    for row, grad in zip(rows, grads, strict=True):
        deviation = torch.sqrt(row.var(correction=0) + eps)
        x_hat = (row - row.mean()) / deviation
        jacobian = (torch.eye(d, dtype=x.dtype) - one - torch.outer(x_hat, x_hat) / d) / deviation
        grad_x.append(jacobian @ (weight * grad))
        grad_weight = grad_weight + grad * x_hat
    return torch.stack(grad_x).view_as(x), grad_weight, grads.sum(0)


def mean_of_squares(grad_output, x, weight, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    deviation = torch.sqrt((x * x).mean(-1, keepdim=True) - mean * mean + eps)
    x_hat = (x - mean) / deviation
    g = grad_output * weight
    grad_x = (g - g.mean(-1, keepdim=True) - x_hat * (g * x_hat).mean(-1, keepdim=True)) / deviation
    tokens = list(range(x.dim() - 1))
    return grad_x, (grad_output * x_hat).sum(tokens), grad_output.sum(tokens)


RIGHT = {
    "layer_norm_backward": {
        "by autograd": by_autograd,
        "torch's own": torchs_own,
        "two projections": two_projections,
        "with sums": with_sums,
        "as a list": lambda *given: list(with_sums(*given)),
        "step by step back": step_by_step_back,
        "compiled": torch.compile(two_projections, backend="eager"),
    }
}
ADVISED = {
    "layer_norm_backward": {
        "by the Jacobian": (by_the_jacobian, ("slow", "empty")),
        "mean of squares": (mean_of_squares, ("large-offset",)),
    }
}
