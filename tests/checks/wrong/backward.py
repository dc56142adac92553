import torch
import torch.nn.functional as F


def by_autograd_on_the_inputs(grad_output, x, weight, eps=1e-5):
    x.requires_grad_()
    weight.requires_grad_()
    bias = torch.zeros_like(weight, requires_grad=True)
    F.layer_norm(x, weight.shape, weight, bias, eps).backward(grad_output)
    return x.grad, weight.grad, bias.grad


def marked(grad_output, x, weight, eps=1e-5):
    weight.requires_grad_()
    bias = torch.zeros_like(weight, requires_grad=True)
    x = x.detach().requires_grad_()
    return torch.autograd.grad(F.layer_norm(x, weight.shape, weight, bias, eps), (x, weight, bias), grad_output)


def by_autograd(grad_output, x, weight, eps=1e-5):
    return marked(grad_output, x, weight.detach().clone(), eps)


WRONG = {
    "layer_norm_backward": {
        "by autograd on the inputs themselves": (by_autograd_on_the_inputs, {"mutates-input"}),
        "grad_x behind the others": (lambda *given: by_autograd(*given)[::-1], {"grad-x-last"}),
        "the weight stays marked": (marked, {"mutates-input"}),
    }
}
