"""A learner's block inside a network: what comes out is a tensor that the network can go on with, or is told."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from blocklab.checks.brief import words_of
from blocklab.checks.complaints import difference, line_of_error
from blocklab.checks.interrupts import Interrupted
from blocklab.checks.outcome import Outcome, own_line
from blocklab.checks.plain import plain, results
from blocklab.checks.surroundings import Sheet

from .as_called import Call
from .cannot_run import CannotRun, in_words


@dataclass(frozen=True)
class Guarded:
    """A block called on named arguments. What it prints the first time lands on the sheet."""

    call: Call
    sheet: Sheet

    def __call__(self, arguments: dict[str, object], right: Callable[[], Tensor]) -> Tensor:
        """What the block gives. `right` is asked for the right result where this one is of no use.

        Raises CannotRun for an error, with the learner's line, for NaN, and for another kind, shape or type than that
        of the first argument.
        """
        try:
            returned = self.call(arguments)
        except (Interrupted, CannotRun):
            raise
        except NotImplementedError:
            raise in_words("not-written-yet") from None
        except BaseException as error:
            raise _told(Outcome({}, error, words_of(error), own_line(error)), right, "error") from None
        finally:
            self.sheet.full = True
        y, like = plain(returned), next(iter(arguments.values()))
        if y is ... or y is None:
            raise in_words("no-return" if y is None else "not-written-yet")
        if not isinstance(y, Tensor) or (y.shape, y.dtype, y.device) != (like.shape, like.dtype, like.device):
            raise _told(Outcome(results(returned)), right, "result")
        if not y.isfinite().all():
            raise in_words("nan" if right().isfinite().all() else "overflow")
        return y.detach()


def _told(got: Outcome, right: Callable[[], Tensor], value: str) -> CannotRun:
    """What is wrong with an outcome that no network can go on with."""
    id, told = difference(got, Outcome({"result": right()}), value, 1e-5)
    return CannotRun(id, (*told, *line_of_error(got)))
