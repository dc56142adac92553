"""Resize the inputs of an exercise to the size that an nn.Module was made for."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from .cannot_compare import CannotCompare
from .case import Case, is_float
from .exercise import Exercise
from .modules import accepts, attributes_as_arguments, get_setting, module_shape

MAX_AXES = 5  # (N, C, D, H, W)
# Multiples of a row, so that at least one of them shows how its numbers are rounded.
ROW_FACTORS = 1 + torch.arange(16) / 8


def resize_cases(exercise: Exercise, candidate: object) -> Exercise:
    """Return the exercise with inputs that the candidate was made for, if it is a Module submitted for a function.

    Raises CannotCompare for a Module of size 1, for which all norms are the same.
    """
    if exercise.module is not attributes_as_arguments or not issubclass(type(candidate), nn.Module):
        return exercise
    shape = module_shape(candidate, exercise)
    if shape is not None and math.prod(shape) == 1:
        raise CannotCompare("module-too-small", {})
    fit = partial(_fit_arguments, candidate, exercise, shape)
    cases = tuple(_fit_case(case, fit) for case in exercise.cases)
    scaled_inputs: Callable | None = exercise.scaled_inputs and (lambda n: fit(exercise.scaled_inputs(n)))
    return replace(exercise, cases=cases, scaled_inputs=scaled_inputs)


def _fit_case(case: Case, fit: Callable[[dict[str, object]], dict[str, object]]) -> Case:
    milder = case.advice and case.advice.milder
    advice = replace(case.advice, milder=fit(milder)) if milder else case.advice
    return replace(case, arguments=fit(case.arguments), advice=advice)


def _fit_arguments(
    module: nn.Module, exercise: Exercise, shape: tuple[int, ...] | None, arguments: dict[str, object]
) -> dict[str, object]:
    """Return the arguments with tensors of the Module's shape, and with its own settings where none are given."""
    defaults = {parameter.name: parameter.default for parameter in exercise.parameters}
    first, *names = defaults
    x = arguments[first]
    sized = arguments.get("normalized_shape", (x.shape[_vector_axis(exercise)],))
    resized = shape is not None and tuple(shape) != tuple(sized)
    fit = {first: _match_rank(module, exercise, _resize_input(x, exercise, sized, shape) if resized else x)}
    for name in names:
        value, has = arguments.get(name, defaults[name]), get_setting(module, name)
        own_setting = _is_count(value) and _is_count(has)  # the constructor may have computed with it
        own_default = name not in arguments and type(value) in (float, type(None)) and type(has) is float
        if isinstance(value, Tensor) and has is None and defaults[name] is None:
            value = None
        elif isinstance(value, Tensor) and resized and tuple(value.shape) == tuple(sized):
            value = _resample(value.flatten(), math.prod(shape)).view(shape)
        elif name == "normalized_shape" and shape is not None:
            value = tuple(shape)
        elif own_setting or own_default:
            value = has
        fit[name] = value
    while len(fit) > len(arguments) and _is_default(fit, defaults):
        fit.popitem()
    return fit


def _vector_axis(exercise: Exercise) -> int:
    """Return the axis of x along which the Module's vectors run: the channels or the last."""
    names = {parameter.name for parameter in exercise.parameters}
    return 1 if names & {"num_groups", "running_mean"} else -1


def _is_count(x: object) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)


def _is_default(fit: dict[str, object], defaults: dict[str, object]) -> bool:
    name, value = list(fit.items())[-1]
    return value is defaults[name] or (not isinstance(value, Tensor) and value == defaults[name])


def _match_rank(module: nn.Module, exercise: Exercise, x: Tensor) -> Tensor:
    """Append axes of size 1 to x if the Module needs them."""
    added_axes = range(MAX_AXES + 1 - x.dim()) if _vector_axis(exercise) == 1 else ()
    lifted = (x.view(*x.shape, *[1] * count) for count in added_axes)
    return next((y for y in lifted if accepts(module, y)), x)


def _resize_input(x: Tensor, exercise: Exercise, sized: tuple[int, ...], shape: tuple[int, ...]) -> Tensor:
    if _vector_axis(exercise) == 1:
        return _resample(x.transpose(1, -1), shape[0]).transpose(1, -1).contiguous()
    row = x.flatten(-len(sized))
    alone = row.shape[-1] == 1  # copies of one number would normalize to rounding noise
    x = (row * (1 + torch.arange(math.prod(shape)) % 8) if alone else _resample(row, math.prod(shape))).to(x.dtype)
    x = x.unflatten(-1, shape)
    narrow = x.element_size() < 4 and len(x) == 1
    return x * ROW_FACTORS.to(x.dtype).view(-1, *[1] * (x.dim() - 1)) if narrow else x


def _resample(x: Tensor, size: int) -> Tensor:
    """Cut the last axis or continue it with numbers between its own. Constant rows stay constant, and signs stay."""
    if not x.shape[-1]:
        return x.new_zeros(*x.shape[:-1], size)
    place = torch.arange(size)
    turn, place = place // x.shape[-1], place % x.shape[-1]
    share = turn / (turn + 1.0)
    wide = x.double() if is_float(x) else x
    return (wide[..., place] * (1 - share) + wide[..., (place + 1) % x.shape[-1]] * share).to(x.dtype)
