"""Call an nn.Module in an exercise about a function, on inputs of its size: its attributes stand for the arguments."""

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from .case import Case, is_float
from .exercise import Exercise
from .messages import NOTHING
from .outcome import CannotCompare, NotComparable

IDENTITY_VALUES = {"weight": 1.0, "bias": 0.0}
VECTOR_NAMES = ("weight", "bias", "running_mean", "running_var")
SIZE_NAMES = ("num_features", "num_channels", "channels")  # attributes that hold the size of a layer without vectors
ALIASES = {"eps": ("variance_epsilon", "epsilon", "layer_norm_eps")}
MISSING = object()


class UnsupportedModule(NotComparable):
    """The Module has no attribute for an argument of this input, or has another size."""


def get_setting(module: nn.Module, name: str) -> object:
    """Return an attribute of the Module, under any of its usual names, or MISSING."""
    try:
        return getattr(module, resolve_alias(module, name), MISSING)
    except Exception:
        return MISSING


def resolve_alias(module: nn.Module, name: str) -> str:
    """Return the name that the Module uses for a setting."""
    return next((other for other in (name, *ALIASES.get(name, ())) if hasattr(module, other)), name)


def get_vectors(module: nn.Module) -> list[Tensor]:
    """Return the parameters and buffers that exercises have as arguments."""
    return [x for x in (get_setting(module, name) for name in VECTOR_NAMES) if isinstance(x, Tensor) and x.dim()]


def module_shape(module: nn.Module, exercise: Exercise) -> tuple[int, ...] | None:
    """Return the shape the Module was made for, from its settings or vectors, or None."""
    if any(parameter.name == "normalized_shape" for parameter in exercise.parameters):
        shape = _as_shape(get_setting(module, "normalized_shape"))
        return shape or next((tuple(x.shape) for x in get_vectors(module)), None)
    counts = [x for x in (get_setting(module, name) for name in SIZE_NAMES) if type(x) is int]
    return next(((size,) for size in (*(x.numel() for x in get_vectors(module)), *counts)), None)


def _as_shape(value: object) -> tuple[int, ...] | None:
    """Return a number, list or tuple as a shape, and None for anything else."""
    if type(value) is int:
        return (value,)
    sizes = isinstance(value, tuple | list) and all(type(size) is int for size in value)
    return tuple(value) if sizes else None


def attributes_as_arguments(module: nn.Module, exercise: Exercise, arguments: dict[str, object]) -> object:
    """Call the module on the first argument, with the others set as its parameters, buffers and settings.

    A weight or bias of None becomes ones or zeros. Buffers that the module updates are copied back into the arguments.
    Sizes are never set, because the constructor may have used them.

    Raises UnsupportedModule if an argument that is not at its default has no attribute or one of another size, or if
    the module has other parameters.
    """
    module = _copy(module)
    first, *settings = (parameter.name for parameter in exercise.parameters)
    defaults = {parameter.name: parameter.default for parameter in exercise.parameters}
    x = arguments[first]
    if not accepts(module, x):
        raise UnsupportedModule
    tensors = {}
    for name in settings:
        value, has = arguments.get(name, defaults[name]), get_setting(module, name)
        if name == "training":
            module.train(value)
        elif isinstance(value, Tensor):
            tensors[name] = _reshape_like(has, value)
        elif name == "normalized_shape":
            if (_as_shape(has) or module_shape(module, exercise)) != value:
                raise UnsupportedModule
        elif has is MISSING:
            if value is not defaults[name] and value != defaults[name]:
                raise UnsupportedModule
        elif value is not None:
            _set_number(module, name, has, value)
    like = next(iter(tensors.values()), x)  # running statistics may be wider than x
    for name, parameter in list(module.named_parameters()):
        if name not in tensors and name not in IDENTITY_VALUES:
            raise UnsupportedModule
        tensors.setdefault(name, torch.full_like(parameter, IDENTITY_VALUES.get(name, 0.0), dtype=like.dtype))
    return _call_with(module, tensors, arguments)


def _copy(module: nn.Module) -> nn.Module:
    """Copy the module so that every attribute can be replaced. Locks and the like have no deep copy."""
    try:
        return copy.deepcopy(module)
    except Exception:
        shallow = copy.copy(module)
        for name in ("_parameters", "_buffers", "_modules"):
            vars(shallow)[name] = vars(module)[name].copy()
        return shallow


def _reshape_like(has: object, value: Tensor) -> Tensor:
    if not isinstance(has, Tensor) or has.numel() != value.numel():
        raise UnsupportedModule
    return value.view(has.shape)


def _set_number(module: nn.Module, name: str, has: object, value: object) -> None:
    """Set a float such as eps or momentum. A count must already be equal."""
    if type(has) is type(value) and has == value:
        return
    name = resolve_alias(module, name)
    if not isinstance(value, float) or type(has) not in (int, float, type(None)):
        raise UnsupportedModule
    try:
        setattr(module, name, value)
    except Exception:
        raise UnsupportedModule from None


def accepts(module: nn.Module, x: Tensor) -> bool:
    """Return whether x has the rank that the Module is for: torch has a class for each."""
    if isinstance(module, nn.modules.batchnorm._NormBase):
        try:
            module._check_input_dim(x)
        except ValueError:
            return False
    return all(_is_flat(v) or v.dim() in (x.dim(), x.dim() - 1) for v in get_vectors(module))


def _is_flat(vector: Tensor) -> bool:
    """Return whether the vector fits inputs of any rank, unlike (1, C, 1, 1)."""
    return vector.dim() == 1 or max(vector.shape) < vector.numel()


def _call_with(module: nn.Module, tensors: dict[str, Tensor], arguments: dict[str, object]) -> object:
    """Replace parameters and buffers by the tensors, call the module, and copy back what it reassigned.

    `functional_call` would miss running statistics that a learner keeps as plain attributes.
    """
    for name, value in tensors.items():
        module._parameters.pop(name, None)
        module._buffers.pop(name, None)
        object.__setattr__(module, name, value)
    result = module(next(iter(arguments.values())))
    for name, value in tensors.items():
        now = getattr(module, name)
        if now is not value:
            value.data.copy_(now.detach())
            if name in arguments:
                arguments[name].requires_grad_(now.requires_grad)
    return result


def load_weights(module: nn.Module, weights: dict[str, Tensor]) -> nn.Module:
    """Return a copy of the module with these weights. Raises CannotCompare with the names that do not fit."""
    module = copy.deepcopy(module)
    shapes = {name: tuple(x.shape) for name, x in module.state_dict().items()}
    wanted = {name: tuple(x.shape) for name, x in weights.items()}
    if shapes != wanted:
        missing = [f"{name} {shape}" for name, shape in wanted.items() if shapes.get(name) != shape]
        unexpected = [f"{name} {shape}" for name, shape in shapes.items() if wanted.get(name) != shape]
        lists = {"missing": missing, "unexpected": unexpected}
        raise CannotCompare("state-dict-keys", {key: ", ".join(names) or NOTHING for key, names in lists.items()})
    module.load_state_dict(weights)
    return module


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
