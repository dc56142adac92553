"""Detect needless Python loops by counting steps, so that the answer is the same on every machine."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from .exercise import LARGE, SMALL
from .outcome import is_library_code
from .timeout import Interrupted


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
