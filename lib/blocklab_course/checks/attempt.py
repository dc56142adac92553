"""What a learner handed in, called on inputs within its time."""

from functools import partial

from .cannot_compare import CannotCompare
from .case import Case
from .exercise import Exercise
from .isolation import isolated, save_functions, save_modes
from .loops import detect_loop
from .outcome import Outcome, TookTooLong, run
from .resizing import resize_cases
from .safe_repr import error_message, type_name
from .submission import as_callable
from .timeout import Interrupted, TimeLimit

OPTIONAL_SHARE = 0.1  # of the patience, for each call that decides nothing


class Attempt:
    """A candidate and the exercise, whose inputs are those of a Module's size if it is one.

    Raises Complaint for a candidate that cannot be called at all.
    """

    def __init__(self, exercise: Exercise, candidate: object, watch: TimeLimit) -> None:
        self._watch, self._share = watch, OPTIONAL_SHARE * watch.left
        self._put_back = save_functions()  # of before anything of the candidate runs: once, for it takes long
        try:
            self.exercise = watch.call(partial(resize_cases, exercise, candidate))
            self._call = watch.call(partial(as_callable, self.exercise, candidate))
        except (Interrupted, CannotCompare):
            raise
        except BaseException as error:  # its attributes run code too
            raise CannotCompare("raises", {"error": f"{type_name(error)}: {error_message(error)}"}) from None

    def call(self, arguments: dict[str, object]) -> object:
        """What the candidate makes of the arguments. Functions that it replaced are put back at once, and modes."""
        leave_modes = save_modes()
        try:
            return self._call(arguments)
        finally:
            self._put_back()
            leave_modes()

    def on(self, case: Case) -> Outcome:
        """What the candidate does with an input. Raises Interrupted where an input that decides takes too long."""
        decides, leave_modes = case.advice is None, save_modes()  # of a backward, too
        try:
            return self._watch.call(partial(run, self.call, case), None if decides else self._share)
        except Interrupted:
            if decides or self._watch.stopped:
                raise
            return Outcome({}, TookTooLong())
        finally:
            leave_modes()

    def steps(self) -> tuple[int, int] | None:
        """How its steps grow with the size of the input, if they do so needlessly."""
        growing = self.exercise.scaled_inputs
        if growing is None:
            return None
        try:
            with isolated():
                return self._watch.call(partial(detect_loop, self.call, growing), self._share)
        except Interrupted:
            if self._watch.stopped:
                raise
            return None
