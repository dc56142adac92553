"""Run a function on one input, convert what it returns to plain values, and compare outcomes."""

import linecache
import math
import os
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor

import blocklab

from .case import Case, is_float
from .messages import A_KIND, A_TUPLE, NOT_CALLED
from .safe_repr import error_message, truncate, type_name
from .timeout import Interrupted

MAX_RESULTS = 16  # of a tuple or list; no exercise asks for more than three
MAX_COPIED = 2**22  # numbers; no case has a larger tensor


@dataclass(frozen=True)
class Unsupported:
    """A kind of value that no exercise asks for, with a description for the learner. It equals no expected result."""

    description: str


def to_plain(x: object) -> object:
    """Return x as a plain tensor, number or str; None and `...` unchanged; anything else as Unsupported.

    A NumPy scalar, such as the `np.int64` that `np.prod` returns, is the number that it holds.
    """
    numpy = sys.modules.get("numpy")
    if numpy and isinstance(x, numpy.generic):
        x = x.item()
    if x is None or x is ... or isinstance(x, Unsupported):
        return x
    if isinstance(x, Tensor):
        return _plain_tensor(x)
    for kind in (bool, int, float, str):
        if isinstance(x, kind):
            return kind(x)
    if isinstance(x, tuple):
        return Unsupported(A_TUPLE.format(count=len(x)))
    return Unsupported((NOT_CALLED if callable(x) else A_KIND).format(kind=type_name(x)))


def _plain_tensor(x: Tensor) -> Tensor | Unsupported:
    """Return a dense tensor without its subclass, or Unsupported."""
    if type(x).__torch_dispatch__ is not Tensor.__torch_dispatch__:  # a wrapper: its numbers are elsewhere
        return Unsupported(A_KIND.format(kind=type_name(x)))
    with torch._C.DisableTorchFunctionSubclass():
        if x.is_nested or x.is_quantized:
            return Unsupported(A_KIND.format(kind="nested tensor" if x.is_nested else "quantized tensor"))
        if x.layout is not torch.strided:
            return Unsupported(A_KIND.format(kind=x.layout))
        return x if type(x) is Tensor else x.as_subclass(Tensor)


def named_results(returned: object) -> dict[str, object]:
    """Return the results by name: "result", or for a tuple or list "result 0", "result 1" …"""
    if isinstance(returned, tuple | list) and 1 <= len(returned) <= MAX_RESULTS:
        return {f"result {place}": to_plain(x) for place, x in enumerate(returned)}
    return {"result": to_plain(returned)}


def snapshot(x: object) -> object:
    """Return a copy of a plain value that later writes cannot change."""
    if not isinstance(x, Tensor):
        return x
    x = x.detach()
    return x.clone() if x.numel() <= MAX_COPIED else x


MAX_GENERATED = 8  # calls without a source that are passed over, as of the methods of a dataclass
FEW = 1 / 64  # of many 16-bit numbers; to round in another order changes about every fourth

_PACKAGES = {"site-packages", "dist-packages"}  # folders of installed packages: of the system, an environment, a user
_LIBRARY_FOLDERS = (
    Path(__file__).parents[1],
    *(Path(package.__file__).parent for package in (blocklab, torch)),  # may be imported from elsewhere
    *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
)
_GENERATED = ("<frozen", "<eval_with_key>")  # by Python, and by torch when it compiles
_LIBRARY_PATHS = (*{os.path.join(folder, "") for folder in _LIBRARY_FOLDERS}, *_GENERATED)


class NotComparable(Exception):
    """The function cannot be called on this input at all. This is not an error of the function."""


@dataclass(eq=False)
class CannotCompare(NotComparable):
    """The comparison cannot be made: an id in `messages.MESSAGES`, and what fills the gaps in its message."""

    id: str
    details: dict[str, object]


class NotDifferentiable(Exception):
    """For autograd, the result does not depend on the input."""


class TookTooLong(Exception):
    """The function was stopped before it finished."""


@dataclass(frozen=True)
class Outcome:
    """What a function did on one input.

    values: "result" is what it returned ("result 0", "result 1" … for a tuple or list), "x.grad" a gradient, and the
        name of an argument is that argument after the call. Empty if it raised.
    error, message: the error it raised.
    failing_line: number and text of the learner's line in which the error arose.
    mutated: the arguments it changed but should not have, with their values after the call.
    holds_graph: the arguments it should change that now require gradients.
    """

    values: dict[str, object]
    error: BaseException | None = None
    message: str = ""
    failing_line: tuple[int, str] | None = None
    mutated: dict[str, object] = field(default_factory=dict)
    holds_graph: tuple[str, ...] = ()


def by_position(function: Callable) -> Callable[[dict], object]:
    """Make a function of a dict of named arguments, which it passes on by position."""
    return lambda arguments: function(*arguments.values())


def run(call: Callable[[dict], object], case: Case) -> Outcome:
    """Run a learner's function, as a function of the named arguments, on the input of a case.

    Raises Interrupted if time is up, and NotComparable if Blocklab's own code raised it.
    """
    arguments = case.copy_arguments()
    leaves = _require_gradients(arguments, case)
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        try:
            returned = call(arguments)
            with torch.enable_grad():  # the function may have disabled gradients
                values = _collect_values(returned, case, leaves)
        except Interrupted:
            raise
        except BaseException as error:
            if isinstance(error, NotComparable) and _raised_by_blocklab(error):
                raise
            return Outcome({}, *_describe_error(error, case), failing_line(error), _mutated(arguments, case, leaves))
    values = {name: snapshot(x) for name, x in values.items()}
    written = {name: to_plain(arguments[name]) for name in case.changes}
    holds_graph = tuple(name for name, x in written.items() if isinstance(x, Tensor) and x.requires_grad)
    values |= {name: snapshot(x) for name, x in written.items()}
    return Outcome(values, mutated=_mutated(arguments, case, leaves), holds_graph=holds_graph)


def run_trusted(function: Callable, case: Case) -> Outcome:
    """Run a function of our own on the input of a case, inside `isolated`.

    A hard case runs hundreds of these, so the guards around a learner's function are left out.
    """
    arguments = case.copy_arguments()
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
    """Make the arguments whose gradients are compared require gradients, and return them."""
    if not case.gradient:
        return {}
    inputs = {name: x for name, x in arguments.items() if is_float(x) and name not in case.changes}
    return {name: x.requires_grad_() for name, x in inputs.items()}


def _collect_values(returned: object, case: Case, leaves: dict[str, Tensor]) -> dict[str, object]:
    values = named_results(returned)
    return values | _gradients(values, leaves) if case.gradient else values


def _raised_by_blocklab(error: BaseException) -> bool:
    """Return whether code of Blocklab raised the error, and not the learner's code."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__", "").startswith(("blocklab.", "blocklab_course."))


def _describe_error(error: BaseException, case: Case) -> tuple[BaseException, str]:
    """Return the error to report and its message."""
    message = error_message(error)
    detached = case.gradient and "requires grad" in message  # the error of .numpy(), which advises to detach
    return NotDifferentiable() if detached else error, message


@cache
def is_library_code(file: str) -> bool:
    """Return whether a file belongs to Python, torch, an installed package or Blocklab, and not to the learner."""
    return file.startswith(_LIBRARY_PATHS) or not _PACKAGES.isdisjoint(Path(file).parts)


def failing_line(error: BaseException) -> tuple[int, str] | None:
    """Return number and text of the learner's line in which an error arose: the innermost outside any library.

    An error of a library is reported where the learner's code calls it.
    """
    steps = list(traceback.walk_tb(error.__traceback__))
    own = [(frame, number) for frame, number in steps if not is_library_code(frame.f_code.co_filename)]
    for frame, number in reversed(own[-MAX_GENERATED:]):
        if line := _source_line(frame, number):
            return number, truncate(line)
    return (own[-1][1], "") if own else None


def _source_line(frame: FrameType, number: int) -> str:
    file = frame.f_code.co_filename
    linecache.checkcache(file)
    return linecache.getline(file, number, frame.f_globals).strip()


def _gradients(values: dict[str, object], leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the gradients of a weighted sum of all results, zeros for an argument that has no part in it."""
    floats = [x for x in values.values() if is_float(x)]
    if not any(x.requires_grad for x in floats):
        raise NotDifferentiable
    total = sum((x * _gradient_weights(x)).sum() for x in floats if x.numel() <= MAX_COPIED)
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    if all(gradient is None for gradient in found):  # what requires gradients is not computed from the input
        raise NotDifferentiable
    pairs = zip(leaves.items(), found, strict=True)
    return {f"{name}.grad": torch.zeros_like(x) if g is None else g for (name, x), g in pairs}


def _gradient_weights(x: Tensor) -> Tensor:
    """Return distinct weights, so that no gradient cancels: the plain sum of LayerNorm's output is constant."""
    return torch.cos(torch.arange(x.numel(), dtype=x.dtype, device=x.device) * 1.3 + 0.4).view(x.shape)


def _mutated(arguments: dict[str, object], case: Case, leaves: Collection[str]) -> dict[str, object]:
    """Return the tensors and lists that the call changed in their values or autograd state."""
    changed = {}
    for name, before in case.arguments.items():
        now = arguments[name]
        if isinstance(before, list):
            if not _equal_items(now, before):
                changed[name] = [to_plain(item) for item in now[:MAX_RESULTS]]
        elif isinstance(before, Tensor) and name not in case.changes:
            plain = to_plain(now)
            if not _equal_values(plain, before) or not _same_autograd_state(now, name in leaves):
                changed[name] = snapshot(plain)
    return changed


def _equal_items(now: list, before: list) -> bool:
    pairs = zip(now, before, strict=False)  # their items may be the learner's, so only those of one type are compared
    return len(now) == len(before) and all(x is y or (type(x) is type(y) and x == y) for x, y in pairs)


def _same_autograd_state(x: Tensor, leaf: bool) -> bool:
    """Return whether the autograd state of a tensor is as it was before the call."""
    return x.requires_grad == leaf and x.is_leaf and x.grad is None


def _equal_values(x: object, y: Tensor) -> bool:
    if not isinstance(x, Tensor) or (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
        return False
    same = x.device.type == "meta" or torch.equal(x, y)
    return same or bool(((x == y) | ((x != x) & (y != y))).all())  # NaN stays NaN


def first_difference(got: Outcome, wanted: Outcome, tolerance: float) -> str | None:
    """Return the name of the first value that differs, "error" if the errors differ, None if all agree."""
    if got.error is not None or wanted.error is not None:
        return None if same_error(got, wanted) else "error"
    if got.values.keys() != wanted.values.keys():
        return next(iter(got.values.keys() ^ wanted.values.keys()))
    pairs = ((name, x, wanted.values[name]) for name, x in got.values.items())
    return next((name for name, x, y in pairs if not is_close(x, y, tolerance)), None)


def same_error(got: Outcome, wanted: Outcome) -> bool:
    """Return whether both raised the same class of error with the same words, in any order."""
    alike = type(got.error) is type(wanted.error)
    return alike and sorted(got.message.split()) == sorted(wanted.message.split())


def is_close(x: object, y: object, tolerance: float) -> bool:
    """Return whether two plain values agree in kind, shape, dtype and device, and in numbers up to the tolerance.

    The tolerance is relative to the largest number of `y`, so that a result that should be 0 may be off by rounding. Of
    many 16-bit numbers a few may be off in the last place: where float32 numbers are rounded, ties fall either way.
    """
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        return isinstance(x, type(y)) and not isinstance(x, Unsupported) and _is_close_number(x, y, tolerance)
    if (x.shape, x.dtype, x.device) != (y.shape, y.dtype, y.device):
        return False
    if x.device.type == "meta" or torch.equal(x, y):
        return True
    if not y.is_floating_point():
        return False
    narrow = torch.finfo(y.dtype).eps if y.element_size() < 4 else 0.0
    x, y = x.double(), y.double()
    off, allowed = (x - y).abs().max().item(), tolerance * max_magnitude(y)
    if allowed < off <= narrow * max_magnitude(y) and ((x - y).abs() > allowed).double().mean() < FEW:
        return True
    if math.isfinite(off):  # nearly always, and three times as fast
        return off <= allowed
    return torch.allclose(x, y, rtol=0.0, atol=allowed, equal_nan=True)


def max_magnitude(y: Tensor) -> float:
    """Return the largest finite magnitude, or 1 if there is none. Tolerances are relative to it."""
    if y.numel() and math.isfinite(top := y.abs().max().item()):  # nearly always, and much faster
        return top
    finite = y[y.isfinite()]
    return finite.abs().max().item() if finite.numel() else 1.0


def _is_close_number(x: object, y: object, tolerance: float) -> bool:
    if isinstance(x, float):
        return math.isclose(x, y, rel_tol=tolerance) or (math.isnan(x) and math.isnan(y))
    return bool(x == y)


@dataclass(frozen=True)
class Comparison:
    """Both outcomes on one input, and the name of the first value that differs.

    weak: the difference is only the weakness that the advice of the case describes, so it is not a mistake.
    """

    case: Case
    got: Outcome
    wanted: Outcome
    differs: str | None
    weak: bool = False

    @property
    def wrong(self) -> bool:
        return self.differs is not None and not self.weak
