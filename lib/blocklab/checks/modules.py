"""Call an nn.Module where the exercise is a function: its attributes take the place of the arguments."""

import copy
import inspect

from torch import Tensor, nn

from .candidate import Complaint
from .exercise import Exercise
from .outcome import NotComparable
from .words import NOTHING


class CannotBeSaid(NotComparable):
    """The input needs an argument that this Module has no attribute for."""


def attributes_as_arguments(module: nn.Module, exercise: Exercise, arguments: dict[str, object]) -> object:
    """Call the module on the first argument, with the others as its parameters, buffers and settings of that name.

    Buffers that the module writes are written back into the arguments. Raises CannotBeSaid where an argument that is
    not at its default has no such attribute, or the module has a parameter for which the case has none.
    """
    module = copy.deepcopy(module)
    (_, x), *others = arguments.items()
    _want_rank(module, x)
    defaults = {name: p.default for name, p in inspect.signature(exercise.recipe).parameters.items()}
    tensors = {}
    for name, value in others:
        if name == "training":
            module.train(value)
        elif not hasattr(module, name):
            if value is not defaults[name] and value != defaults[name]:
                raise CannotBeSaid
        elif isinstance(value, Tensor):
            tensors[name] = value
        elif value is not None:
            setattr(module, name, value)
        elif getattr(module, name) is not None:
            raise CannotBeSaid
    missing = {name for name, _ in module.named_parameters()} - tensors.keys()
    if missing:
        raise CannotBeSaid
    return _call_with(module, tensors, x)


def _want_rank(module: nn.Module, x: Tensor) -> None:
    """torch has a class of its own for every rank; each refuses the others' inputs."""
    if isinstance(module, nn.modules.batchnorm._NormBase):
        try:
            module._check_input_dim(x)
        except ValueError:
            raise CannotBeSaid from None


def _call_with(module: nn.Module, tensors: dict[str, Tensor], x: Tensor) -> object:
    """Put the tensors in the place of parameters and buffers, call, and copy back what the module bound anew.

    A learner may keep running statistics as plain attributes: `functional_call` would not see those.
    """
    for name, value in tensors.items():
        module._parameters.pop(name, None)
        module._buffers.pop(name, None)
        object.__setattr__(module, name, value)
    result = module(x)
    for name, value in tensors.items():
        now = getattr(module, name)
        if now is not value:
            value.data.copy_(now.detach())
    return result


def load_weights(module: nn.Module, weights: dict[str, Tensor]) -> nn.Module:
    """A copy of the module with these weights. Raises Complaint with the names that do not fit."""
    module = copy.deepcopy(module)
    shapes = {name: tuple(x.shape) for name, x in module.state_dict().items()}
    wanted = {name: tuple(x.shape) for name, x in weights.items()}
    if shapes != wanted:
        missing = [f"{name} {shape}" for name, shape in wanted.items() if shapes.get(name) != shape]
        unexpected = [f"{name} {shape}" for name, shape in shapes.items() if wanted.get(name) != shape]
        lists = {"missing": missing, "unexpected": unexpected}
        raise Complaint("state-dict-keys", {key: ", ".join(names) or NOTHING for key, names in lists.items()})
    module.load_state_dict(weights)
    return module
