"""What glassllm's loss is beyond the 128 tokens that it was trained on, rule by rule, as it was once measured."""

import csv
from importlib.resources import files

from blocklab.language import Text

from .known_angles import RULES

NAMES = {**RULES, "window": Text(en="no rule, but a window of 128", zh="不处理，只看最近 128 个词元")}
HEAD = Text(
    en="mean loss at positions below 128 → from 128 on, in texts of 512",
    zh="文本长 512，位置 128 之前 → 128 及以后的平均损失",
)
ROW = Text(
    en="Alice {:.3f} → {:.3f}   Oz {:.3f} → {:.3f}   {}",
    zh="爱丽丝 {:.3f} → {:.3f}   绿野仙踪 {:.3f} → {:.3f}   {}",
)


def recorded_losses() -> dict[str, tuple[float, ...]]:
    """By rule: the mean losses on Alice up to position 128 and beyond, then those on The Wizard of Oz."""
    with (files("blocklab") / "data" / "rotary_beyond_128.csv").open(encoding="utf-8", newline="") as table:
        rows = csv.DictReader(line for line in table if not line.startswith("#"))
        columns = "alice_below_128", "alice_beyond_128", "oz_below_128", "oz_beyond_128"
        return {row["rule"]: tuple(float(row[name]) for name in columns) for row in rows}


def table() -> None:
    print(HEAD)
    for rule, losses in recorded_losses().items():
        print(ROW.format(*losses, NAMES[rule]))
