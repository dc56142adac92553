"""Is a right function needlessly slow? Counted in steps of Python, so that the answer is the same on every machine."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from .exercise import LARGE, SMALL
from .outcome import is_library_code
from .timeout import Interrupted


def count_steps(call: Callable[[], object]) -> int:
    """How many lines of the learner's own the call runs the second time; the first one may compile."""
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


def detect_loop(call: Callable[[dict], object], growing: Callable[[int], dict]) -> tuple[int, int] | None:
    """The steps at the small and the large size if there is one more for each number or row more, else None.

    A function that works on whole tensors takes the same steps at both sizes. None as well if it stops with an error
    now, which it did not when it was compared, or if such an input cannot be given to the candidate.
    """
    try:
        small, large = (count_steps(partial(call, growing(n))) for n in (SMALL, LARGE))
    except Interrupted:
        raise
    except BaseException:
        return None
    return (small, large) if large - small >= LARGE - SMALL else None
