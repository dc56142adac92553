"""Rotary embeddings of published models: the rotated width, the base, and the rule for longer texts."""

from dataclasses import dataclass

from torch import Tensor

from blocklab import rope_scaling
from blocklab_course.tables import read_table


@dataclass(frozen=True)
class RotaryModel:
    """A row of data/rotary_bases.csv.

    rotated: how many of a head's head_dim features are rotated. length: the context length that the source states,
    before scaling, or None. rule: the function in `rope_scaling`; factor, low, high: its arguments.
    """

    name: str
    head_dim: int
    rotated: int
    base: float
    length: int | None
    rule: str = "rotary_frequencies"
    factor: float | None = None
    low: float | None = None
    high: float | None = None
    source: str = ""
    note: str = ""

    @property
    def pairs(self) -> int:
        return self.rotated // 2

    def frequencies(self) -> Tensor:
        """The angle by which each pair of features turns per position, (rotated/2,), float64."""
        arguments = {"factor": self.factor, "low": self.low, "high": self.high}
        if self.rule == "llama3_scaling":
            arguments["length"] = self.length
        stated = {name: value for name, value in arguments.items() if value is not None}
        return getattr(rope_scaling, self.rule)(self.rotated, self.base, **stated)


def rotary_models() -> dict[str, RotaryModel]:
    """All models by name, in the order of the table."""
    return {
        row["model"]: RotaryModel(
            row["model"],
            int(row["head_dim"]),
            int(row["rotated"]),
            float(row["base"]),
            int(row["length"]) if row["length"] else None,
            row["rule"],
            *(float(row[name]) if row[name] else None for name in ("factor", "low", "high")),
            row["source"],
            row["note"],
        )
        for row in read_table("rotary_bases")
    }
