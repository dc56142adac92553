"""Turn a learner's function or Module into a function of its exercise's named arguments."""

from collections.abc import Callable
from functools import cache, partial

from torch import nn
from torch.func import functional_call

from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.modules import UnsupportedModule, attributes_as_arguments, load_weights
from blocklab_course.checks.outcome import CannotCompare
from blocklab_course.checks.safe_repr import class_name, error_message, type_name
from blocklab_course.checks.submission import as_callable
from blocklab_course.checks.timeout import Interrupted

from .errors import from_cannot_compare, swap_error

Call = Callable[[dict[str, object]], object]


def adapt(exercise: Exercise, candidate: object) -> Call:
    """Return the block as a function of named arguments. A norm may be a Module or its class: each size gets its own.

    Raises SwapError for any other kind of object, and for a function with other parameters.
    """
    cls = candidate if issubclass(type(candidate), type) else type(candidate)
    try:
        if exercise.module is attributes_as_arguments and issubclass(cls, nn.Module):
            return partial(_call_norm, exercise, cache(partial(_create, cls)))
        call = as_callable(exercise, candidate)
    except CannotCompare as error:
        raise from_cannot_compare(error) from None
    return partial(_call_with_matrices, candidate) if exercise.module and issubclass(cls, nn.Module) else call


def _create(cls: type[nn.Module], size: int) -> nn.Module:
    try:
        return cls(size)
    except Interrupted:
        raise
    except BaseException as error:
        message = f"{type_name(error)}: {error_message(error)}"
        raise swap_error("not-made", called=f"{class_name(cls)}({size})", error=message) from None


def _call_norm(exercise: Exercise, create: Callable[[int], nn.Module], arguments: dict[str, object]) -> object:
    """Call a norm Module with the arguments as its weights, statistics and settings."""
    x = arguments["x"]
    module = create(x.shape[1] if "running_mean" in arguments else x.shape[-1])
    try:
        return attributes_as_arguments(module, exercise, arguments)
    except UnsupportedModule:
        raise swap_error("module-attributes", wanted=exercise.signature) from None


def _call_with_matrices(module: nn.Module, arguments: dict[str, object]) -> object:
    """Call a Module with these matrices as the weights of its Linear layers, whatever their size."""
    weights = {f"{name}.weight": matrix for name, matrix in arguments.items() if name != "x"}
    if module.state_dict().keys() != weights.keys():
        try:
            load_weights(module, weights)
        except CannotCompare as error:
            raise from_cannot_compare(error) from None
    return functional_call(module, weights, arguments["x"])
