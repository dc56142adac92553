"""How long `check` takes to answer, for right solutions and for each known mistake.

The goal is a median of 0.1 s for functions and 1 s for layers.
"""

import statistics
import sys
from collections.abc import Iterable
from pathlib import Path

import torch

from blocklab_course import check

from .ratios import seconds

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "checks"))
from right import ADVISED, RIGHT
from tables import TABLES
from test_tables import as_answer

TINY = {"exercises": ["rms_norm"], "rounds": 1}
LAYERS = "12_transformer_layers"


def milliseconds(exercise: str, submissions: list, rounds: int) -> float:
    """The median time over all submissions and rounds."""
    times = [seconds(lambda x=x: check(exercise, x)) for x in submissions for _ in range(rounds)]
    return 1000 * statistics.median(times)


def main(exercises: Iterable[str] = tuple(TABLES), rounds: int = 5) -> None:
    torch.set_num_threads(1)
    print(f"{'milliseconds, median':28}{'right':>8}{'mistake':>8}{'goal':>8}")
    for name in exercises:
        exercise = TABLES[name]
        solutions = [*RIGHT.get(name, {}).values(), *(function for function, _ in ADVISED.get(name, {}).values())]
        right = milliseconds(name, solutions, rounds)
        wrong = milliseconds(name, [as_answer(exercise, mistake) for mistake in exercise.mistakes], rounds)
        goal = 1000 if exercise.lesson == LAYERS else 100
        print(f"{name:28}{right:8.1f}{wrong:8.1f}{goal:8}{'' if max(right, wrong) <= goal else '  MISSED'}", flush=True)
