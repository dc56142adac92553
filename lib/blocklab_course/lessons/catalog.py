"""The lessons in order, and all exercises by name.

Importing this module reads only the manifests. The exercises of a lesson are imported when one of them is used.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from blocklab_course.errors import UserFacingError
from blocklab_course.i18n import Text

from .manifest import Lesson

if TYPE_CHECKING:
    from blocklab_course.checks.exercise import Exercise

ORDER = (
    *("start_here", "why_normalize", "norm_axes", "ema_momentum", "small_batches", "layer_norm", "rms_norm"),
    *("activations_and_gates", "swiglu_width", "attention", "positional_encoding", "rotary_positions"),
    *("transformer_layers", "kv_cache", "cuda_timing", "your_model"),
)
LESSONS = tuple(
    replace(import_module(f"{__package__}.{package}").LESSON, number=number, package=package)
    for number, package in enumerate(ORDER)
)
SAVED_EXERCISES = tuple(name for lesson in LESSONS for name in lesson.saves)
_LESSON_OF = {name: lesson for lesson in LESSONS for name in lesson.exercises}

NOT_BUNDLED = Text(
    en="This file contains only its own lesson. That exercise is in {lesson}.ipynb; get it where you got this file.",
    zh="这个文件里只有这一课的内容。那个练习在 {lesson}.ipynb 里，请到当初得到这个文件的地方去找。",
)


class ExerciseNotBundled(UserFacingError):
    """A single-file lesson does not contain the exercises of other lessons."""


def manifest_of(name: str) -> Lesson:
    """The manifest of a notebook such as "02_norm_axes"; an empty one for an appendix."""
    return next((lesson for lesson in LESSONS if lesson.name == name), Lesson())


def lessons_that_run(exercise: str) -> list[Lesson]:
    """The later lessons that run a saved solution of this exercise."""
    return [lesson for lesson in LESSONS if exercise in lesson.runs]


@cache
def _exercises_of(lesson: Lesson) -> "dict[str, Exercise]":
    if find_spec(f"{__package__}.{lesson.package}.exercises") is None:
        raise ExerciseNotBundled(NOT_BUNDLED.format(lesson=lesson.name))
    from blocklab_course.checks.isolation import isolated  # here, because it imports torch

    with isolated():  # the tensors in exercises are float32 on the CPU, whatever defaults a lesson has set
        table = import_module(f"{__package__}.{lesson.package}.exercises").EXERCISES
        return {exercise.name: replace(exercise, lesson=lesson.name) for exercise in table}


class _Exercises(Mapping):
    """All exercises by name, in the order of the lessons."""

    def __getitem__(self, name: str) -> "Exercise":
        return _exercises_of(_LESSON_OF[name])[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_LESSON_OF)

    def __len__(self) -> int:
        return len(_LESSON_OF)

    def __contains__(self, name: object) -> bool:  # without importing the exercise
        return name in _LESSON_OF


EXERCISES = _Exercises()
