"""A learner's block inside a network: what comes out is a tensor that the network can go on with, or is told."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from blocklab_course.checks.cannot_compare import describe_difference, error_location
from blocklab_course.checks.isolation import CapturedOutput
from blocklab_course.checks.outcome import Outcome, failing_line
from blocklab_course.checks.results import named_results, to_plain
from blocklab_course.checks.safe_repr import error_message
from blocklab_course.checks.timeout import Interrupted

from .adapters import Call
from .errors import SwapError, swap_error


@dataclass(frozen=True)
class Guard:
    """A block called on named arguments. What it prints the first time lands on the sheet."""

    call: Call
    sheet: CapturedOutput

    def __call__(self, arguments: dict[str, object], right: Callable[[], Tensor]) -> Tensor:
        """What the block gives. `right` is asked for the right result where this one is of no use.

        Raises CannotRun for an error, with the learner's line, for NaN, and for another kind, shape or type than that
        of the first argument.
        """
        [y] = self.several(arguments, lambda: (right(),), 1)
        return y

    def several(
        self, arguments: dict[str, object], right: Callable[[], tuple[Tensor, ...]], count: int
    ) -> tuple[Tensor, ...]:
        """The same for a block that gives so many tensors: the first is like the first argument, the others are any."""
        try:
            returned = self.call(arguments)
        except (Interrupted, SwapError):
            raise
        except NotImplementedError:
            raise swap_error("not-written-yet") from None
        except BaseException as error:
            raise _told(Outcome({}, error, error_message(error), failing_line(error)), right, "error") from None
        finally:
            self.sheet.full = True
        if (whole := to_plain(returned)) is ... or whole is None:
            raise swap_error("no-return" if whole is None else "not-written-yet")
        found, like = named_results(returned) if count > 1 else {"result": whole}, next(iter(arguments.values()))
        y, *others = found.values()
        fits = isinstance(y, Tensor) and (y.shape, y.dtype, y.device) == (like.shape, like.dtype, like.device)
        strange = [name for name, x in found.items() if not isinstance(x, Tensor)]
        if not fits or strange or len(found) != count:
            raise _told(Outcome(named_results(returned)), right, strange[0] if fits and strange else next(iter(found)))
        if not all(x.isfinite().all() for x in found.values()):
            raise swap_error("nan" if all(x.isfinite().all() for x in right()) else "overflow")
        return tuple(x.detach() for x in (y, *others))


def _told(got: Outcome, right: Callable[[], tuple[Tensor, ...]], value: str) -> SwapError:
    """What is wrong with an outcome that no network can go on with."""
    wanted = right()
    id, told = describe_difference(
        got, Outcome(named_results(wanted) if len(wanted) > 1 else {"result": wanted[0]}), value, 1e-5
    )
    return SwapError(id, (*told, *error_location(got)))
