"""What keeps a block from running in a network, in one line for the reader."""

from dataclasses import dataclass

from blocklab_course.checks.cannot_compare import CannotCompare
from blocklab_course.checks.messages import MESSAGES
from blocklab_course.checks.safe_repr import truncate

from .messages import SWAP_MESSAGES


@dataclass(eq=False)
class SwapError(Exception):
    """An id, as a verdict of `check` has it, and what is told."""

    id: str
    messages: tuple[str, ...]


def swap_error(id: str, **about: object) -> SwapError:
    """A message of the checks, or of `OWN_WORDS` where theirs does not fit."""
    about = {name: truncate(value) if isinstance(value, str) else value for name, value in about.items()}
    return SwapError(id, ((MESSAGES | SWAP_MESSAGES)[id].format(**about),))


def from_cannot_compare(complaint: CannotCompare) -> SwapError:
    return swap_error(complaint.id, **complaint.details)
