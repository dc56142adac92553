"""The exercises whose tables are tried: all that hand in a function or an answer, not those that hand in inputs."""

from blocklab_course.checks.mutation_testing import MutationExercise
from blocklab_course.lessons.catalog import EXERCISES

TABLES = {name: exercise for name, exercise in EXERCISES.items() if not isinstance(exercise, MutationExercise)}
