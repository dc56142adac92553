"""Turn a function and its inputs into the call to time: the forward pass, or the backward pass alone."""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch._functorch import config as functorch

Function = Callable[..., object]
DIRECTIONS = ("forward", "backward")


def prepare(function: Function, inputs: Sequence[Tensor], direction: str = "forward") -> Callable[[], object]:
    """A call without arguments that runs the pass to time.

    forward: function(*inputs) without gradients. backward: the last input is dy, the gradient of the result; the
    forward pass runs here, once, and the call is `torch.autograd.grad` of the result with respect to all other inputs.
    It doesn't accumulate into `.grad`, which would cost another pass over memory.

    Raises ValueError for another direction.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"prepare: expected direction to be one of {', '.join(DIRECTIONS)}, got {direction!r}")
    if direction == "forward":
        return torch.no_grad()(functools.partial(function, *inputs))
    *given, dy = inputs
    leaves = [tensor.detach().requires_grad_() for tensor in given]
    # The backward pass runs many times, so a compiled function may not free its saved tensors in the first one.
    with torch.enable_grad(), functorch.patch(donated_buffer=False):
        result = function(*leaves)
    return functools.partial(torch.autograd.grad, result, leaves, dy, retain_graph=True)


def clone_inputs(function: Function) -> Function:
    """Call the function on clones, because its backward pass overwrites its inputs. Cloning is not timed."""
    return lambda *inputs: function(*(tensor.clone() for tensor in inputs))
