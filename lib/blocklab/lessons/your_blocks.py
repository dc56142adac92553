"""The reader's own blocks as functions, the right ones where none is kept: what a later lesson builds with."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace

from blocklab.checks.exercise import Exercise
from blocklab.language import Text, listed
from blocklab.plugging.as_called import as_called
from blocklab.plugging.cannot_run import CannotRun

from .kept_blocks import kept
from .order import EXERCISES

WRITTEN_IN = Text(en="{name} (lesson {number})", zh="{name}（第 {number} 课）")
YOURS = Text(en="yours: {names}", zh="用你写的：{names}")
NONE = Text(en="none yet", zh="还没有")
OURS = Text(en="ours, where none of yours is kept: {names}", zh="没有保存过的，用我们的：{names}")


def your_blocks(*names: str, lessons: bool = False) -> SimpleNamespace:
    """The functions of these exercises, each as the reader kept it, or the right one; prints which are which.

    lessons: of those that are ours, say the lesson in which they are written.
    """
    mine = kept_functions(*names)
    yours = [name for name in names if mine[name]]
    others = [name for name in names if not mine[name]]
    print(YOURS.format(names=listed(yours) or NONE))
    if others:
        others = list(map(written_in, others)) if lessons else others
        print(OURS.format(names=listed(others)))
    return SimpleNamespace(**{name: mine[name] or EXERCISES[name].reference for name in names})


def written_in(name: str) -> str:
    """The name of an exercise, and the number of its lesson."""
    return WRITTEN_IN.format(name=name, number=EXERCISES[name].lesson[:2])


def kept_functions(*names: str) -> dict[str, Callable | None]:
    """The functions of these exercises as the reader kept them, None where there is none."""
    return {name: _own(name) for name in names}


def _own(name: str) -> Callable | None:
    own = kept(name)
    try:
        return own and as_function(EXERCISES[name], own)
    except CannotRun:  # a class that was kept, of which we do not know how it is made
        return None


def as_function(exercise: Exercise, block: object) -> Callable:
    """A block that was kept, a Module too, as the function that its exercise asks for. Raises CannotRun."""
    call, signature = as_called(exercise, block), inspect.Signature(exercise.parameters)

    def function(*given: object, **named: object) -> object:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        return call(bound.arguments)

    return function
