"""Mutation testing as an exercise: a learner submits inputs, and known mistakes have to show on them.

An input counts only if right functions agree on it: the recipe in the dtype of the input and in float64, and the
library's function. A difference on such an input is a mistake and not rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from blocklab_course.i18n import Text, join_words

from .case import Case, cast_floats
from .counterexample import error_location
from .engine import PATIENCE
from .exercise import Exercise
from .isolation import CapturedOutput, isolated
from .messages import A_KIND, A_TENSOR, MESSAGES
from .mistake import Mistake
from .outcome import Outcome, Unsupported, by_position, failing_line, max_magnitude, run, to_plain
from .safe_repr import error_message, safe_repr, type_name
from .timeout import Interrupted, TimeLimit
from .verdict import Verdict, count_failure, reset_failures

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
        got = A_TENSOR if isinstance(submission, Tensor) else A_KIND.format(kind=type_name(submission))
        raise InvalidInput("wrong-kind", MESSAGES["wrong-kind"].format(wanted=A_LIST, got=got))
    if any(_has_placeholder(each) for each in inputs) or not inputs:
        raise not_written_error()
    if len(inputs) > 1 and isinstance(inputs[0], Tensor):
        raise InvalidInput("one-call", str(ONE_CALL))
    if len(inputs) > MAX_INPUTS:
        raise InvalidInput("too-many-inputs", TOO_MANY.format(count=len(inputs), most=MAX_INPUTS))
    return inputs


def submitted_arguments(exercise: Exercise, submission: object) -> dict[str, object]:
    """Return all arguments by name, as plain values. Raises InvalidInput for what the function cannot take."""
    wanted = exercise.signature
    defaults = {parameter.name: parameter.default for parameter in exercise.parameters}
    items = _sequence_items(submission)
    if isinstance(submission, dict):
        given = dict(submission)
    elif items is None:
        got = A_TENSOR if isinstance(submission, Tensor) else A_KIND.format(kind=type_name(submission))
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
    """Return the items of a tuple or list, or None for anything else."""
    return list(x) if isinstance(x, tuple | list) else None


def _has_placeholder(submission: object) -> bool:
    values = list(submission.values()) if isinstance(submission, dict) else _sequence_items(submission) or ()
    return submission is ... or submission is None or any(value is ... for value in values)


def not_written_error() -> InvalidInput:
    return InvalidInput("not-written-yet", str(MESSAGES["not-written-yet"]))


TOLERANCE = 1e-4  # of the largest number, unless an exercise has its own: ten times what a check allows in float32
AGREEMENT = TOLERANCE / 2  # how close right functions must be, so that none of them is caught
ABSOLUTE_TOLERANCE = 1e-5  # for numbers that should be 0, as in torch.testing
MAX_EXPLAINED = 3  # messages about inputs that do not count

ALL_CAUGHT = Text(
    en="All {count} wrong versions give themselves away, and the right one passes.",
    zh="{count} 个错误的版本全都露了馅，正确的版本则顺利通过。",
)
SOME_CAUGHT = Text(
    en="Caught: {caught} of {count}. On your inputs the others differ from the right one by less than the tolerance.",
    zh="抓住了 {count} 个中的 {caught} 个。在你的输入上，剩下的与正确版本的差别没有超过容差。",
)
CAUGHT = Text(en="✓ *{name}*: caught by input {inputs}", zh="✓ {name}：被第 {inputs} 组输入抓住")
SURVIVED = Text(en="✗ *{name}*: survived. {needs}", zh="✗ {name}：没有抓住。{needs}")
NOT_COUNTED = Text(en="Input {number} does not count: {why}", zh="第 {number} 组输入不算：{why}")
MORE = Text(en="More inputs that do not count: {count}.", zh="另外还有 {count} 组输入不算。")
STOPS = Text(en="even the right function raises {error}", zh="正确的函数在它上面也会报错：{error}")
NO_NUMBER = Text(
    en="even the right result has NaN or infinity, so it rejects every version.",
    zh="在它上面，连正确的结果也含有 NaN 或无穷大，怪不得任何一个版本。",
)
ROUNDING = Text(
    en="rounding alone makes right versions differ, so it would reject them too. Choose more moderate numbers, in "
    "float32 or float64.",
    zh="在它上面，光是舍入就让几种正确的写法彼此不同，连它们也会被误判。请把数值取得适中些，并用 float32 或 float64。",
)


@dataclass(frozen=True, eq=False)
class Mutant:
    """A known mistake to catch: its id, its name, and a hint at the inputs that catch it."""

    id: str
    name: Text
    hint: Text


@dataclass(frozen=True, eq=False, kw_only=True)
class MutationExercise(Exercise):
    """An exercise that asks for inputs. Its mistakes are those to be caught, with hints at what catches them."""

    original: str  # name of the exercise whose mistakes are to be caught
    mutant_names: dict[str, Text]  # by mistake id
    tolerance: float = TOLERANCE  # a mistake is caught if it differs by more, as a share of the largest number

    @property
    def signature(self) -> str:
        """How the function that gets the inputs is called."""
        return super().signature.replace(self.name, self.original, 1)


def make_mutation_exercise(
    exercise: Exercise, *mutants: Mutant, section: Text, task: Text | None = None, tolerance: float = TOLERANCE
) -> MutationExercise:
    """Make the exercise of catching these mistakes. Headings: section explains them, task sets the exercise."""
    fields = {name: getattr(exercise, name) for name in ("recipe", "kernel", "cases", "lesson")}
    mistakes = tuple(replace(exercise.mistake(m.id), hint=m.hint, section=section, hint_line=None) for m in mutants)
    names = {mutant.id: mutant.name for mutant in mutants}
    fields |= {"name": f"catch_{exercise.name}", "original": exercise.name, "mistakes": mistakes, "mutant_names": names}
    return MutationExercise(**fields, hint_line="", section=task or section, tolerance=tolerance)


def run_mutation_exercise(exercise: MutationExercise, submission: object, patience: float = PATIENCE) -> Verdict:
    """Find out which mistakes show on the inputs: a list of the arguments of calls, or a function that returns one."""
    output = CapturedOutput()
    try:
        with isolated(), TimeLimit(patience) as limit:
            try:
                with isolated(output):
                    inputs = limit.call(partial(_read_inputs, submission))
                return limit.call(partial(_run_mutants, exercise, inputs))
            except InvalidInput as reason:
                return _reject(exercise, reason.id, *reason.messages)
            except Interrupted:
                id = "stopped" if limit.stopped else "interrupted"
                return _reject(exercise, id, MESSAGES[id].format(seconds=patience - limit.remaining))
    finally:
        output.replay()


def _read_inputs(inputs: object) -> list[object]:
    """Return the submitted inputs, calling the submission if it is a function."""
    if not callable(inputs):
        return submitted_inputs(inputs)
    try:
        returned = inputs()
    except Interrupted:
        raise
    except NotImplementedError:
        raise not_written_error() from None
    except BaseException as error:
        message = f"{type_name(error)}: {error_message(error)}"
        where = error_location(Outcome({}, error, failing_line=failing_line(error)))
        raise InvalidInput("raises", MESSAGES["raises"].format(error=message), *where) from None
    return submitted_inputs(returned)


def _run_mutants(exercise: MutationExercise, inputs: list[object]) -> Verdict:
    caught: dict[Mistake, list[int]] = {mistake: [] for mistake in exercise.mistakes}
    rejected = []
    for number, arguments in enumerate(inputs, 1):
        try:
            case = Case(str(number), submitted_arguments(exercise, arguments))
            right = _reference_result(exercise, case)
        except InvalidInput as reason:
            rejected.append(NOT_COUNTED.format(number=number, why=" ".join(reason.messages)))
            continue
        for mistake, by in caught.items():
            if _is_caught(run(by_position(exercise.variant(mistake)), case), right, exercise.tolerance):
                by.append(number)
    more = len(rejected) - MAX_EXPLAINED
    messages = rejected[:MAX_EXPLAINED] + [MORE.format(count=more)] * (more > 0)
    if len(rejected) == len(inputs):
        return _reject(exercise, "no-input-counts", *messages)
    survivors = [mistake for mistake, by in caught.items() if not by]
    messages = [*_describe_mutants(exercise, caught), *messages]
    if survivors:
        summary = SOME_CAUGHT.format(caught=len(caught) - len(survivors), count=len(caught))
        return _reject(exercise, "+".join(mistake.id for mistake in survivors), summary, *messages)
    reset_failures(exercise.name)
    return Verdict(exercise, True, messages=(ALL_CAUGHT.format(count=len(caught)), *messages))


def _describe_mutants(exercise: MutationExercise, caught: dict[Mistake, list[int]]) -> Iterator[str]:
    """Yield a line for every mistake: the inputs that caught it, or the hint."""
    for mistake, by in caught.items():
        name = exercise.mutant_names[mistake.id]
        if by:
            yield CAUGHT.format(name=name, inputs=join_words(by))
        else:
            yield SURVIVED.format(name=name, needs=mistake.hint)


def _reference_result(exercise: MutationExercise, case: Case) -> Tensor:
    """Return the right result in float64. Raises InvalidInput if right functions raise or disagree."""
    recipe = by_position(exercise.variant())
    wide = Case(case.name, cast_floats(case.arguments, torch.float64))
    outcomes = run(by_position(exercise.reference), case), run(recipe, case), run(recipe, wide)
    for outcome in outcomes:
        if outcome.error:
            raise InvalidInput("input", STOPS.format(error=f"{type_name(outcome.error)}: {outcome.message}"))
    results = [_result(outcome) for outcome in outcomes]
    if not all(x.isfinite().all() for x in results):
        raise InvalidInput("input", str(NO_NUMBER))
    *others, right = results
    if not all(_close(x, right, AGREEMENT) for x in others):
        raise InvalidInput("input", str(ROUNDING))
    return right


def _is_caught(outcome: Outcome, right: Tensor, tolerance: float) -> bool:
    return outcome.error is not None or not _close(_result(outcome), right, tolerance)


def _result(outcome: Outcome) -> Tensor:
    return outcome.values["result"].double()


def _close(x: Tensor, y: Tensor, share: float) -> bool:
    return x.shape == y.shape and torch.allclose(x, y, rtol=0, atol=max(share * max_magnitude(y), ABSOLUTE_TOLERANCE))


def _reject(exercise: MutationExercise, mistake: str, *messages: str) -> Verdict:
    """Return the verdict on inputs that do not pass. A stub or a stopped check does not count as a failure."""
    failures = 0 if mistake in ("not-written-yet", "stopped") else count_failure(exercise.name, mistake)
    return Verdict(exercise, False, mistake, messages=messages, failures=failures)
