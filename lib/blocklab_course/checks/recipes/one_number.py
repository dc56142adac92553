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


def one_number(
    answer: float, result_name: Text, expects: Text = A_NUMBER, tolerance: float = 1e-5, **fields
) -> Exercise:
    """Make an exercise whose answer is one number, with mistakes such as `wrong("too-large", answer=1.0)`.

    result_name: what the number is. expects: what to submit. fields: further fields of Exercise.
    """
    return Exercise(
        recipe=lambda: answer,
        evaluate=lambda answer: lambda: torch.tensor(to_number(answer)),
        expects=expects,
        names={"result": result_name},
        cases=(Case("number", {}, tolerance=tolerance),),
        expected_from=3,
        **fields,
    )
