"""The reader's own blocks as functions, the right ones where none is kept: what a later lesson builds with."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace

from blocklab_course.checks.exercise import Exercise
from blocklab_course.i18n import Text, join_words
from blocklab_course.model_swap.adapters import adapt
from blocklab_course.model_swap.errors import SwapError

from .lessons.catalog import EXERCISES
from .workspace.solutions import load

LESSON_LABEL = Text(en="{name} (lesson {number})", zh="{name}（第 {number} 课）")
YOURS = Text(en="yours: {names}", zh="用你写的：{names}")
NONE = Text(en="none yet", zh="还没有")
OURS = Text(en="ours, where none of yours is kept: {names}", zh="没有保存过的，用我们的：{names}")


def load_or_reference(*names: str, lessons: bool = False) -> SimpleNamespace:
    """The functions of these exercises, each as the reader kept it, or the right one; prints which are which.

    lessons: of those that are ours, say the lesson in which they are written.
    """
    mine = load_functions(*names)
    yours = [name for name in names if mine[name]]
    others = [name for name in names if not mine[name]]
    print(YOURS.format(names=join_words(yours) or NONE))
    if others:
        others = list(map(lesson_label, others)) if lessons else others
        print(OURS.format(names=join_words(others)))
    return SimpleNamespace(**{name: mine[name] or EXERCISES[name].reference for name in names})


def lesson_label(name: str) -> str:
    """The name of an exercise, and the number of its lesson."""
    return LESSON_LABEL.format(name=name, number=EXERCISES[name].lesson[:2])


def load_functions(*names: str) -> dict[str, Callable | None]:
    """The functions of these exercises as the reader kept them, None where there is none."""
    return {name: _load_function(name) for name in names}


def _load_function(name: str) -> Callable | None:
    own = load(name)
    try:
        return own and as_function(EXERCISES[name], own)
    except SwapError:  # a class that was kept, of which we do not know how it is made
        return None


def as_function(exercise: Exercise, block: object) -> Callable:
    """A block that was kept, a Module too, as the function that its exercise asks for. Raises CannotRun."""
    call, signature = adapt(exercise, block), inspect.Signature(exercise.parameters)

    def function(*given: object, **named: object) -> object:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        return call(bound.arguments)

    return function
