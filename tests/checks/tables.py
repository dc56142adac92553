"""The exercises with tables to test: those that ask for a function or an answer, not for inputs."""

import torch

from blocklab_course.checks.mutation_testing import MutationExercise
from blocklab_course.lessons.catalog import EXERCISES

TABLES = {name: exercise for name, exercise in EXERCISES.items() if not isinstance(exercise, MutationExercise)}


def same_value(x, y):
    """Return whether two arguments are the same in type, dtype, shape, strides and numbers."""
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
        alike = (x.dtype, x.shape, x.stride()) == (y.dtype, y.shape, y.stride())
        return alike and torch.equal(x.detach(), y.detach())
    return type(x) is type(y) and x == y
