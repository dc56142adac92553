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

from .cannot_compare import error_location
from .case import Case, cast_floats
from .engine import PATIENCE
from .exercise import Exercise
from .failures import count_failure, reset_failures
from .isolation import CapturedOutput, isolated
from .messages import MESSAGES
from .mistake import Mistake
from .outcome import Outcome, by_position, failing_line, max_magnitude, run
from .safe_repr import error_message, type_name
from .submitted_inputs import InvalidInput, not_written_error, submitted_arguments, submitted_inputs
from .timeout import Interrupted, TimeLimit
from .verdict import Verdict

TOLERANCE = 1e-4  # of the largest number: ten times what a check allows a right function in float32
AGREEMENT = TOLERANCE / 2  # how close right functions must be, so that none of them is caught
ABSOLUTE_TOLERANCE = 1e-5  # for numbers that should be 0, as in torch.testing
MAX_EXPLAINED = 3  # messages about inputs that do not count

ALL_CAUGHT = Text(
    en="All {count} wrong versions give themselves away, and the right one passes.",
    zh="{count} 个错误的版本全都露了馅，正确的版本则顺利通过。",
)
SOME_CAUGHT = Text(
    en="Caught: {caught} of {count}. On your inputs the others cannot be told from the right one.",
    zh="抓住了 {count} 个中的 {caught} 个。剩下的在你的输入上与正确的版本毫无分别。",
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

    @property
    def signature(self) -> str:
        """How the function that gets the inputs is called."""
        return super().signature.replace(self.name, self.original, 1)


def make_mutation_exercise(exercise: Exercise, *mutants: Mutant, section: Text) -> MutationExercise:
    """Make the exercise of catching these mistakes. section: the heading that explains them."""
    fields = {name: getattr(exercise, name) for name in ("recipe", "kernel", "cases", "lesson")}
    mistakes = tuple(replace(exercise.mistake(m.id), hint=m.hint, section=section, hint_line=None) for m in mutants)
    names = {mutant.id: mutant.name for mutant in mutants}
    fields |= {"name": f"catch_{exercise.name}", "original": exercise.name, "mistakes": mistakes, "mutant_names": names}
    return MutationExercise(**fields, hint_line="", section=section)


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
            if _is_caught(run(by_position(exercise.variant(mistake)), case), right):
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


def _is_caught(outcome: Outcome, right: Tensor) -> bool:
    return outcome.error is not None or not _close(_result(outcome), right, TOLERANCE)


def _result(outcome: Outcome) -> Tensor:
    return outcome.values["result"].double()


def _close(x: Tensor, y: Tensor, share: float) -> bool:
    return x.shape == y.shape and torch.allclose(
        x, y, rtol=share, atol=max(share * max_magnitude(y), ABSOLUTE_TOLERANCE)
    )


def _reject(exercise: MutationExercise, mistake: str, *messages: str) -> Verdict:
    """Return the verdict on inputs that do not pass. A stub or a stopped check does not count as a failure."""
    failures = 0 if mistake in ("not-written-yet", "stopped") else count_failure(exercise.name, mistake)
    return Verdict(exercise, False, mistake, messages=messages, failures=failures)
