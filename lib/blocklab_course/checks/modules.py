"""Call an nn.Module in an exercise about a function: its attributes are the arguments, and inputs get its size."""

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from .case import Case, is_float
from .exercise import Exercise, expected_outcome
from .isolation import isolated
from .messages import NOTHING
from .outcome import CannotCompare, NotComparable, is_close, to_plain
from .timeout import Interrupted

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
    if "normalized_shape" in _defaults(exercise):
        shape = _as_shape(get_setting(module, "normalized_shape"))
        return shape or next((tuple(x.shape) for x in get_vectors(module)), None)
    counts = [x for x in (get_setting(module, name) for name in SIZE_NAMES) if type(x) is int]
    return next(((size,) for size in (*(x.numel() for x in get_vectors(module)), *counts)), None)


def _defaults(exercise: Exercise) -> dict[str, object]:
    return {parameter.name: parameter.default for parameter in exercise.parameters}


def _as_shape(value: object) -> tuple[int, ...] | None:
    """Return a number, list or tuple as a shape, and None for anything else."""
    if type(value) is int:
        return (value,)
    sizes = isinstance(value, tuple | list) and all(type(size) is int for size in value)
    return tuple(value) if sizes else None


def _as_number(value: object) -> float | None:
    """Return a number, or a tensor of one that has no axes, as a float, and None for anything else."""
    scalar = isinstance(value, Tensor) and not value.dim()
    return float(value) if scalar or (isinstance(value, int | float) and not isinstance(value, bool)) else None


def attributes_as_arguments(module: nn.Module, exercise: Exercise, arguments: dict[str, object]) -> object:
    """Call the module as `call_with_attributes` does, in training and in eval mode if `training` is not an argument.

    Raises CannotCompare if the modes give different results.
    """
    first, x = next(iter(arguments.items()))
    if "training" in _defaults(exercise):
        return call_with_attributes(module, exercise, arguments)
    with torch.no_grad():  # on a copy, because the Module may write into x
        in_eval = to_plain(call_with_attributes(module, exercise, arguments | {first: x.clone(), "training": False}))
    result = call_with_attributes(module, exercise, arguments | {"training": True})
    plain = to_plain(result)
    if type(plain) is not type(in_eval) or (isinstance(plain, Tensor) and not is_close(plain, in_eval, SAME)):
        raise CannotCompare("modes-differ", {})
    return result


SAME = 1e-5  # the tolerance up to which two results are one


def call_with_attributes(module: nn.Module, exercise: Exercise, arguments: dict[str, object]) -> object:
    """Call a copy of the module on the first argument, with the others as its parameters, buffers and settings.

    A weight or bias of None becomes ones or zeros. Tensors that the module binds anew are put into `arguments`. Sizes
    are never set, because the constructor may have used them.

    Raises UnsupportedModule if an argument that is not at its default has no attribute or one of another size, or if
    the module has other parameters.
    """
    module = copy_module(module)
    (first, _none), *others = _defaults(exercise).items()
    values = {name: arguments.get(name, default) for name, default in others}
    training = values.pop("training", arguments.get("training"))
    if training is not None:
        module.train(training)
    if "normalized_shape" in values and values.pop("normalized_shape") != module_shape(module, exercise):
        raise UnsupportedModule
    attributes = _attributes(module, values, dict(others), arguments[first])
    try:
        for name, value in attributes.items():
            module._parameters.pop(name, None)
            module._buffers.pop(name, None)
            object.__setattr__(module, name, value)
    except Exception:  # a property without a setter
        raise UnsupportedModule from None
    result = module(arguments[first])
    for name, value in attributes.items():
        now = getattr(module, name, None)
        if now is not value and isinstance(value, Tensor) and name in arguments:
            resized = issubclass(type(now), Tensor) and now.shape == value.shape
            arguments[name] = now.reshape(arguments[name].shape) if resized else now
    return result


def _attributes(
    module: nn.Module, values: dict[str, object], defaults: dict[str, object], x: Tensor
) -> dict[str, object]:
    """Return the attributes that the module must have to be called with these values."""
    attributes = {}
    for name, value in values.items():
        has = get_setting(module, name)
        if isinstance(value, Tensor):
            if not isinstance(has, Tensor) or has.numel() != value.numel():
                raise UnsupportedModule
            attributes[name] = value.view(has.shape)
        elif has is MISSING:
            if value is not defaults[name] and value != defaults[name]:
                raise UnsupportedModule
        elif isinstance(value, float):
            if has is not None and _as_number(has) is None:
                raise UnsupportedModule
            if isinstance(has, Tensor) or has != value:
                number = torch.full_like(has, value) if isinstance(has, Tensor) else value
                attributes[resolve_alias(module, name)] = number
        elif value is not None and (type(has) is not type(value) or has != value):  # a count: the constructor used it
            raise UnsupportedModule
    like = next(filter(torch.is_tensor, attributes.values()), x)  # running statistics may be wider than x
    for name, parameter in module.named_parameters():
        if name not in attributes and name not in IDENTITY_VALUES:
            raise UnsupportedModule
        attributes.setdefault(name, torch.full_like(parameter, IDENTITY_VALUES.get(name, 0.0), dtype=like.dtype))
    return attributes


def copy_module(module: nn.Module) -> nn.Module:
    """Copy the module so that every attribute can be replaced. Locks and the like have no deep copy."""
    try:
        return copy.deepcopy(module)
    except Exception:
        shallow = copy.copy(module)
        parts = vars(module)
        vars(shallow)["_modules"] = {name: part and copy_module(part) for name, part in parts["_modules"].items()}
        for name in ("_parameters", "_buffers"):
            vars(shallow)[name] = parts[name].copy()
        return shallow


def load_weights(module: nn.Module, weights: dict[str, Tensor], sizes: str = "") -> nn.Module:
    """Return a copy of the module with these weights.

    sizes: the sizes to ask for, in words, if only those of the module differ.

    Raises CannotCompare if names or sizes do not fit, and if a parameter has two names.
    """
    module = copy_module(module)
    shapes = {name: tuple(x.shape) for name, x in module.state_dict().items()}
    wanted = {name: tuple(x.shape) for name, x in weights.items()}
    missing = [name for name in wanted if name not in shapes]
    unexpected = [name for name in shapes if name not in wanted]
    if not missing and not unexpected and shapes != wanted:
        if sizes:
            raise CannotCompare("other-sizes", {"sizes": sizes})
        missing = [f"{name} {shape}" for name, shape in wanted.items() if shapes[name] != shape]
        unexpected = [f"{name} {shape}" for name, shape in shapes.items() if wanted[name] != shape]
    if missing or unexpected:
        lists = {"missing": missing, "unexpected": unexpected}
        raise CannotCompare("state-dict-keys", {key: ", ".join(names) or NOTHING for key, names in lists.items()})
    names_of: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names_of.setdefault(id(parameter), []).append(name)
    for names in names_of.values():
        if len(names) > 1:
            raise CannotCompare("shared-parameters", {"names": " = ".join(f"`{name}`" for name in names)})
    module.load_state_dict(weights)
    return module


# Multiples of a row, so that at least one of them shows how its numbers are rounded.
ROW_FACTORS = 1 + torch.arange(16) / 8
MAX_SIZE = 2**15  # numbers that a norm may take; more would only cost time


def resize_cases(exercise: Exercise, candidate: object) -> Exercise:
    """Return the exercise with inputs that the candidate was made for, if it is a Module submitted for a function.

    Inputs on which the reference itself raises an error are left out.

    Raises CannotCompare for a Module without sizes, or with such that no input fits or all norms are the same.
    """
    if not issubclass(type(candidate), nn.Module) or not exercise.module:
        return exercise
    if any(map(is_lazy, candidate.parameters())):
        raise CannotCompare("module-without-size", {})
    if exercise.module is attributes_as_arguments:
        shape = module_shape(candidate, exercise)
        _check_size(exercise, shape)
        own = _own_defaults(candidate, exercise, shape)
        fitted = _map_arguments(exercise, partial(_fit_arguments, candidate, exercise, shape, own))
        fitted = _drop_illegal(replace(fitted, own_defaults=own))
        return _match_ranks(candidate, fitted) if _vector_axis(exercise) == 1 else fitted
    if exercise.resize:
        return _map_arguments(exercise, partial(exercise.resize, candidate))
    return exercise


def _check_size(exercise: Exercise, shape: tuple[int, ...] | None) -> None:
    """Raise CannotCompare for a Module that normalizes a single number, and for one that would only cost time."""
    numbers = None if shape is None else math.prod(shape)
    if numbers is not None and numbers < 2 and _vector_axis(exercise) == -1:
        raise CannotCompare("module-too-small", {})
    if numbers is not None and numbers > MAX_SIZE:
        raise CannotCompare("module-too-large", {"numbers": MAX_SIZE})


def _drop_illegal(exercise: Exercise) -> Exercise:
    """Return the exercise without the inputs on which the reference raises an error, or gives only rounding noise."""
    outcomes = {case: expected_outcome(exercise, (), case) for case in exercise.all_cases}
    dropped = {case: outcome for case, outcome in outcomes.items() if outcome.error or _has_groups_of_one(case)}
    if not dropped:
        return exercise
    cases = tuple(case for case in exercise.cases if case not in dropped)
    if not cases:
        raise CannotCompare("module-sizes", {"error": next(iter(dropped.values())).message})
    exempt = {case.name: "not for a Module of this size" for case in dropped}
    return replace(exercise, cases=cases, exempt=exercise.exempt | exempt)


def _has_groups_of_one(case: Case) -> bool:
    x, groups = next(iter(case.arguments.values())), case.arguments.get("num_groups", 0)
    return 0 < x.numel() <= len(x) * groups


def _map_arguments(exercise: Exercise, change: Callable[[dict[str, object]], dict[str, object]]) -> Exercise:
    """Return the exercise with the arguments of every input changed."""
    scaled_inputs: Callable | None = exercise.scaled_inputs and (lambda n: change(exercise.scaled_inputs(n)))
    return replace(
        exercise, cases=tuple(_map_case(case, change) for case in exercise.cases), scaled_inputs=scaled_inputs
    )


def _map_case(case: Case, change: Callable[[dict[str, object]], dict[str, object]]) -> Case:
    milder = case.advice and case.advice.milder
    advice = replace(case.advice, milder=change(milder)) if milder else case.advice
    return replace(case, arguments=change(case.arguments), advice=advice)


def _match_ranks(module: nn.Module, exercise: Exercise) -> Exercise:
    """Return the exercise with inputs of the ranks that the Module takes: those on which some call works.

    Where the last axis is as long as the channels, a call may work by accident, so other inputs are preferred.
    """
    of_rank: dict[int, list[Case]] = {}
    for case in exercise.cases:
        of_rank.setdefault(rank(case), []).append(case)
    taken = set()
    with isolated():
        for axes, cases in of_rank.items():
            shapes = {case: next(iter(case.arguments.values())).shape for case in cases}
            distinct = [case for case, shape in shapes.items() if axes == 2 or shape[1] != shape[-1]]
            if any(_takes(module, exercise, case) for case in distinct or cases):
                taken.add(axes)
    if not taken or taken == of_rank.keys():
        return exercise
    return replace(_drop_illegal(_map_arguments(exercise, partial(_change_rank, taken))), with_all_ranks=exercise)


def rank(case: Case) -> int:
    """Return the number of axes of the first argument."""
    return next(iter(case.arguments.values())).dim()


def _takes(module: nn.Module, exercise: Exercise, case: Case) -> bool:
    """Return whether the Module gives a result of the shape of x, and leaves all others' shapes as they were."""
    arguments = case.copy_arguments()
    try:
        result = call_with_attributes(module, exercise, arguments)
        results = arguments | {next(iter(arguments)): result}
        return all(x.shape == results[name].shape for name, x in case.arguments.items() if isinstance(x, Tensor))
    except Interrupted:
        raise
    except BaseException:
        return False


def _change_rank(taken: set[int], arguments: dict[str, object]) -> dict[str, object]:
    """Return the arguments with x in the nearest rank that is taken: axes of size 1 are added, or positions joined."""
    first, x = next(iter(arguments.items()))
    axes = min(taken, key=lambda axes: abs(axes - x.dim()))
    if axes >= x.dim():
        x = x.view(*x.shape, *[1] * (axes - x.dim()))
    elif axes == 2:
        x = x.movedim(1, -1).flatten(0, -2)
    else:
        x = x.flatten(axes - 1)
    return arguments | {first: x}


def _own_defaults(module: nn.Module, exercise: Exercise, shape: tuple[int, ...] | None) -> dict[str, object]:
    """Return what the Module has in place of defaults: its own numbers, such as eps, and a weight or bias."""
    own = {}
    for name, default in _defaults(exercise).items():
        has = get_setting(module, name)
        if name in IDENTITY_VALUES:
            if default is None and isinstance(has, Tensor) and has.dim():
                own[name] = torch.full(shape, IDENTITY_VALUES[name])
        elif type(default) in (float, type(None)) and _as_number(has) is not None:
            own[name] = _as_number(has)
    return own


def _fit_arguments(
    module: nn.Module,
    exercise: Exercise,
    shape: tuple[int, ...] | None,
    own_defaults: dict[str, object],
    arguments: dict[str, object],
) -> dict[str, object]:
    """Return the arguments with tensors of the Module's shape, and with what it has in place of defaults."""
    defaults = _defaults(exercise)
    first, *names = defaults
    x = arguments[first]
    sized = arguments.get("normalized_shape", (x.shape[_vector_axis(exercise)],))
    resized = shape is not None and tuple(shape) != tuple(sized)
    fit = {first: _resize_input(x, exercise, sized, shape) if resized else x}
    for name in names:
        value, has = arguments.get(name, defaults[name]), get_setting(module, name)
        own_count = _is_count(value) and _is_count(has)  # the constructor may have computed with it
        if isinstance(value, Tensor) and has is None and defaults[name] is None:
            value = None
        elif isinstance(value, Tensor) and resized and tuple(value.shape) == tuple(sized):
            value = resample(value.flatten(), math.prod(shape)).view(shape)
        elif name == "normalized_shape" and shape is not None:
            value = tuple(shape)
        elif own_count:
            value = has
        elif name in own_defaults and (value is None or value == defaults[name]):
            own = own_defaults[name]
            like = arguments.get("running_mean", x)  # running statistics may be wider than x
            value = own.to(like.dtype) if isinstance(own, Tensor) else own
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


def _resize_input(x: Tensor, exercise: Exercise, sized: tuple[int, ...], shape: tuple[int, ...]) -> Tensor:
    if _vector_axis(exercise) == 1:
        return resample(x.transpose(1, -1), shape[0]).transpose(1, -1).contiguous()
    row = x.flatten(-len(sized))
    alone = row.shape[-1] == 1  # copies of one number would normalize to rounding noise
    x = (row * (1 + torch.arange(math.prod(shape)) % 8) if alone else resample(row, math.prod(shape))).to(x.dtype)
    x = x.unflatten(-1, shape)
    narrow = x.element_size() < 4 and len(x) == 1
    return x * ROW_FACTORS.to(x.dtype).view(-1, *[1] * (x.dim() - 1)) if narrow else x


def resample(x: Tensor, size: int) -> Tensor:
    """Cut the last axis or continue it with numbers between its own. Constant rows stay constant, and signs stay."""
    if not x.shape[-1]:
        return x.new_zeros(*x.shape[:-1], size)
    place = torch.arange(size)
    turn, place = place // x.shape[-1], place % x.shape[-1]
    share = turn / (2 * turn + math.sqrt(2))  # below a half, so that rows hardly become constant by accident
    wide = x.double() if is_float(x) else x
    return (wide[..., place] * (1 - share) + wide[..., (place + 1) % x.shape[-1]] * share).to(x.dtype)
