"""Read the inputs that a learner submits as plain named arguments, or say why they cannot be used."""

from collections.abc import Sequence

from torch import Tensor

from blocklab_course.i18n import Text

from .exercise import Exercise
from .messages import A_KIND, A_TENSOR, MESSAGES
from .results import Unsupported, to_plain
from .safe_repr import safe_repr, type_name

MAX_INPUTS = 20
MAX_NUMBERS = 10_000  # in one input: attention over as many tokens would compute a hundred million scores

A_LIST = Text(
    en="a list of inputs, each a tuple or dict of the arguments of one call, or a function that returns such a list",
    zh="由输入组成的列表（每组输入是一次调用的参数，写成元组或字典），或返回这种列表的函数",
)
TOO_MANY = Text(
    en="There are {count} inputs, but at most {most} are tried. A few well-chosen ones catch everything.",
    zh="一共有 {count} 组输入，最多只试 {most} 组。选得好的话，几组就够了。",
)
ONE_CALL = Text(
    en="Your list begins with a tensor. Each item should be all the arguments of one call, as a tuple or dict: put "
    "another pair of brackets around them, `[(x, …)]`.",
    zh="你的列表第一项是张量。列表里的每一项应当是一次调用的全部参数，写成元组或字典：请在外面再加一层括号，"
    "`[(x, …)]`。",
)
NO_ARGUMENTS = Text(
    en="it is {got}. Write the arguments of one call as a tuple or dict: `{wanted}`.",
    zh="它是{got}。请写一次调用的参数，用元组或字典：`{wanted}`。",
)
TOO_MANY_ARGUMENTS = Text(
    en="it has {count} arguments, but the function is `{wanted}`.",
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
    en="its `{name}` is {got}; expected a tensor, a number, a tuple of numbers or None.",
    zh="它的 `{name}` 是{got}；应当是张量、数、元组（元素都是数）或 None。",
)
TOO_LARGE = Text(
    en="it has {count} numbers, but at most {most} are allowed. A small input does as well.",
    zh="它含有 {count} 个数，最多只试 {most} 个。小的输入就够了。",
)


class InvalidInput(Exception):
    """An input, or the whole submission, cannot be used: an id and the messages."""

    def __init__(self, id: str, *messages: str) -> None:
        super().__init__(id)
        self.id, self.messages = id, messages


def submitted_inputs(submission: object) -> list[object]:
    """Return the submitted inputs unchanged, as a list. Raises InvalidInput if they are not a list or tuple."""
    if submission is None or submission is ...:
        raise not_written_error()
    inputs = _sequence_items(submission)
    if inputs is None:
        got = A_TENSOR if issubclass(type(submission), Tensor) else A_KIND.format(kind=type_name(submission))
        raise InvalidInput("wrong-kind", MESSAGES["wrong-kind"].format(wanted=A_LIST, got=got))
    if any(_has_placeholder(each) for each in inputs) or not inputs:
        raise not_written_error()
    if len(inputs) > 1 and issubclass(type(inputs[0]), Tensor):
        raise InvalidInput("one-call", str(ONE_CALL))
    if len(inputs) > MAX_INPUTS:
        raise InvalidInput("too-many-inputs", TOO_MANY.format(count=len(inputs), most=MAX_INPUTS))
    return inputs


def submitted_arguments(exercise: Exercise, submission: object) -> dict[str, object]:
    """Return all arguments by name, as plain values. Raises InvalidInput for what the function cannot take."""
    wanted = exercise.signature
    defaults = {parameter.name: parameter.default for parameter in exercise.parameters}
    items = _sequence_items(submission)
    if issubclass(type(submission), dict):
        given = dict(dict.items(submission))
    elif items is None:
        got = A_TENSOR if issubclass(type(submission), Tensor) else A_KIND.format(kind=type_name(submission))
        raise InvalidInput("input", NO_ARGUMENTS.format(got=got, wanted=wanted))
    elif len(items) > len(defaults):
        raise InvalidInput("input", TOO_MANY_ARGUMENTS.format(count=len(items), wanted=wanted))
    else:
        given = dict(zip(defaults, items, strict=False))
    unknown = [name for name in given if type(name) is not str or name not in defaults]
    if unknown:
        raise InvalidInput("input", NO_SUCH_ARGUMENT.format(name=safe_repr(unknown[0]), wanted=wanted))
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
    """Return an argument as a plain value that runs no code of the learner's."""
    items = _sequence_items(x)
    found = to_plain(x) if items is None else tuple(to_plain(item) for item in items)
    if isinstance(found, Tensor) and found.device.type != "meta":
        return found.detach()
    numbers = found if isinstance(found, tuple) else (found,)
    if isinstance(found, Tensor | str) or not all(n is None or isinstance(n, bool | int | float) for n in numbers):
        what = next((n.description for n in numbers if isinstance(n, Unsupported)), A_KIND.format(kind=type_name(x)))
        raise InvalidInput("input", NO_VALUE.format(name=name, got=what))
    return found


def _sequence_items(x: object) -> list[object] | None:
    """Return the items of a tuple or list, without its own `__iter__`, or None for anything else."""
    for sequence in (tuple, list):
        if issubclass(type(x), sequence):
            return list(sequence.__iter__(x))
    return None


def _has_placeholder(submission: object) -> bool:
    is_dict = issubclass(type(submission), dict)
    values: Sequence[object] = list(dict.values(submission)) if is_dict else _sequence_items(submission) or ()
    return submission is ... or submission is None or any(value is ... for value in values)


def not_written_error() -> InvalidInput:
    return InvalidInput("not-written-yet", str(MESSAGES["not-written-yet"]))
