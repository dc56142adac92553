"""Turn a learner's function or Module into a function of its exercise's named arguments."""

import inspect
from collections.abc import Callable, Iterator
from functools import cache, partial

import torch
from torch import nn
from torch.func import functional_call

from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.modules import (
    UnsupportedModule,
    attributes_as_arguments,
    call_with_attributes,
    load_weights,
)
from blocklab_course.checks.outcome import CannotCompare
from blocklab_course.checks.safe_repr import class_name, error_message, type_name
from blocklab_course.checks.submission import as_callable
from blocklab_course.checks.timeout import Interrupted

from .errors import SwapError, from_cannot_compare, swap_error

Call = Callable[[dict[str, object]], object]


def as_function(exercise: Exercise, candidate: object) -> Callable:
    """Return a function or Module as a function with its exercise's parameters. Raises SwapError as `adapt` does."""
    call, signature = adapt(exercise, candidate), inspect.Signature(exercise.parameters)

    def function(*args: object, **kwargs: object) -> object:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return call(bound.arguments)

    return function


def adapt(exercise: Exercise, candidate: object) -> Call:
    """Return the block as a function of named arguments.

    Of a Module's class, and of a norm's, the function creates a Module for each size. Raises SwapError for any other
    kind of object, and for a function with other parameters.
    """
    cls = candidate if issubclass(type(candidate), type) else type(candidate)
    is_module = issubclass(cls, nn.Module)
    if is_module and (cls is candidate or exercise.module is attributes_as_arguments):
        return partial(_call_new_module, exercise, cache(constructor_of(cls)))
    try:
        call = as_callable(exercise, candidate)
    except CannotCompare as error:
        raise from_cannot_compare(error) from None
    except Exception as error:  # reading an attribute of the candidate may run its code
        raise swap_error("raises", error=f"{type_name(error)}: {error_message(error)}") from None
    return partial(_call_module, exercise, candidate) if is_module else call


def constructor_of(cls: type[nn.Module]) -> Callable[..., nn.Module]:
    """A function that creates a Module in eval mode, without taking random numbers from the lesson."""

    def create(*sizes: object) -> nn.Module:
        try:
            with torch.random.fork_rng(devices=[]):
                return cls(*sizes).eval()
        except Interrupted:
            raise
        except BaseException as error:
            called = f"{class_name(cls)}({', '.join(map(str, sizes))})"
            raise swap_error("not-made", called=called, error=f"{type_name(error)}: {error_message(error)}") from None

    return create


def create_modules(constructor: Callable[..., nn.Module], arguments: dict[str, object]) -> Iterator[nn.Module]:
    """Create a Module for these arguments in each of the usual ways that work. Raises SwapError if none does."""
    errors, ways = [], _possible_sizes(arguments)
    for sizes in ways:
        try:
            module = constructor(*sizes)
        except SwapError as error:
            errors.append(error)
        else:
            yield module
    if len(errors) == len(ways):
        raise errors[0]


def _call_new_module(exercise: Exercise, constructor: Callable, arguments: dict[str, object]) -> object:
    """Call a Module that is created for these arguments, in the first way that works."""
    errors = []
    for module in create_modules(constructor, arguments):
        try:
            return _call_module(exercise, module, arguments)
        except Exception as error:
            errors.append(error)
    raise errors[0]


def _possible_sizes(arguments: dict[str, object]) -> list[tuple]:
    """What the constructor of a Module for these arguments may take: norms an int or a tuple, as torch's do."""
    match arguments:
        case {"normalized_shape": [size]}:
            return [(size,), ((size,),)]
        case {"normalized_shape": shape}:
            return [(tuple(shape),)]
        case {"x": x, "num_groups": groups}:
            return [(groups, x.shape[1])]
        case {"x": x, "running_mean": _}:
            return [(x.shape[1],)]
        case {"x": x, "weight": _}:
            return [(x.shape[-1],), ((x.shape[-1],),)]
        case {"w1": matrix}:
            return [(matrix.shape[1], matrix.shape[0]), ()]
        case {"src": src}:
            return [(src.shape[-1], 2, 12)]  # the heads and hidden units of the exercise
    return [()]


def _call_module(exercise: Exercise, module: nn.Module, arguments: dict[str, object]) -> object:
    """Call a Module with the arguments as its weights, statistics and settings. Raises SwapError if they do not fit."""
    try:
        if "w1" in arguments:
            return _call_with_matrices(module, arguments)
        if exercise.module is attributes_as_arguments:  # `check` calls it in both modes; a network needs one
            return call_with_attributes(module, exercise, arguments)
        if exercise.module:
            return exercise.module(module, exercise, arguments)
    except UnsupportedModule:
        raise swap_error("module-attributes", wanted=exercise.signature) from None
    except CannotCompare as error:
        raise from_cannot_compare(error) from None
    return module(*arguments.values())


def _call_with_matrices(module: nn.Module, arguments: dict[str, object]) -> object:
    """Call a Module with these matrices as the weights of its Linear layers, whatever their size."""
    weights = {f"{name}.weight": matrix for name, matrix in arguments.items() if name != "x"}
    if module.state_dict().keys() != weights.keys():
        load_weights(module, weights)  # raises CannotCompare
    return functional_call(module, weights, arguments["x"])
