"""How long a check takes to answer, right and wrong:  python -m workshop.benchmarks.verdicts

The goal is a median of 100 ms for functions and 1 s for layers. A mistake that no table holds takes longest: all known
ones are tried, alone and together.
"""

import statistics
import sys
import time
from pathlib import Path

import torch

from blocklab.lessons import check

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "checks"))
from right import ADVISED, RIGHT
from tables import TABLES
from test_tables import as_answer

ROUNDS = 5
GOAL, GOAL_OF_LAYERS = 0.1, 1.0
LAYERS = "12_transformer_layers"


def seconds(name: str, candidate: object) -> float:
    start = time.perf_counter()
    check(name, candidate)
    return time.perf_counter() - start


def median(name: str, candidates: list) -> float:
    return statistics.median(seconds(name, candidate) for candidate in candidates for _ in range(ROUNDS))


def main() -> int:
    torch.set_num_threads(1)
    late = []
    print(f"{'milliseconds, median':28}{'right':>8}{'known':>8}{'goal':>8}")
    for name, exercise in TABLES.items():
        solutions = [*RIGHT.get(name, {}).values(), *(f for f, _ in ADVISED.get(name, {}).values())]
        right = median(name, solutions)
        wrong = median(name, [as_answer(exercise, mistake) for mistake in exercise.mistakes])
        goal = GOAL_OF_LAYERS if exercise.lesson == LAYERS else GOAL
        late += [name] * (max(right, wrong) > goal)
        print(f"{name:28}{1e3 * right:8.1f}{1e3 * wrong:8.1f}{1e3 * goal:8.0f}")
    print(f"later than the goal: {', '.join(late) or 'none'}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
