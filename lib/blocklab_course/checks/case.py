"""One input of an exercise, and the advice for a function that is weak on it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from blocklab_course.i18n import Text


@dataclass(frozen=True, eq=False)
class Advice:
    """Advice for a function that is right but weak on one input. Any of these identifies the weakness:

    weak_functions: one of them gives the same result.
    within: the error is at most this share of the largest number in the result.
    milder: other arguments on which the function is right; here only shapes and dtypes must then be right.
    raises: the function raises one of these errors.
    endless: the function does not finish.
    """

    text: Text
    weak_functions: tuple[Callable, ...] = ()
    within: float = 0.0
    milder: dict[str, object] | None = None
    raises: tuple[type[Exception], ...] = ()
    endless: bool = False


EMPTY_INPUT_ADVICE = Advice(
    Text(
        en="Your function raises an error for an empty input, one with an axis of size 0. torch returns an empty "
        "result then.",
        zh="输入为空、即有一个轴的大小为 0 时，你的函数会报错。torch 这时会返回空的结果。",
    ),
    raises=(Exception,),
)


@dataclass(frozen=True, eq=False)
class Case:
    """One input on which the functions are compared.

    arguments: passed by position, in this order. Leaving some out tests their defaults.
    gradient: compare the gradients of all float tensors too.
    changes: the arguments that the function is meant to write into.
    advice: a function that differs from the reference only as the advice describes passes, and is shown the advice.
    """

    name: str
    arguments: dict[str, object]
    gradient: bool = False
    changes: tuple[str, ...] = ()
    tolerance: float = 1e-5
    advice: Advice | None = None

    def copy_arguments(self) -> dict[str, object]:
        """Return the arguments with cloned tensors, so that no function can change another's input."""
        return {name: x.clone() if isinstance(x, Tensor) else x for name, x in self.arguments.items()}

    @property
    def size(self) -> int:
        """How many numbers there are to read. An empty input, which shows nothing, counts as the largest."""
        sizes = [x.numel() if isinstance(x, Tensor) else 1 for x in self.arguments.values()]
        return sum(sizes) if all(sizes) else sys.maxsize


def is_float(x: object) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()


def cast_floats(arguments: dict[str, object], dtype: torch.dtype) -> dict[str, object]:
    """Return the arguments with all float tensors cast to another floating-point dtype."""
    return {name: x.to(dtype) if is_float(x) else x for name, x in arguments.items()}
