"""Reasons why a block cannot run in a network."""

from dataclasses import dataclass

from blocklab_course.checks.messages import MESSAGES
from blocklab_course.checks.outcome import CannotCompare
from blocklab_course.checks.safe_repr import truncate
from blocklab_course.dependencies import MISSING, optional_package

from .messages import SWAP_MESSAGES


@dataclass(eq=False)
class SwapError(Exception):
    """An id, as in a verdict of `check`, and messages for the learner."""

    id: str
    messages: tuple[str, ...]


def swap_error(id: str, **about: object) -> SwapError:
    """A SwapError with a message from `SWAP_MESSAGES`, or else from those of the checks."""
    about = {name: truncate(value) if isinstance(value, str) else value for name, value in about.items()}
    return SwapError(id, ((MESSAGES | SWAP_MESSAGES)[id].format(**about),))


def from_cannot_compare(error: CannotCompare) -> SwapError:
    return swap_error(error.id, **error.details)


def missing_message(name: str, missing: ModuleNotFoundError) -> str:
    """The message for a network whose package is missing. Any other missing module is our own bug: raise it again."""
    package = optional_package((missing.name or "").partition(".")[0])
    if package is None:
        raise missing
    return MISSING.format(function=name, package=package.name, command=package.command)
