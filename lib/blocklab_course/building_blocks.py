"""Saved solutions as functions, with the references in place of missing ones, for lessons that build on them."""

from collections.abc import Callable
from types import SimpleNamespace

from blocklab_course.i18n import Text, join_words

from .lessons.catalog import EXERCISES
from .workspace.solutions import load

LESSON_LABEL = Text(en="{name} (lesson {number})", zh="{name}（第 {number} 课）")
YOURS = Text(en="yours: {names}", zh="用你写的：{names}")
NONE = Text(en="none yet", zh="还没有")
OURS = Text(en="ours: {names}", zh="用我们的：{names}")


def load_or_reference(*names: str, lessons: bool = False) -> SimpleNamespace:
    """Load the saved solutions of these exercises, or else the references, and print which is which.

    lessons: print the lesson of each exercise whose reference is used.
    """
    saved = load_functions(*names)
    missing = [name for name in names if not saved[name]]
    print(YOURS.format(names=join_words(name for name in names if saved[name]) or NONE))
    if missing:
        print(OURS.format(names=join_words(map(lesson_label, missing) if lessons else missing)))
    return SimpleNamespace(**{name: saved[name] or EXERCISES[name].reference for name in names})


def lesson_label(name: str) -> str:
    """The name of an exercise with the number of its lesson: "rms_norm (lesson 06)"."""
    return LESSON_LABEL.format(name=name, number=EXERCISES[name].lesson[:2])


def load_functions(*names: str) -> dict[str, Callable | None]:
    """Load the saved solutions of these exercises; None if none is saved."""
    return {name: load(name) for name in names}
