"""Is a right function needlessly slow? Counted in steps of Python, so that the answer is the same on every machine."""

import contextlib
import io
import sys
from collections.abc import Callable
from functools import partial

from .exercise import LARGE, SMALL
from .outcome import NotComparable

GROWTH = 2.0  # a function that works on whole tensors takes the same steps at both sizes


def python_steps(call: Callable[[], object]) -> int:
    """How many functions, Python's and C's, the call enters on its second run; the first one may compile."""
    call()
    steps = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return steps


def loop_factor(call: Callable[[dict], object], growing: Callable[[int], dict]) -> float:
    """How many times more steps the larger input takes than the smaller; 1 if it cannot be given to the candidate."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            small, large = (python_steps(partial(call, growing(n))) for n in (SMALL, LARGE))
    except NotComparable:
        return 1.0
    return large / small
