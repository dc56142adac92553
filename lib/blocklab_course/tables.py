"""The tables of numbers that are part of this package, in `data/`: as published, or as once measured."""

import csv
from importlib.resources import files


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of data/NAME.csv, each by column; lines that begin with # say where the numbers are from."""
    with (files("blocklab_course") / "data" / f"{name}.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(line for line in table if not line.startswith("#")))
