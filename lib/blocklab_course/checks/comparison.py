"""The results of the learner's function and of the reference on one input."""

from dataclasses import dataclass

from .case import Case
from .outcome import Outcome


@dataclass(frozen=True)
class Comparison:
    """Both outcomes on one input, and the name of the first value that differs.

    weak: the difference is only the weakness that the advice of the case describes, so it is not a mistake.
    """

    case: Case
    got: Outcome
    wanted: Outcome
    differs: str | None
    weak: bool = False

    @property
    def wrong(self) -> bool:
        return self.differs is not None and not self.weak
