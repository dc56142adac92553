"""Inputs that a learner wrote, as plain named arguments of an exercise, or why they cannot be used."""

from collections.abc import Sequence

from torch import Tensor

from blocklab_course.i18n import Text

from .exercise import Exercise
from .messages import A_KIND, A_TENSOR, MESSAGES
from .results import Unsupported, to_plain
from .safe_repr import safe_repr, type_name

MAX_INPUTS = 20
MAX_NUMBERS = 10_000  # of one input: attention over as many tokens would make a table of a hundred million scores

A_LIST = Text(
    en="a list of inputs, each a tuple or dict of the arguments of one call, or a function that returns such a list",
    zh="由输入组成的列表（每组输入是一次调用的参数，写成元组或字典），或返回这种列表的函数",
)
TOO_MANY = Text(
    en="These are {count} inputs; at most {most} are tried. A few that are well chosen catch everything.",
    zh="一共有 {count} 组输入，最多只试 {most} 组。选得好的话，几组就够了。",
)
ONE_CALL = Text(
    en="Your list begins with a tensor. Each of its items is to be all that one call gets, as a tuple or dict: put "
    "another pair of brackets around them, `[(x, …)]`.",
    zh="你的列表第一项是张量。列表里的每一项应当是一次调用的全部参数，写成元组或字典：请在外面再加一层括号，"
    "`[(x, …)]`。",
)
NO_ARGUMENTS = Text(
    en="it is {got}. Write the arguments of a call, as a tuple or a dict: `{wanted}`.",
    zh="它是{got}。请写一次调用的参数，用元组或字典：`{wanted}`。",
)
TOO_MANY_ARGUMENTS = Text(
    en="it has {count} arguments, and the function is `{wanted}`.",
    zh="它有 {count} 个参数，而函数是 `{wanted}`。",
)
NO_SUCH_ARGUMENT = Text(
    en="there is no argument {name}; the function is `{wanted}`.",
    zh="没有叫 {name} 的参数；函数是 `{wanted}`。",
)
MISSING = Text(
    en="the argument `{name}` is missing; the function is `{wanted}`.",
    zh="缺少参数 `{name}`；函数是 `{wanted}`。",
)
NO_VALUE = Text(
    en="its `{name}` is {got}; wanted is a tensor, a number, a tuple of numbers or None.",
    zh="它的 `{name}` 是{got}；应当是张量、数、元组（元素都是数）或 None。",
)
TOO_LARGE = Text(
    en="it holds {count} numbers, and at most {most} are tried. A small input tells as much.",
    zh="它含有 {count} 个数，最多只试 {most} 个。小的输入就够了。",
)


class InvalidInput(Exception):
    """An input, or all that was handed in, that cannot be used: an id, and what is told."""

    def __init__(self, id: str, *told: str) -> None:
        super().__init__(id)
        self.id, self.messages = id, told


def submitted_inputs(handed_in: object) -> list[object]:
    """The inputs that were handed in, as they are. Raises NotUsable for what is no list of them."""
    if handed_in is None or handed_in is ...:
        raise not_written_error()
    inputs = _sequence_items(handed_in)
    if inputs is None:
        got = A_TENSOR if issubclass(type(handed_in), Tensor) else A_KIND.format(kind=type_name(handed_in))
        raise InvalidInput("wrong-kind", MESSAGES["wrong-kind"].format(wanted=A_LIST, got=got))
    if any(_has_placeholder(each) for each in inputs) or not inputs:
        raise not_written_error()
    if len(inputs) > 1 and issubclass(type(inputs[0]), Tensor):
        raise InvalidInput("one-call", str(ONE_CALL))
    if len(inputs) > MAX_INPUTS:
        raise InvalidInput("too-many-inputs", TOO_MANY.format(count=len(inputs), most=MAX_INPUTS))
    return inputs


def submitted_arguments(exercise: Exercise, one: object) -> dict[str, object]:
    """All arguments by name, as plain values of their own. Raises NotUsable for what the function cannot be given."""
    wanted = exercise.signature
    defaults = {parameter.name: parameter.default for parameter in exercise.parameters}
    items = _sequence_items(one)
    if issubclass(type(one), dict):
        given = dict(dict.items(one))
    elif items is None:
        got = A_TENSOR if issubclass(type(one), Tensor) else A_KIND.format(kind=type_name(one))
        raise InvalidInput("input", NO_ARGUMENTS.format(got=got, wanted=wanted))
    elif len(items) > len(defaults):
        raise InvalidInput("input", TOO_MANY_ARGUMENTS.format(count=len(items), wanted=wanted))
    else:
        given = dict(zip(defaults, items, strict=False))
    odd = [name for name in given if type(name) is not str or name not in defaults]
    if odd:
        raise InvalidInput("input", NO_SUCH_ARGUMENT.format(name=safe_repr(odd[0]), wanted=wanted))
    required = (p.name for p in exercise.parameters if p.default is p.empty)
    missing = next((name for name in required if name not in given), None)
    if missing:
        raise InvalidInput("input", MISSING.format(name=missing, wanted=wanted))
    values = {name: _plain_argument(name, x) for name, x in given.items()}
    count = sum(x.numel() for x in values.values() if isinstance(x, Tensor))
    if count > MAX_NUMBERS:
        raise InvalidInput("input", TOO_LARGE.format(count=count, most=MAX_NUMBERS))
    return defaults | values


def _plain_argument(name: str, x: object) -> object:
    """An argument that runs no code of the learner's."""
    items = _sequence_items(x)
    found = to_plain(x) if items is None else tuple(to_plain(item) for item in items)
    if isinstance(found, Tensor) and found.device.type != "meta":
        return found.detach()
    numbers = found if isinstance(found, tuple) else (found,)
    if isinstance(found, Tensor | str) or not all(n is None or isinstance(n, bool | int | float) for n in numbers):
        what = next((n.words for n in numbers if isinstance(n, Unsupported)), A_KIND.format(kind=type_name(x)))
        raise InvalidInput("input", NO_VALUE.format(name=name, got=what))
    return found


def _sequence_items(x: object) -> list[object] | None:
    """What a tuple or list holds, whatever its class says of itself; None for anything else."""
    for sequence in (tuple, list):
        if issubclass(type(x), sequence):
            return list(sequence.__iter__(x))
    return None


def _has_placeholder(one: object) -> bool:
    values: Sequence[object] = list(dict.values(one)) if issubclass(type(one), dict) else _sequence_items(one) or ()
    return one is ... or one is None or any(value is ... for value in values)


def not_written_error() -> InvalidInput:
    return InvalidInput("not-written-yet", str(MESSAGES["not-written-yet"]))
