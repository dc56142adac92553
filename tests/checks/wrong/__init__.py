"""Wrong attempts that learners, models and published code make, beside the tables' own variants: none may pass.

A module per topic. WRONG maps an exercise to attempts by name: a function, or a pair of it and the mistakes that it may
be told as. An attempt alone may be told as a known mistake or shown where it differs.
"""

from importlib import import_module
from pathlib import Path

TOPICS = [import_module(f"{__name__}.{file.stem}") for file in sorted(Path(__file__).parent.glob("[a-z]*.py"))]
WRONG = {exercise: attempts for topic in TOPICS for exercise, attempts in topic.WRONG.items()}
