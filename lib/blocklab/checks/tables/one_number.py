"""An exercise whose answer is one number, which is compared as it is."""

from collections.abc import Iterable

import torch

from blocklab.language import Text

from ..case import Case
from ..exercise import Exercise, Mistake

A_NUMBER = Text(en="a number", zh="一个数")


def one_number(
    answer: float,
    means: Text,
    wrong: Iterable[tuple[str, float, Text]],
    wants: Text = A_NUMBER,
    tolerance: float = 1e-5,
    **shown,
) -> Exercise:
    """means: what the number is. wrong: the id of each known wrong answer, the answer, and its hint."""
    return Exercise(
        recipe=lambda: answer,
        use=lambda number: lambda: torch.tensor(float(number)),
        wants=wants,
        names={"result": means},
        cases=(Case("number", {}, tolerance=tolerance),),
        mistakes=tuple(Mistake(id, {"answer": number}, hint, "number") for id, number, hint in wrong),
        **shown,
    )
