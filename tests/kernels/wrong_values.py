"""Kinds of arguments, and for each kind the values that are not of it, whoever may come up with them."""

import decimal
import fractions
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

NAN, INF = math.nan, math.inf

# What is neither a tensor nor a number nor a word that anybody wants.
ONE = [1]
JUNK = [
    ONE,
    "no",
    "",
    b"1",
    1j,
    (1.0,),
    {1: 1},
    {1},
    range(3),
    object(),
    int,
    Tensor,
    math.cos,
    slice(1),
    nn.Identity(),
    np.array(["1"]),
    np.ones((2, 3)),
    fractions.Fraction(1, 2),
    decimal.Decimal("0.5"),
    Ellipsis,
    NotImplemented,
]
# What looks like a number, but torch takes none of it for one.
NUMBERLIKE = [
    "0.1",
    [0.1],
    np.array(0.1),
    np.array([0.1]),
    torch.tensor([0.1]),
    torch.full((5,), 0.1),
    torch.tensor(0.1, requires_grad=True),
    torch.tensor(0.1, device="meta"),
    torch.tensor(0.1j),
    np.complex64(1),
    np.bool_(True),
]
# One number in every form that torch takes.
FORMS = [1, 1.0, True, np.float16(1), np.float32(1), np.float64(1), np.longdouble(1), np.int8(1), np.uint64(1)]
FORMS += [
    torch.tensor(1.0),
    torch.tensor(1),
    torch.tensor(True),
    torch.tensor(1.0, dtype=torch.float16),
]
INTEGER_FORMS = [1, np.int8(1), np.int64(1), np.uint16(1), torch.tensor(1), torch.tensor(1, dtype=torch.uint8)]
NO_INTEGERS = [1.0, True, np.float64(1), np.bool_(True), NAN, INF, torch.tensor(1.0), torch.tensor(True), "1", None]
NO_INTEGERS += [torch.tensor([1]), torch.ones(3, dtype=torch.int64), np.array(1), np.array([1])]
NO_INTEGERS += [torch.tensor(1, device="meta")]
BEYOND_FLOAT = [10**400, -(10**400), 10**5000]


@dataclass
class Number:
    """A number; between low and high, where the function cares. learned: it may be a tensor with a gradient."""

    low: float = -INF
    high: float = INF
    none: bool = False
    finite: bool = False
    learned: bool = False

    def wrong(self, _good) -> Iterator:
        yield from JUNK
        yield from (value for value in NUMBERLIKE if not (self.learned and getattr(value, "requires_grad", False)))
        yield from BEYOND_FLOAT
        if not self.none:
            yield None
        if self.low > -INF:
            below, far = math.nextafter(self.low, -INF), self.low - abs(self.low) - 1.0
            yield from [below, far, -INF, NAN, np.float64(below), torch.tensor(far)]
        if self.high < INF:
            above = math.nextafter(self.high, INF)
            yield from [above, 2 * self.high + 1, INF, np.float64(above), torch.tensor(2.0 * self.high)]
        if self.finite:
            yield from [INF, -INF, NAN]


@dataclass
class Integer:
    low: float = -INF
    high: float = INF
    none: bool = False
    multiple: int = 1

    def wrong(self, good) -> Iterator:
        yield from (value for value in JUNK + NO_INTEGERS if value is not None or not self.none)
        if self.low > -INF:
            yield from [self.low - 1, -(10**400), np.int64(self.low - 1), torch.tensor(self.low - 1)]
        if self.high < INF:
            yield from [self.high + 1, 2**63, 10**400, 10**5000]
        if self.multiple > 1:
            yield good + 1


@dataclass
class Flag:
    only: bool | None = None

    def wrong(self, _good) -> Iterator:
        yield from [None, 0, 1, 1.0, "True", np.bool_(True), torch.tensor(True), torch.ones(2, dtype=torch.bool)]
        yield from JUNK
        if self.only is not None:
            yield not self.only


@dataclass
class Choice:
    none: bool = False

    def wrong(self, good) -> Iterator:
        if not self.none:
            yield None
        yield from [True, 0, good.upper(), good + " ", good.encode(), [good], np.array([good, good])]
        yield from [torch.ones(2), *JUNK]


@dataclass
class Shape:
    """normalized_shape of a function: a list or tuple of how x ends."""

    def wrong(self, good) -> Iterator:
        yield from (value for value in JUNK if value is not ONE)
        yield from [None, *good, (), [], (*good, *good, *good, *good), (good[-1] + 1,), (-good[-1],), (0,), (1,)]
        yield from [(value,) for value in NO_INTEGERS]
        yield from [np.array(good), torch.tensor(good), (10**400,), (10**5000,), [[*good]]]


@dataclass
class Sizes:
    """normalized_shape of a Module: one size or several."""

    def wrong(self, _good) -> Iterator:
        yield from (value for value in JUNK if value is not ONE)
        scalars = [value for value in NO_INTEGERS if not isinstance(value, Tensor | np.ndarray)]
        yield from [*scalars, *((value,) for value in scalars), (), [], -1, (3, -1), np.array([1.5]), np.ones((2, 2))]
        yield from [torch.ones(2), torch.ones(2, 2, dtype=torch.int64), 2**40, (2**20, 2**20), 10**400, 10**5000]


@dataclass
class Axes:
    def wrong(self, good) -> Iterator:
        yield from (value for value in JUNK if value is not ONE)
        yield from [value for value in NO_INTEGERS if not isinstance(value, list)]
        yield from [(value,) for value in NO_INTEGERS]
        yield from [(), [], 3, -4, (0, 3), (0, 0), (0, -3), (2, -1), 10**400, np.array([0]), [[0]], (good, None)]


@dataclass
class Axis:
    def wrong(self, _good) -> Iterator:
        yield from JUNK + NO_INTEGERS
        yield from [3, -4, 2**63, 10**400, 1]  # the axis 1 of x is odd


@dataclass
class Dtype:
    none: bool = False
    also_complex: bool = False

    def wrong(self, _good) -> Iterator:
        yield from [torch.int64, torch.bool, torch.uint8, torch.float8_e4m3fn, "float32", np.float32, float, 32, *JUNK]
        if not self.also_complex:
            yield torch.complex64
        if not self.none:
            yield None


@dataclass
class Device:
    def wrong(self, _good) -> Iterator:
        yield from ["gpu", "", "cpu:x", "nowhere:0", 5.5, True, torch.ones(1), "cuda:77", torch.device("cuda:77"), -1]
        yield from (value for value in JUNK if not isinstance(value, bytes))  # torch takes b"cpu"


@dataclass
class Activation:
    def wrong(self, _good) -> Iterator:
        yield from [
            "mish",
            "",
            "ReLU",
            None,
            1,
            True,
            torch.ones(2),
            np.ones(2),
            ["relu"],
            b"relu",
            nn.SiLU,
            nn.Module,
            int,
        ]


@dataclass
class Kind:
    """An object of one class, which no other value is."""

    def wrong(self, good) -> Iterator:
        yield from [None, True, 1, torch.ones(2), type(good), [good], (good,), vars(good), *JUNK]


@dataclass
class Made:
    """What an activation makes of x is looked at when it is called."""

    def wrong(self, _good) -> Iterator:
        yield from [lambda x: x[..., :1], lambda x: x.sum(), lambda x: x[None], lambda x: x.to(torch.complex64)]
        yield from [lambda x: None, lambda x: x.long(), lambda x: x > 0, lambda x: x.tolist(), lambda x: x.double()]
        yield from [lambda x: x.half(), lambda x: x.to("meta"), lambda x: x.to_sparse(), lambda x: (x, x), len]


@dataclass
class Array:
    """A tensor of floating point numbers: `bound` are the axes whose lengths are given, `ranks` the numbers of axes.

    alone: no other tensor is there that could lie elsewhere; numbers: one may stand there instead.
    """

    bound: tuple[int, ...] = ()
    ranks: tuple[int, ...] | None = None
    none: bool = False
    also_complex: bool = False
    also_integers: bool = False
    also_boolean: bool = False
    also_wider: bool = True
    jagged: bool = False
    alone: bool = False
    broadcasts: bool = False
    numbers: bool = False

    def wrong(self, good: Tensor) -> Iterator:
        yield from JUNK
        yield from [good.detach().numpy(), nn.Parameter, [good]]
        if not self.numbers:
            yield from [0, 1.5, True, good.tolist()]
        if not self.none:
            yield None
        yield from self._types(good)
        yield from self._layouts(good)
        yield from [nn.UninitializedParameter(), nn.UninitializedBuffer()]
        if good.dim() >= 2:
            yield from [causal_upper_left(*good.shape[-2:]), causal_lower_right(*good.shape[-2:])]
        if not self.alone:
            yield good.to("meta")
        for axis in self.bound:
            length = good.shape[axis]
            for other in {0, 1, length - 1, length + 1, 2 * length} - {length, 1 if self.broadcasts else -1}:
                yield good.new_ones([*good.shape[:axis], other, *good.shape[axis:][1:]])
        if self.ranks is not None:
            shapes = [()] if 0 not in self.ranks else []
            shapes += [(*good.shape, 1)] if good.dim() + 1 not in self.ranks else []
            shapes += [(1, *good.shape)] if good.dim() + 1 not in self.ranks else []
            shapes += [good.shape[1:]] if good.dim() > 0 and good.dim() - 1 not in self.ranks else []
            yield from (good.new_ones(shape) for shape in shapes)

    def _types(self, good: Tensor) -> Iterator:
        if not self.also_integers:
            yield from [good.long(), good.to(torch.uint8), good.to(torch.int8)]
        if not self.also_boolean:
            yield good.bool()
        if not self.also_complex:
            yield from [good.to(torch.complex64), good.to(torch.complex128)]
        if not self.also_wider:
            yield from [good.double(), good.half(), good.bfloat16()]
        yield from [good.to(torch.float8_e4m3fn), good.to(torch.float8_e5m2)]
        yield torch.quantize_per_tensor(good.float(), 0.1, 0, torch.quint8)

    def _layouts(self, good: Tensor) -> Iterator:
        if good.dim() > 0:
            yield good.to_sparse()
            yield torch.nested.nested_tensor([good, good])
            yield torch.nested.nested_tensor([good.long(), good.long()])
        if good.dim() >= 2:
            yield good.to_sparse_csr()
            if not self.jagged:
                yield torch.nested.nested_tensor([good, good], layout=torch.jagged)
        if good.dtype == torch.float32 and good.dim() > 0:
            yield good.to_mkldnn()
