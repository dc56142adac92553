"""One input of an exercise, and what a function is told that is weak on it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from blocklab_course.i18n import Text


@dataclass(frozen=True, eq=False)
class Advice:
    """What a function is told that is right but weak on one input, and by what its weakness is recognized there.

    `like`: weak functions, one of which gives the same. `within`: the result is off by no more than this, as a share
    of its largest number. `milder`: other arguments, on which the function is right; then its result here has to be
    right in shape and type alone. `raises`: it stops with such an error. `endless`: it does not come to its end.
    """

    text: Text
    like: tuple[Callable, ...] = ()
    within: float = 0.0
    milder: dict[str, object] | None = None
    raises: tuple[type[Exception], ...] = ()
    endless: bool = False


EMPTY_INPUT_ADVICE = Advice(
    Text(
        en="Your function stops at an empty input, one with an axis of size 0. torch returns an empty result then.",
        zh="输入为空、即有一个轴的大小为 0 时，你的函数会报错。torch 这时会返回空的结果。",
    ),
    raises=(Exception,),
)


@dataclass(frozen=True, eq=False)
class Case:
    """One input on which the functions are compared.

    `arguments` are passed by position, in this order; leaving some out tests their defaults. `gradient`: compare the
    gradients of all float tensors too. `changes`: the arguments that the function is meant to write into. A function
    that differs on a case with an `advice`, and there as the advice describes, is not wrong: it is praised and advised.
    """

    name: str
    arguments: dict[str, object]
    gradient: bool = False
    changes: tuple[str, ...] = ()
    tolerance: float = 1e-5
    advice: Advice | None = None

    def fresh(self) -> dict[str, object]:
        """The arguments with tensors of their own, so that no function can spoil another's input."""
        return {name: x.clone() if isinstance(x, Tensor) else x for name, x in self.arguments.items()}

    @property
    def size(self) -> int:
        """How many numbers a reader would have to look at. An empty input shows nothing, however long one looks."""
        sizes = [x.numel() if isinstance(x, Tensor) else 1 for x in self.arguments.values()]
        return sum(sizes) if all(sizes) else sys.maxsize


def is_float(x: object) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()


def cast_floats(arguments: dict[str, object], dtype: torch.dtype) -> dict[str, object]:
    """The arguments with all float tensors in another floating point type."""
    return {name: x.to(dtype) if is_float(x) else x for name, x in arguments.items()}
