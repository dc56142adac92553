"""Run a function on one input, and compare what came out."""

import contextlib
import io
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .case import Case, is_float


class NotComparable(Exception):
    """Not the function's error: something keeps it from being called on this input at all."""


class NotDifferentiable(Exception):
    """The result does not depend on its input as far as autograd can tell."""


@dataclass(frozen=True)
class Outcome:
    """What a function did: the values it gave, by name, or the error it raised; and which arguments it spoiled.

    "result" is what it returned ("result 0", "result 1" … for a tuple), "x.grad" a gradient, and the name of an
    argument is that argument after the call. `tangled` are the written arguments that now hold on to a graph.
    """

    values: dict[str, object]
    error: Exception | None = None
    spoiled: tuple[str, ...] = ()
    tangled: tuple[str, ...] = ()


def by_position(function: Callable) -> Callable[[dict], object]:
    """A function as `run` calls it: on named arguments, which it is given in their order."""
    return lambda arguments: function(*arguments.values())


def run(call: Callable[[dict], object], case: Case, quiet: bool = True) -> Outcome:
    """What `call`, a function of the named arguments, does with the input of the case.

    KeyboardInterrupt and NotComparable pass through.
    """
    arguments = case.fresh()
    inputs = {name: x for name, x in arguments.items() if is_float(x) and name not in case.changes}
    leaves = {name: x.requires_grad_() for name, x in inputs.items()} if case.gradient else {}
    silence = contextlib.redirect_stdout(io.StringIO()) if quiet else contextlib.nullcontext()
    with warnings.catch_warnings(), torch.enable_grad(), silence:
        warnings.simplefilter("ignore")
        try:
            values = _named(call(arguments))
            if case.gradient:
                values |= _gradients(values, leaves)
        except NotComparable:
            raise
        except Exception as error:
            leaves_torch = case.gradient and "requires grad" in str(error)  # .numpy() says so, and advises the mistake
            return Outcome({}, NotDifferentiable() if leaves_torch else error, _spoiled(arguments, case))
    values = {name: x.detach() if isinstance(x, Tensor) else x for name, x in values.items()}
    values |= {name: arguments[name].detach() for name in case.changes}
    tangled = tuple(name for name in case.changes if arguments[name].requires_grad)
    return Outcome(values, None, _spoiled(arguments, case), tangled)


def _named(result: object) -> dict[str, object]:
    if isinstance(result, tuple):
        return {f"result {place}": x for place, x in enumerate(result)}
    return {"result": result}


def _gradients(values: dict[str, object], leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    """The gradients of a weighted sum of all results, zero where an argument has no part in them."""
    results = [x for x in values.values() if is_float(x)]
    if not any(x.requires_grad for x in results):
        raise NotDifferentiable
    total = sum((x * _cosines(x)).sum() for x in results)
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    pairs = zip(leaves.items(), found, strict=True)
    return {f"{name}.grad": torch.zeros_like(x) if g is None else g for (name, x), g in pairs}


def _cosines(x: Tensor) -> Tensor:
    """Weights that are all different, so that no gradient cancels: a plain sum of LayerNorm's output is constant."""
    return torch.cos(torch.arange(x.numel(), dtype=x.dtype, device=x.device) * 1.3 + 0.4).view(x.shape)


def _spoiled(arguments: dict[str, object], case: Case) -> tuple[str, ...]:
    names = [name for name, x in case.arguments.items() if isinstance(x, Tensor) and name not in case.changes]
    return tuple(name for name in names if not _equal_bits(arguments[name], case.arguments[name]))


def _equal_bits(x: Tensor, y: Tensor) -> bool:
    return x.shape == y.shape and torch.equal(x.detach().nan_to_num(), y.nan_to_num())


def differing(got: Outcome, wanted: Outcome, tolerance: float) -> str | None:
    """The name of the first value that differs, "error" if one raised and the other did not, None if all agree."""
    if got.error is not None or wanted.error is not None:
        return None if type(got.error) is type(wanted.error) else "error"
    if got.values.keys() != wanted.values.keys():
        return next(iter(got.values.keys() ^ wanted.values.keys()))
    pairs = ((name, x, wanted.values[name]) for name, x in got.values.items())
    return next((name for name, x, y in pairs if not close(x, y, tolerance)), None)


def close(x: object, y: object, tolerance: float) -> bool:
    """Whether two values agree: same kind, shape, type and device, and equal up to the tolerance.

    The tolerance is relative to the largest number of `y`: a result that ought to be 0 may be off by rounding.
    """
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        return isinstance(x, type(y)) and _close_numbers(x, y, tolerance)
    if (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
        return False
    if x.device.type == "meta" or not y.is_floating_point():
        return torch.equal(x, y)
    x, y = x.double(), y.double()
    largest = y[y.isfinite()].abs().max().item() if y.isfinite().any() else 1.0
    return torch.allclose(x, y, rtol=tolerance, atol=tolerance * largest, equal_nan=True)


def _close_numbers(x: object, y: object, tolerance: float) -> bool:
    if isinstance(x, float):
        return math.isclose(x, y, rel_tol=tolerance) or (math.isnan(x) and math.isnan(y))
    return bool(x == y)
