"""The exercises whose tables are tried: all that hand in a function or an answer, not those that hand in inputs."""

from blocklab.checks.catching import Catch
from blocklab.lessons import EXERCISES

TABLES = {name: exercise for name, exercise in EXERCISES.items() if not isinstance(exercise, Catch)}
