"""A learner's block as `check` takes it, callable on the named arguments of its exercise."""

from collections.abc import Callable
from functools import cache, partial

from torch import nn
from torch.func import functional_call

from blocklab_course.checks.cannot_compare import CannotCompare
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.modules import UnsupportedModule, attributes_as_arguments, load_weights
from blocklab_course.checks.safe_repr import class_name, error_message, type_name
from blocklab_course.checks.submission import as_callable
from blocklab_course.checks.timeout import Interrupted

from .errors import from_cannot_compare, swap_error

Call = Callable[[dict[str, object]], object]


def adapt(exercise: Exercise, candidate: object) -> Call:
    """The block as a function of named arguments. A norm may be a Module, or its class: one is made for every size.

    Raises CannotRun for what is none of these, and for a function with other parameters.
    """
    of = candidate if issubclass(type(candidate), type) else type(candidate)
    try:
        if exercise.module is attributes_as_arguments and issubclass(of, nn.Module):
            return partial(_with_settings, exercise, cache(partial(_made, of)))
        call = as_callable(exercise, candidate)
    except CannotCompare as complaint:
        raise from_cannot_compare(complaint) from None
    return partial(_with_matrices, candidate) if exercise.module and issubclass(of, nn.Module) else call


def _made(of: type[nn.Module], size: int) -> nn.Module:
    try:
        return of(size)
    except Interrupted:
        raise
    except BaseException as error:
        said = f"{type_name(error)}: {error_message(error)}"
        raise swap_error("not-made", called=f"{class_name(of)}({size})", error=said) from None


def _with_settings(exercise: Exercise, made: Callable[[int], nn.Module], arguments: dict[str, object]) -> object:
    """Call a Module that stands for a norm, with the arguments as its weights, statistics and settings."""
    x = arguments["x"]
    module = made(x.shape[1] if "running_mean" in arguments else x.shape[-1])
    try:
        return attributes_as_arguments(module, exercise, arguments)
    except UnsupportedModule:
        raise swap_error("module-attributes", wanted=exercise.signature) from None


def _with_matrices(module: nn.Module, arguments: dict[str, object]) -> object:
    """Call a Module with the matrices of the arguments as those of its Linear layers, whatever their size."""
    weights = {f"{name}.weight": matrix for name, matrix in arguments.items() if name != "x"}
    if module.state_dict().keys() != weights.keys():
        try:
            load_weights(module, weights)
        except CannotCompare as complaint:
            raise from_cannot_compare(complaint) from None
    return functional_call(module, weights, arguments["x"])
