"""Make a submission callable, or say why that is impossible, and call it within a time limit."""

import inspect
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from torch import Tensor, nn

from blocklab_course.i18n import Text

from .case import Case
from .exercise import LARGE, SMALL, Exercise
from .isolation import isolated
from .messages import A_FUNCTION, A_KIND, A_MODULE, THE_ANSWER, THE_TEXT
from .modules import copy_module, resize_cases
from .outcome import MAX_COPIED, CannotCompare, Outcome, TookTooLong, by_position, failing_line, is_library_code, run
from .safe_repr import class_name, error_message, safe_repr, truncate, type_name
from .timeout import Interrupted, TimeLimit


def as_callable(exercise: Exercise, candidate: object) -> Callable[[dict], object]:
    """Return the candidate as a function of the named arguments of a case. Raises CannotCompare if it is not one."""
    if candidate is None or candidate is ...:
        raise CannotCompare("not-written-yet", {})
    if exercise.evaluate:
        return partial(_evaluate_answer, exercise, candidate)
    if isinstance(candidate, type):
        if not issubclass(candidate, nn.Module):
            raise CannotCompare("wrong-kind", {"wanted": _expected_kind(exercise), "got": _describe_kind(candidate)})
        raise CannotCompare("class-not-instance", {"got": class_name(candidate)})
    if isinstance(candidate, nn.Module) and exercise.module:
        return lambda arguments: exercise.module(candidate, exercise, arguments)
    if exercise.only_module or not callable(candidate):
        raise CannotCompare("wrong-kind", {"wanted": _expected_kind(exercise), "got": _describe_kind(candidate)})
    if _is_stub(candidate):
        raise CannotCompare("not-written-yet", {})
    if issubclass(type(candidate), nn.Module):
        _check_signature(exercise, candidate.forward, type(candidate))
        return by_position(copy_module(candidate))
    _check_signature(exercise, candidate, candidate)
    return by_position(candidate)


def _evaluate_answer(exercise: Exercise, answer: object, arguments: dict[str, object]) -> object:
    """Evaluate an answer. Raises CannotCompare if that fails."""
    try:
        if isinstance(answer, Tensor) and answer.numel() > MAX_COPIED:  # reading it takes all memory
            raise TypeError
        return exercise.evaluate(answer)(*arguments.values())
    except Interrupted:
        raise
    except BaseException:
        got = (THE_TEXT if isinstance(answer, str) else THE_ANSWER).format(answer=safe_repr(answer))
        raise CannotCompare("wrong-kind", {"wanted": exercise.expects, "got": got}) from None


def _expected_kind(exercise: Exercise) -> Text:
    return A_MODULE if exercise.only_module else A_FUNCTION


def _describe_kind(candidate: object) -> str:
    return A_KIND.format(kind=type_name(candidate))


def _is_stub(function: Callable) -> bool:
    """Return whether a function's body is only `pass` or a docstring. One that returns `...` is found when it runs."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_code in _STUB_BODIES and code.co_consts[-1] is None


def _stub():
    pass


def _stub_with_docstring():  # its bytecode differs: the docstring moves the constant None by one place
    """Docstring."""


_STUB_BODIES = {f.__code__.co_code for f in (_stub, _stub_with_docstring)}


def _check_signature(exercise: Exercise, function: Callable, named: object) -> None:
    """Raise CannotCompare if the function cannot be called with the arguments of the fullest case.

    named: the function or class whose name is shown.
    """
    try:
        signature = inspect.signature(function)
    except Exception:
        return  # written in C++, or with a signature that cannot be read
    fullest = max((case.arguments for case in exercise.cases), key=len)
    try:
        signature.bind(*fullest.values())
    except TypeError:
        if exercise.module and not inspect.isroutine(function) and not isinstance(function, partial):
            got = _describe_kind(function)  # an object that is called like a Module
            raise CannotCompare("wrong-kind", {"wanted": A_MODULE, "got": got}) from None
        got = _format_signature(named, signature)
        raise CannotCompare("signature", {"wanted": exercise.signature, "got": got}) from None


def _format_signature(named: object, signature: inspect.Signature) -> str:
    """Format a function's or class's name and the parameters, with defaults cut to fit."""
    name = str(getattr(named, "__name__", type_name(named)))
    parameters = [_shown(parameter) for parameter in signature.parameters.values()]
    bare = signature.replace(parameters=parameters, return_annotation=signature.empty)
    return truncate(f"{truncate(name, 60)}{bare}")


def _shown(parameter: inspect.Parameter) -> inspect.Parameter:
    default = parameter.default if parameter.default is parameter.empty else _Shown(parameter.default)
    return parameter.replace(default=default, annotation=parameter.empty)


class _Shown:
    """Stands for a default in a signature, with a repr that is cut to fit."""

    def __init__(self, default: object) -> None:
        self._text = safe_repr(default)

    def __repr__(self) -> str:
        return self._text


OPTIONAL_SHARE = 0.1  # of the time limit, for each input with advice and for counting steps


class Attempt:
    """A candidate and its exercise. If the candidate is a Module, the inputs are resized to fit it.

    Raises CannotCompare if the candidate cannot be called at all.
    """

    def __init__(self, exercise: Exercise, candidate: object, limit: TimeLimit) -> None:
        self._limit, self._optional = limit, OPTIONAL_SHARE * limit.remaining
        try:
            self.exercise = limit.call(partial(resize_cases, exercise, candidate))
            self._call = limit.call(partial(as_callable, self.exercise, candidate))
        except (Interrupted, CannotCompare):
            raise
        except BaseException as error:  # reading an attribute of the candidate may run its code
            mismatch = "raises" if failing_line(error) else "not-examined"
            raise CannotCompare(mismatch, {"error": f"{type_name(error)}: {error_message(error)}"}) from None

    def run(self, case: Case) -> Outcome:
        """Run the candidate on an input. Raises Interrupted if an input without advice takes too long."""
        decides = case.advice is None
        try:
            return self._limit.call(partial(run, self._call, case), None if decides else self._optional)
        except Interrupted:
            if decides or self._limit.stopped:
                raise
            return Outcome({}, TookTooLong())

    def detect_loop(self) -> tuple[int, int] | None:
        """Return the steps at a small and a large size if they grow with the input, else None."""
        scaled_inputs = self.exercise.scaled_inputs
        if scaled_inputs is None:
            return None
        try:
            with isolated():
                return self._limit.call(partial(detect_loop, self._call, scaled_inputs), self._optional)
        except Interrupted:
            if self._limit.stopped:
                raise
            return None


def count_steps(call: Callable[[], object]) -> int:
    """Count the lines of the learner's code in the second call; the first may compile."""
    call()
    steps = 0

    def count(frame: FrameType, event: str, _argument: object) -> Callable | None:
        nonlocal steps
        steps += event == "line"
        return None if is_library_code(frame.f_code.co_filename) else count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(before)
    return steps


def detect_loop(call: Callable[[dict], object], scaled_inputs: Callable[[int], dict]) -> tuple[int, int] | None:
    """Return the steps at the small and the large size if they grow by at least one per number or row, else None.

    A function that works on whole tensors takes the same steps at both sizes. Also returns None on any error.
    """
    try:
        small, large = (count_steps(partial(call, scaled_inputs(n))) for n in (SMALL, LARGE))
    except Interrupted:
        raise
    except BaseException:
        return None
    return (small, large) if large - small >= LARGE - SMALL else None
