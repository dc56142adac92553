"""Check what a learner's block returns inside a network: a tensor that the network can use, or an error."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from blocklab_course.checks.counterexample import describe_difference, error_location
from blocklab_course.checks.isolation import CapturedOutput
from blocklab_course.checks.outcome import Outcome, failing_line, named_results, to_plain
from blocklab_course.checks.safe_repr import error_message
from blocklab_course.checks.timeout import Interrupted

from .adapters import Call
from .errors import SwapError, swap_error


@dataclass(frozen=True)
class Guard:
    """A block called on named arguments. Only what the first call prints is kept."""

    call: Call
    output: CapturedOutput

    def __call__(self, arguments: dict[str, object], right: Callable[[], Tensor]) -> Tensor:
        """Call the block. `right` computes the right result, to say what is wrong with another one.

        Raises SwapError for an error, with the learner's line, for NaN, and for anything but a tensor with the shape
        and dtype of the first argument.
        """
        [y] = self.several(arguments, lambda: (right(),), 1)
        return y

    def several(
        self, arguments: dict[str, object], right: Callable[[], tuple[Tensor, ...]], count: int
    ) -> tuple[Tensor, ...]:
        """Call a block that returns `count` tensors, of which the first must be like the first argument."""
        try:
            returned = self.call(arguments)
        except (Interrupted, SwapError):
            raise
        except NotImplementedError:
            raise swap_error("not-written-yet") from None
        except BaseException as error:
            raise _describe(Outcome({}, error, error_message(error), failing_line(error)), right, "error") from None
        finally:
            self.output.full = True
        if (whole := to_plain(returned)) is ... or whole is None:
            raise swap_error("no-return" if whole is None else "not-written-yet")
        found, like = named_results(returned) if count > 1 else {"result": whole}, next(iter(arguments.values()))
        y, *others = found.values()
        fits = isinstance(y, Tensor) and (y.shape, y.dtype, y.device) == (like.shape, like.dtype, like.device)
        unfit = [name for name, x in found.items() if not isinstance(x, Tensor) or x.device != like.device]
        if not fits or unfit or len(found) != count:
            wrong = unfit[0] if fits and unfit else next(iter(found))
            raise _describe(Outcome(named_results(returned)), right, wrong)
        if not all(x.isfinite().all() for x in found.values()):
            raise swap_error("nan" if all(x.isfinite().all() for x in right()) else "overflow")
        return tuple(x.detach() for x in (y, *others))


def _describe(got: Outcome, right: Callable[[], tuple[Tensor, ...]], value: str) -> SwapError:
    """Say what is wrong with an outcome that the network cannot use."""
    results = right()
    expected = Outcome(named_results(results) if len(results) > 1 else {"result": results[0]})
    id, lines = describe_difference(got, expected, value, 1e-5)
    return SwapError(id, (*lines, *error_location(got)))
