"""The recipe step that a mistake replaces when the learner ignores or changes an argument."""

from typing import TypeVar

Argument = TypeVar("Argument")


def passthrough(argument: Argument) -> Argument:
    return argument
