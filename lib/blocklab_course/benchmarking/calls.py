"""From a function and its inputs to the call that is timed: the forward pass, or the backward pass alone."""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch._functorch import config as functorch

Function = Callable[..., object]
DIRECTIONS = ("forward", "backward")


def prepare(function: Function, inputs: Sequence[Tensor], direction: str = "forward") -> Callable[[], object]:
    """The call without arguments whose time is wanted.

    forward: function(*inputs), with nothing kept for a way back. backward: the last input is dy, the gradient of the
    result; the forward pass has run here, once, and the call is `torch.autograd.grad` from the result to every other
    input. Nothing is accumulated in `.grad`, which would cost a pass over memory more.

    Raises ValueError for another direction.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"prepare wants direction to be one of {', '.join(DIRECTIONS)}, got {direction!r}")
    if direction == "forward":
        return torch.no_grad()(functools.partial(function, *inputs))
    *given, dy = inputs
    leaves = [tensor.detach().requires_grad_() for tensor in given]
    # A compiled function would give its saved tensors away to the first backward pass; here many follow.
    with torch.enable_grad(), functorch.patch(donated_buffer=False):
        result = function(*leaves)
    return functools.partial(torch.autograd.grad, result, leaves, dy, retain_graph=True)


def clone_inputs(function: Function) -> Function:
    """The same function of copies, for one whose backward pass writes into what it was given. Copying is not timed."""
    return lambda *inputs: function(*(tensor.clone() for tensor in inputs))
