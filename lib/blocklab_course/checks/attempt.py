"""Call a submission on inputs, within a time limit."""

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

OPTIONAL_SHARE = 0.1  # of the time limit, for each input with advice and for counting steps


class Attempt:
    """A candidate and its exercise. If the candidate is a Module, the inputs are resized to fit it.

    Raises CannotCompare if the candidate cannot be called at all.
    """

    def __init__(self, exercise: Exercise, candidate: object, limit: TimeLimit) -> None:
        self._limit, self._optional = limit, OPTIONAL_SHARE * limit.remaining
        self._restore_functions = save_functions()  # before any code of the candidate runs, and once: it is slow
        try:
            self.exercise = limit.call(partial(resize_cases, exercise, candidate))
            self._call = limit.call(partial(as_callable, self.exercise, candidate))
        except (Interrupted, CannotCompare):
            raise
        except BaseException as error:  # reading an attribute of the candidate may run its code
            raise CannotCompare("raises", {"error": f"{type_name(error)}: {error_message(error)}"}) from None

    def call(self, arguments: dict[str, object]) -> object:
        """Call the candidate, then restore at once the functions it replaced and the modes it entered."""
        restore_modes = save_modes()
        try:
            return self._call(arguments)
        finally:
            self._restore_functions()
            restore_modes()

    def run(self, case: Case) -> Outcome:
        """Run the candidate on an input. Raises Interrupted if an input without advice takes too long."""
        decides, restore_modes = case.advice is None, save_modes()  # a backward pass may enter modes too
        try:
            return self._limit.call(partial(run, self.call, case), None if decides else self._optional)
        except Interrupted:
            if decides or self._limit.stopped:
                raise
            return Outcome({}, TookTooLong())
        finally:
            restore_modes()

    def detect_loop(self) -> tuple[int, int] | None:
        """Return the steps at a small and a large size if they grow with the input, else None."""
        scaled_inputs = self.exercise.scaled_inputs
        if scaled_inputs is None:
            return None
        try:
            with isolated():
                return self._limit.call(partial(detect_loop, self.call, scaled_inputs), self._optional)
        except Interrupted:
            if self._limit.stopped:
                raise
            return None
