"""Derive the inputs that every exercise needs from the fullest one in its table.

Each argument by itself, at 0, and changed alone; large, small and equal numbers; float64; non-contiguous tensors.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from blocklab_course.i18n import Text

from .case import Advice, Case, is_float

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
