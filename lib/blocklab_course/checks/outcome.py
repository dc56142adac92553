"""Run a function on one input, and compare what came out."""

import linecache
import math
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import torch
from torch import Tensor

from .case import Case, is_float
from .results import MAX_COPIED, Unsupported, named_results, snapshot, to_plain
from .safe_repr import error_message, truncate
from .timeout import Interrupted

# Bound now: what a learner's function puts in their place later has no say.
_all_close, _equal = torch.allclose, torch.equal
_LIBRARY_PATHS = (
    str(Path(__file__).parents[1]),
    str(Path(torch.__file__).parent),
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("purelib"),
    "<frozen",
)


class NotComparable(Exception):
    """Not the function's error: something keeps it from being called on this input at all."""


class NotDifferentiable(Exception):
    """The result does not depend on its input as far as autograd can tell."""


class TookTooLong(Exception):
    """The function was stopped before it came to its end."""


@dataclass(frozen=True)
class Outcome:
    """What a function did: the values it gave, by name, or the error it raised; and which arguments it spoiled.

    "result" is what it returned ("result 0", "result 1" … for a tuple or list), "x.grad" a gradient, and the name of an
    argument is that argument after the call. `message` and `line`, the learner's own one with its number, belong to
    the error. `tangled` are the written arguments that now hold on to a graph.
    """

    values: dict[str, object]
    error: BaseException | None = None
    message: str = ""
    line: tuple[int, str] | None = None
    spoiled: tuple[str, ...] = ()
    tangled: tuple[str, ...] = ()


def by_position(function: Callable) -> Callable[[dict], object]:
    """A function as `run` calls it: on named arguments, which it is given in their order."""
    return lambda arguments: function(*arguments.values())


def run(call: Callable[[dict], object], case: Case) -> Outcome:
    """What `call`, a function of the named arguments, does with the input of the case.

    Interrupted passes through, and NotComparable from this package.
    """
    arguments = case.fresh()
    leaves = _require_gradients(arguments, case)
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        try:
            returned = call(arguments)
            with torch.enable_grad():  # the function may have switched gradients off
                values = _collect_values(returned, case, leaves)
        except Interrupted:
            raise
        except BaseException as error:
            if isinstance(error, NotComparable) and _raised_by_blocklab(error):
                raise
            return Outcome({}, *_describe_error(error, case), failing_line(error), _mutated(arguments, case, leaves))
    values = {name: snapshot(x) for name, x in values.items()}
    written = {name: to_plain(arguments[name]) for name in case.changes}
    tangled = tuple(name for name, x in written.items() if isinstance(x, Tensor) and x.requires_grad)
    values |= {name: snapshot(x) for name, x in written.items()}
    return Outcome(values, spoiled=_mutated(arguments, case, leaves), tangled=tangled)


def run_trusted(function: Callable, case: Case) -> Outcome:
    """What a function of a table does with the input of the case, where torch is settled.

    It needs none of the guards against what a learner may write, and a check of a hard case runs hundreds.
    """
    arguments = case.fresh()
    leaves = _require_gradients(arguments, case)
    try:
        values = _collect_values(function(*arguments.values()), case, leaves)
    except NotComparable:
        raise
    except Exception as error:
        return Outcome({}, *_describe_error(error, case))
    values |= {name: to_plain(arguments[name]) for name in case.changes}
    return Outcome({name: x.detach() if isinstance(x, Tensor) else x for name, x in values.items()})


def _require_gradients(arguments: dict[str, object], case: Case) -> dict[str, Tensor]:
    """The arguments whose gradients are compared."""
    if not case.gradient:
        return {}
    inputs = {name: x for name, x in arguments.items() if is_float(x) and name not in case.changes}
    return {name: x.requires_grad_() for name, x in inputs.items()}


def _collect_values(returned: object, case: Case, leaves: dict[str, Tensor]) -> dict[str, object]:
    values = named_results(returned)
    return values | _gradients(values, leaves) if case.gradient else values


def _raised_by_blocklab(error: BaseException) -> bool:
    """Whether Blocklab raised it, a table of exercises too, and not a learner who borrowed the class."""
    *_, (frame, _line) = traceback.walk_tb(_get_traceback(error))
    return frame.f_globals.get("__name__", "").startswith(
        ("blocklab.", "blocklab_course.")
    )  # an exercise lies beside its lesson


def _describe_error(error: BaseException, case: Case) -> tuple[BaseException, str]:
    """The error as it is told, and what it says."""
    message = error_message(error)
    unlinked = case.gradient and "requires grad" in message  # .numpy() says so, and advises the mistake
    return NotDifferentiable() if unlinked else error, message


def _get_traceback(error: BaseException) -> TracebackType | None:
    return BaseException.__traceback__.__get__(error)  # whatever the error's own class says


def is_library_code(file: str) -> bool:
    """Whether a file is Python's, torch's, an installed package's or this one's, and not the learner's."""
    return file.startswith(_LIBRARY_PATHS)


def failing_line(error: BaseException) -> tuple[int, str] | None:
    """The learner's own line in which an error arose: the last one outside of Python, torch and this package."""
    own = None
    for frame, number in traceback.walk_tb(_get_traceback(error)):
        if not is_library_code(frame.f_code.co_filename):
            own = frame, number
    if own is None:
        return None
    frame, number = own
    line = linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()
    return number, truncate(line)


def _gradients(values: dict[str, object], leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    """The gradients of a weighted sum of all results, zero where an argument has no part in them."""
    floats = [x for x in values.values() if is_float(x)]
    if not any(x.requires_grad for x in floats):
        raise NotDifferentiable
    total = sum((x * _gradient_weights(x)).sum() for x in floats if x.numel() <= MAX_COPIED)
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    pairs = zip(leaves.items(), found, strict=True)
    return {f"{name}.grad": torch.zeros_like(x) if g is None else g for (name, x), g in pairs}


def _gradient_weights(x: Tensor) -> Tensor:
    """Weights that are all different, so that no gradient cancels: a plain sum of LayerNorm's output is constant."""
    return torch.cos(torch.arange(x.numel(), dtype=x.dtype, device=x.device) * 1.3 + 0.4).view(x.shape)


def _mutated(arguments: dict[str, object], case: Case, leaves: Collection[str]) -> tuple[str, ...]:
    """The arguments that a second call would find changed: in their numbers, or in what autograd notes on them."""
    names = [name for name, x in case.arguments.items() if isinstance(x, Tensor) and name not in case.changes]
    given = {name: arguments[name] for name in names}
    return tuple(
        name
        for name, x in given.items()
        if not _equal_values(to_plain(x), case.arguments[name]) or not _same_autograd_state(x, name in leaves)
    )


def _same_autograd_state(x: Tensor, leaf: bool) -> bool:
    """Whether autograd notes no more on a tensor than before the call: that it is a leaf, or nothing."""
    with torch._C.DisableTorchFunctionSubclass():
        same = Tensor.requires_grad.__get__(x) == leaf and Tensor.is_leaf.__get__(x)
        return same and Tensor.grad.__get__(x) is None


def _equal_values(x: object, y: Tensor) -> bool:
    if not isinstance(x, Tensor) or (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
        return False
    same = x.device.type == "meta" or _equal(x, y)
    return same or bool(((x == y) | ((x != x) & (y != y))).all())  # NaN stays NaN


def first_difference(got: Outcome, wanted: Outcome, tolerance: float) -> str | None:
    """The name of the first value that differs, "error" if errors do or only one raised, None if all agree."""
    if got.error is not None or wanted.error is not None:
        return None if same_error(got, wanted) else "error"
    if got.values.keys() != wanted.values.keys():
        return next(iter(got.values.keys() ^ wanted.values.keys()))
    pairs = ((name, x, wanted.values[name]) for name, x in got.values.items())
    return next((name for name, x, y in pairs if not is_close(x, y, tolerance)), None)


def same_error(got: Outcome, wanted: Outcome) -> bool:
    """Whether both stopped for the same reason: an error of one class, with the same words in whatever order."""
    alike = type(got.error) is type(wanted.error)
    return alike and sorted(got.message.split()) == sorted(wanted.message.split())


def is_close(x: object, y: object, tolerance: float) -> bool:
    """Whether two plain values agree: same kind, shape, type and device, and equal up to the tolerance.

    The tolerance is relative to the largest number of `y`: a result that ought to be 0 may be off by rounding.
    """
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        return isinstance(x, type(y)) and not isinstance(x, Unsupported) and _is_close_number(x, y, tolerance)
    if (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
        return False
    if x.device.type == "meta" or _equal(x, y):
        return True
    if not y.is_floating_point():
        return False
    x, y = x.double(), y.double()
    off, allowed = (x - y).abs().max().item(), tolerance * max_magnitude(y)
    if off <= allowed or off > 2 * allowed:  # nearly always, in a third of the time
        return off <= allowed
    return _all_close(x, y, rtol=tolerance, atol=allowed, equal_nan=True)


def max_magnitude(y: Tensor) -> float:
    """The largest finite number: what may be off is measured by it."""
    if y.numel() and math.isfinite(top := y.abs().max().item()):  # nearly always, in a fraction of the time
        return top
    finite = y[y.isfinite()]
    return finite.abs().max().item() if finite.numel() else 1.0


def _is_close_number(x: object, y: object, tolerance: float) -> bool:
    if isinstance(x, float):
        return math.isclose(x, y, rel_tol=tolerance) or (math.isnan(x) and math.isnan(y))
    return bool(x == y)
