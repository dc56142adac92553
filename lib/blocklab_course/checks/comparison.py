"""What a learner's function and the reference gave on one input."""

from dataclasses import dataclass

from .case import Case
from .outcome import Outcome


@dataclass(frozen=True)
class Comparison:
    """Both outcomes on one input, and the name of the first value that differs.

    `weak`: what differs is the weakness that the case's advice describes, which is no mistake.
    """

    case: Case
    got: Outcome
    wanted: Outcome
    differs: str | None
    weak: bool = False

    @property
    def wrong(self) -> bool:
        return self.differs is not None and not self.weak
