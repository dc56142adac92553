"""One input of an exercise, the advice for a function that is weak on it, and inputs derived from others."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

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
    tolerance: float = 2e-5
    advice: Advice | None = None

    def copy_arguments(self) -> dict[str, object]:
        """Return the arguments with copied tensors and lists, so that no function can change another's input."""
        return {name: _copy(x) for name, x in self.arguments.items()}

    @property
    def size(self) -> int:
        """How many numbers there are to read. An empty input, which shows nothing, counts as the largest."""
        sizes = [x.numel() if isinstance(x, Tensor) else 1 for x in self.arguments.values()]
        return sum(sizes) if all(sizes) else sys.maxsize

    @property
    def narrow_type(self) -> torch.dtype | None:
        """The 16-bit floating-point type of an argument, if there is one."""
        return next((x.dtype for x in self.arguments.values() if is_float(x) and x.element_size() < 4), None)


def _copy(x: object) -> object:
    if isinstance(x, Tensor):
        return x.clone()
    return list(x) if isinstance(x, list) else x


def is_float(x: object) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()


def cast_floats(arguments: dict[str, object], dtype: torch.dtype) -> dict[str, object]:
    """Return the arguments with all float tensors cast to another floating-point dtype."""
    return {name: x.to(dtype) if is_float(x) else x for name, x in arguments.items()}


def waves(*shape: int, start: float = 0.0) -> Tensor:
    """Return numbers between -1.5 and 1.5 without a pattern along any axis. Another `start` gives other numbers."""
    place = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (torch.sin(2.3 * place + start) + 0.5 * torch.cos(0.7 * place * place + start)).float().view(shape)


def with_outliers(*shape: int) -> Tensor:
    """Return waves with an outlier at the end of every row: standardized, it is as large as possible."""
    x = waves(*shape)
    x[..., -1] = 100
    return x


FLOAT64_ADVICE = Text(
    en="For a float64 input your result is only as precise as float32. If the dtype of the input is wider, compute in "
    "it.",
    zh="输入是 float64 时，你的结果只有 float32 的精度。输入的类型更宽时，请就用它来计算。",
)
NONCONTIGUOUS_ADVICE = Text(
    en="Your function raises an error for a tensor that is not contiguous in memory, such as a transposed one. Put "
    "`.contiguous()` before the step that fails, or use `reshape` instead of `view`.",
    zh="有的张量在内存里不按各轴的顺序存放，例如转置之后的张量，你的函数遇到它就会报错。"
    "请在报错的那一步之前加上 `.contiguous()`；如果用的是 `view`，换成 `reshape` 也行。",
)
LARGE_FACTOR, SMALL_FACTOR = 7.0, 1e-3  # the numbers in the tables go up to 1.5


def derived_cases(base: Case, defaults: dict[str, object]) -> Iterator[Case]:
    """Yield more cases like `base`. `defaults` holds the defaults of the optional arguments."""
    base = replace(base, gradient=False)
    arguments = base.arguments
    if any(map(is_float, arguments.values())):
        yield from _value_cases(base)
    given = {name: default for name, default in defaults.items() if name in arguments}
    for name in given:
        others = {other: default for other, default in given.items() if other != name}
        if others:
            yield _derive(base, f"{name} alone", arguments | others)
        if len(others) > 1:
            yield _derive(base, f"all but {name}", arguments | {name: given[name]})
    for name, x in arguments.items():
        if isinstance(x, float):
            advice = Advice(_zero_advice(name), raises=(Exception,))
            tiny = _map_floats(base, lambda x: SMALL_FACTOR * x) | {name: 0.0}  # an eps only matters for small numbers
            yield replace(_derive(base, f"{name} of 0", tiny), advice=advice)
        if isinstance(x, bool | float | Tensor):
            yield _derive(base, f"another {name}", arguments | {name: _change(x)})


def _value_cases(base: Case) -> Iterator[Case]:
    first = next(name for name, x in base.arguments.items() if is_float(x))
    for name, times in (("seven times", LARGE_FACTOR), ("a thousandth", SMALL_FACTOR)):
        yield _derive(base, name, base.arguments | {first: times * base.arguments[first]})
    for axis in range(base.arguments[first].dim()):
        flat = base.arguments[first].index_fill(axis, torch.tensor(0), 1.0)
        yield _derive(base, f"flat along axis {axis}", base.arguments | {first: flat})
    pieces = Advice(NONCONTIGUOUS_ADVICE, raises=(RuntimeError,))
    yield replace(_derive(base, "non-contiguous", _map_floats(base, _noncontiguous)), advice=pieces)
    precise = _derive(base, "float64", _map_floats(base, lambda x: x.double() + 1e-9))  # more digits than float32 has
    yield replace(precise, tolerance=1e-12, advice=Advice(FLOAT64_ADVICE, within=2e-6))


def _derive(base: Case, name: str, arguments: dict[str, object]) -> Case:
    return replace(base, name=name, arguments=arguments)


def _map_floats(base: Case, change: Callable[[Tensor], Tensor]) -> dict[str, object]:
    return {name: change(x) if is_float(x) else x for name, x in base.arguments.items()}


def _noncontiguous(x: Tensor) -> Tensor:
    """Return the same numbers with the last two axes swapped in memory."""
    return x.mT.contiguous().mT if x.dim() > 1 else x


def _zero_advice(name: str) -> Text:
    return Text(
        en=f"`{name}` may be 0, but then your function raises an error.",
        zh=f"`{name}` 可以是 0，而你的函数这时会报错。",
    )


def _change(x: bool | float | Tensor) -> bool | float | Tensor:
    """Return another value of the same shape and type."""
    if isinstance(x, bool):
        return not x
    if isinstance(x, float):
        return 2 * x
    whole = not x.is_floating_point() and x.dtype != torch.bool
    return x + 1 if whole else x.flip(tuple(range(x.dim())))
