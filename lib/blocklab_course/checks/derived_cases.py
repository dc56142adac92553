"""The inputs that every exercise needs, made from the fullest one of its table.

Each argument by itself, at 0 and changed alone, numbers up to ten, small ones and equal ones, the digits of float64,
and tensors that do not lie in memory in the order of their axes.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from blocklab_course.i18n import Text

from .case import Advice, Case, is_float

FLOAT64 = Text(
    en="For a float64 input your result has only the digits of float32. Where the type of the input is the wider one, "
    "compute in it.",
    zh="输入是 float64 时，你的结果只有 float32 的精度。输入的类型更宽时，请就用它来计算。",
)
IN_PIECES = Text(
    en="Your function stops at a tensor that does not lie in memory in the order of its axes, a transposed one for "
    "instance. Put `.contiguous()` before what stops; `reshape` can stand for `view`.",
    zh="有的张量在内存里不按各轴的顺序存放，例如转置之后的张量，你的函数遇到它就会报错。"
    "请在报错的那一步之前加上 `.contiguous()`；如果用的是 `view`，换成 `reshape` 也行。",
)
SEVEN_TIMES, A_THOUSANDTH = 7.0, 1e-3  # the numbers of the tables go up to 1.5


def derived_cases(base: Case, defaults: dict[str, object]) -> Iterator[Case]:
    """More cases like `base`; `defaults` are those of the arguments that may be left out."""
    base = replace(base, gradient=False)
    arguments = base.arguments
    if any(map(is_float, arguments.values())):
        yield from _of_the_numbers(base)
    given = {name: default for name, default in defaults.items() if name in arguments}
    for name in given:
        others = {other: default for other, default in given.items() if other != name}
        if others:
            yield _with(base, f"{name} alone", arguments | others)
        if len(others) > 1:
            yield _with(base, f"all but {name}", arguments | {name: given[name]})
    for name, x in arguments.items():
        if isinstance(x, float):
            advice = Advice(_at_zero(name), raises=(Exception,))
            tiny = _each_float(base, lambda x: A_THOUSANDTH * x) | {name: 0.0}  # beside large numbers an eps is nothing
            yield replace(_with(base, f"{name} of 0", tiny), advice=advice)
        if isinstance(x, bool | float | Tensor):
            yield _with(base, f"another {name}", arguments | {name: _another(x)})


def _of_the_numbers(base: Case) -> Iterator[Case]:
    first = next(name for name, x in base.arguments.items() if is_float(x))
    for name, times in (("seven times", SEVEN_TIMES), ("a thousandth", A_THOUSANDTH)):
        yield _with(base, name, base.arguments | {first: times * base.arguments[first]})
    for axis in range(base.arguments[first].dim()):
        flat = base.arguments[first].index_fill(axis, torch.tensor(0), 1.0)
        yield _with(base, f"flat along axis {axis}", base.arguments | {first: flat})
    pieces = Advice(IN_PIECES, raises=(RuntimeError,))
    yield replace(_with(base, "non-contiguous", _each_float(base, _in_pieces)), advice=pieces)
    precise = _with(base, "float64", _each_float(base, lambda x: x.double() + 1e-9))  # more digits than float32 has
    yield replace(precise, tolerance=1e-12, advice=Advice(FLOAT64, within=2e-6))


def _with(base: Case, name: str, arguments: dict[str, object]) -> Case:
    return replace(base, name=name, arguments=arguments)


def _each_float(base: Case, change: Callable[[Tensor], Tensor]) -> dict[str, object]:
    return {name: change(x) if is_float(x) else x for name, x in base.arguments.items()}


def _in_pieces(x: Tensor) -> Tensor:
    """The same numbers, but the last two axes lie the other way round in memory."""
    return x.mT.contiguous().mT if x.dim() > 1 else x


def _at_zero(name: str) -> Text:
    return Text(
        en=f"`{name}` may be 0, and there your function stops.", zh=f"`{name}` 可以是 0，而你的函数这时会报错。"
    )


def _another(x: bool | float | Tensor) -> bool | float | Tensor:
    """Another value, of the same shape and type."""
    if isinstance(x, bool):
        return not x
    if isinstance(x, float):
        return 2 * x
    whole = not x.is_floating_point() and x.dtype != torch.bool
    return x + 1 if whole else x.flip(tuple(range(x.dim())))
