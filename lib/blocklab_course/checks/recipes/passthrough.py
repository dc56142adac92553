"""The step of a recipe that a mistake replaces where the learner does not use an argument, or not as it is."""

from typing import TypeVar

Argument = TypeVar("Argument")


def passthrough(argument: Argument) -> Argument:
    return argument
