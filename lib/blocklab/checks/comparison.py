"""What a learner's function and the reference gave on one input."""

from dataclasses import dataclass

from .exercise import Case
from .outcome import Outcome


@dataclass(frozen=True)
class Comparison:
    """Both outcomes on one input, and the name of the first value that differs."""

    case: Case
    got: Outcome
    wanted: Outcome
    differs: str | None
