"""An exercise whose answer is one number, which is compared as it is."""

import torch

from blocklab_course.i18n import Text

from ..case import Case
from ..exercise import Exercise

A_NUMBER = Text(en="a number", zh="一个数")


def to_number(answer: object) -> float:
    """The answer as a number, be it a tensor, a fraction or numpy's. Raises TypeError for a text."""
    if isinstance(answer, str | bytes):
        raise TypeError(answer)
    return float(answer)


def one_number(answer: float, means: Text, wants: Text = A_NUMBER, tolerance: float = 1e-5, **shown) -> Exercise:
    """means: what the number is. Its mistakes are rows `wrong("too-large", answer=1.0)`."""
    return Exercise(
        recipe=lambda: answer,
        evaluate=lambda answer: lambda: torch.tensor(to_number(answer)),
        expects=wants,
        names={"result": means},
        cases=(Case("number", {}, tolerance=tolerance),),
        expected_from=3,
        **shown,
    )
