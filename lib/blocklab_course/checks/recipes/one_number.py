"""Exercises whose answer is a single number."""

import torch

from blocklab_course.i18n import Text

from ..case import Case
from ..exercise import Exercise

A_NUMBER = Text(en="a number", zh="一个数")


def to_number(answer: object) -> float:
    """Convert a number, tensor, fraction or NumPy scalar to float. Raises TypeError for a str."""
    if isinstance(answer, str | bytes):
        raise TypeError(answer)
    return float(answer)


def one_number(answer: float, means: Text, wants: Text = A_NUMBER, tolerance: float = 1e-5, **fields) -> Exercise:
    """Make an exercise whose answer is one number, with mistakes such as `wrong("too-large", answer=1.0)`.

    means: what the number is, in words. wants: what to submit, in words. fields: further fields of Exercise.
    """
    return Exercise(
        recipe=lambda: answer,
        evaluate=lambda answer: lambda: torch.tensor(to_number(answer)),
        expects=wants,
        names={"result": means},
        cases=(Case("number", {}, tolerance=tolerance),),
        expected_from=3,
        **fields,
    )
