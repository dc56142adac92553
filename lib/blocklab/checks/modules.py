"""Call an nn.Module where the exercise is a function: its attributes take the place of the arguments."""

import copy

from torch import Tensor, nn

from .candidate import Complaint
from .exercise import Exercise
from .outcome import NotComparable
from .words import NOTHING

NEUTRAL = {"weight": 1.0, "bias": 0.0}
COUNTS = {"num_features", "num_channels"}  # what torch's layers call the size that they were made for


class CannotBeSaid(NotComparable):
    """The input needs an argument that this Module has no attribute for."""


def attributes_as_arguments(module: nn.Module, exercise: Exercise, arguments: dict[str, object]) -> object:
    """Call the module on the first argument, with the others as its parameters, buffers and settings of that name.

    A weight or bias that is None in the input is one or zero in the module. Buffers that the module writes are written
    back into the arguments. Raises CannotBeSaid where an argument that is not at its default has no such attribute, or
    the module has a parameter of another name.
    """
    module = copy.deepcopy(module)
    x = next(iter(arguments.values()))
    _want_rank(module, x)
    size = tuple(arguments.get("normalized_shape", x.shape[1:2]))
    defaults = {parameter.name: parameter.default for parameter in exercise.parameters}
    _, *settings = defaults
    tensors = {}
    for name in settings:
        value = arguments.get(name, defaults[name])
        if name == "training":
            module.train(value)
        elif not hasattr(module, name):
            implied = name == "normalized_shape" and size in [tuple(p.shape) for p in module.parameters()]
            if not implied and value is not defaults[name] and value != defaults[name]:
                raise CannotBeSaid
        elif isinstance(value, Tensor):
            tensors[name] = value
        elif value is not None:
            setattr(module, name, value)
    for name in COUNTS & vars(module).keys():
        setattr(module, name, size[0])
    for name, parameter in list(module.named_parameters()):
        if name not in tensors and name not in NEUTRAL:
            raise CannotBeSaid
        like = next(iter(tensors.values()), x)  # running statistics may be wider than x
        tensors.setdefault(name, parameter.new_full(size, NEUTRAL.get(name, 0.0), dtype=like.dtype))
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
            value.requires_grad_(now.requires_grad)
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
