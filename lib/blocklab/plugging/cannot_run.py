"""What keeps a block from running in a network, in one line for the reader."""

from dataclasses import dataclass

from blocklab.checks.brief import cut
from blocklab.checks.complaints import Complaint
from blocklab.checks.words import WORDS

from .words import OWN_WORDS


@dataclass(eq=False)
class CannotRun(Exception):
    """An id, as a verdict of `check` has it, and what is told."""

    id: str
    told: tuple[str, ...]


def in_words(id: str, **about: object) -> CannotRun:
    """A message of the checks, or of `OWN_WORDS` where theirs does not fit."""
    about = {name: cut(value) if isinstance(value, str) else value for name, value in about.items()}
    return CannotRun(id, ((WORDS | OWN_WORDS)[id].format(**about),))


def told(complaint: Complaint) -> CannotRun:
    return in_words(complaint.id, **complaint.about)
