"""The tables in `data/`: published numbers and stored measurements."""

import csv
from importlib.resources import files


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of data/NAME.csv as dicts. Lines that start with # are skipped; they name the source."""
    with (files("blocklab_course") / "data" / f"{name}.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(line for line in table if not line.startswith("#")))
