"""Wrong solutions of the exercises, as learners, models and published code write them: none may pass.

A module per topic. WRONG maps an exercise to solutions by name: pairs of a solution and the mistake that it is told,
None where the checker knows no name and shows the first difference.
"""

from importlib import import_module
from pathlib import Path

TOPICS = [import_module(f"{__name__}.{file.stem}") for file in sorted(Path(__file__).parent.glob("[a-z]*.py"))]
WRONG = {exercise: solutions for topic in TOPICS for exercise, solutions in topic.WRONG.items()}
