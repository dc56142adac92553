"""Published models whose queries and keys are rotated: the width that is rotated, the base, the trained length."""

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Model:
    """A row of data/rotary_bases.csv. A length is missing where its source does not state one."""

    name: str
    head_dim: int
    rotated: int
    base: float
    length: int | None

    @property
    def pairs(self) -> int:
        return self.rotated // 2


def published_models() -> dict[str, Model]:
    """By their names, in the order of the table."""
    with (files("blocklab") / "data" / "rotary_bases.csv").open(encoding="utf-8", newline="") as table:
        return {
            row["model"]: Model(
                row["model"],
                int(row["head_dim"]),
                int(row["rotated"]),
                float(row["base"]),
                int(row["length"]) if row["length"] else None,
            )
            for row in csv.DictReader(table)
        }
