"""What `random_stacks` measured, kept as numbers: `python -m authoring.record_stacks` writes them anew."""

import csv
from functools import cache
from pathlib import Path

import numpy as np

from blocklab.norm_placement import PLACES
from blocklab_course.tables import read_table

from .random_stacks import DEPTHS, measured

KINDS = "cosine", "rms", "gradient"
OF_SEEDS = {"mean": np.mean, "low": np.min, "high": np.max}
NORMED = "whole"  # what queries and keys are normalized over, where they are
COLUMNS = ("place", "qk_norm", "depth", "layer", *(f"{kind}_{of}" for kind in KINDS for of in OF_SEEDS))

Recorded = dict[str, np.ndarray]  # by kind: mean, smallest and largest of the seeds, (3, layer)


def record(path: Path) -> None:
    """Measure all stacks, which takes a minute, and write a row for each layer."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for place in PLACES:
            for qk_norm in ("", NORMED):
                for depth in DEPTHS:
                    for layer, numbers in enumerate(summed_up(depth, place, qk_norm), 1):
                        table.writerow([place, qk_norm, depth, layer, *(f"{number:.4g}" for number in numbers)])


def summed_up(depth: int, place: str, qk_norm: str) -> np.ndarray:
    """(layer, 9): of each kind the mean, the smallest and the largest of the seeds."""
    seen = measured(depth, place, qk_norm or None)
    return np.stack([of(getattr(seen, kind), 1) for kind in KINDS for of in OF_SEEDS.values()], 1)


@cache
def recorded() -> dict[tuple[str, bool, int], Recorded]:
    """By place, whether queries and keys are normalized, and depth."""
    found = {}
    for row in read_table("norm_places"):
        key = row["place"], bool(row["qk_norm"]), int(row["depth"])
        found.setdefault(key, []).append([float(row[column]) for column in COLUMNS[4:]])
    return {key: dict(zip(KINDS, np.split(np.array(rows).T, len(KINDS)), strict=True)) for key, rows in found.items()}
