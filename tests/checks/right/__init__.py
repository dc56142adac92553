"""Right solutions of every exercise, as different as learners write them: none may be refused.

A module per topic. RIGHT maps an exercise to solutions by name; ADVISED to pairs of a solution and the advice it gets.
"""

from importlib import import_module
from pathlib import Path

TOPICS = [import_module(f"{__name__}.{file.stem}") for file in sorted(Path(__file__).parent.glob("[a-z]*.py"))]
RIGHT = {exercise: solutions for topic in TOPICS for exercise, solutions in topic.RIGHT.items()}
ADVISED = {exercise: pairs for topic in TOPICS for exercise, pairs in topic.ADVISED.items()}
