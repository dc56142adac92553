"""An exercise turned round: a learner hands in inputs, and known mistakes of the exercise have to show on them.

An input counts where right functions agree: the table's recipe, in the type of the input and in float64, and the
package's own function. So what tells a mistake there is the mistake, and no rounding.
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

TOLERANCE = 1e-4  # of the largest number: ten times what a right function in float32 is allowed, as a tester would
AGREEMENT = TOLERANCE / 2  # how close right functions have to be, so that none of them is told wrong
ABSOLUTE_TOLERANCE = 1e-5  # what torch.testing allows, too, of a number that ought to be 0
MAX_EXPLAINED = 3  # inputs that do not count

ALL_CAUGHT = Text(
    en="All {count} wrong versions give themselves away, and the right one passes.",
    zh="{count} 个错误的版本全都露了馅，正确的版本则顺利通过。",
)
SOME_CAUGHT = Text(
    en="Caught: {caught} of {count}. The others pass your inputs as if they were right.",
    zh="抓住了 {count} 个中的 {caught} 个。剩下的在你的输入上与正确的版本毫无分别。",
)
CAUGHT = Text(en="✓ *{name}*: caught by input {inputs}", zh="✓ {name}：被第 {inputs} 组输入抓住")
SURVIVED = Text(en="✗ *{name}*: survived. {needs}", zh="✗ {name}：没有抓住。{needs}")
NOT_COUNTED = Text(en="Input {number} does not count: {why}", zh="第 {number} 组输入不算：{why}")
MORE = Text(en="Inputs that do not count either: {count}.", zh="另外还有 {count} 组输入不算。")
STOPS = Text(en="the right function stops at it with {error}", zh="正确的函数在它上面也会报错：{error}")
NO_NUMBER = Text(
    en="even the right result holds NaN or infinity there, so it condemns every version.",
    zh="在它上面，连正确的结果也含有 NaN 或无穷大，怪不得任何一个版本。",
)
ROUNDING = Text(
    en="there rounding alone makes right versions differ from each other, so it would condemn them too. Choose numbers "
    "of more moderate size, in float32 or float64.",
    zh="在它上面，光是舍入就让几种正确的写法彼此不同，连它们也会被误判。请把数值取得适中些，并用 float32 或 float64。",
)


@dataclass(frozen=True, eq=False)
class Mutant:
    """A known mistake that inputs have to catch: its row's id, its name, and what an input must have to tell it."""

    id: str
    name: Text
    needs: Text


@dataclass(frozen=True, eq=False, kw_only=True)
class MutationExercise(Exercise):
    """An exercise turned round. Its mistakes are those to be caught, its rows say what catches them."""

    of: str  # the exercise's own name
    called: dict[str, Text]  # by the ids of the mistakes

    @property
    def signature(self) -> str:
        """How the function is called for which the inputs are."""
        return super().signature.replace(self.name, self.of, 1)


def make_mutation_exercise(exercise: Exercise, *mutants: Mutant, section: Text) -> MutationExercise:
    """The exercise turned round, for these mistakes of its table. section: the heading that explains them."""
    fields = {name: getattr(exercise, name) for name in ("recipe", "kernel", "cases", "lesson")}
    rows = tuple(replace(exercise.mistake(m.id), hint=m.needs, section=section, line=None) for m in mutants)
    names = {mutant.id: mutant.name for mutant in mutants}
    own = {"name": f"catch_{exercise.name}", "of": exercise.name, "mistakes": rows, "called": names}
    return MutationExercise(**fields, **own, line="", section=section)


def run_mutation_exercise(catch: MutationExercise, handed_in: object, patience: float = PATIENCE) -> Verdict:
    """Which of the mistakes show on the inputs: a list of calls' arguments, or a function that returns one."""
    sheet = CapturedOutput()
    try:
        with isolated(), TimeLimit(patience) as watch:
            try:
                with isolated(sheet):
                    inputs = watch.call(partial(_read_inputs, handed_in))
                return watch.call(partial(_run_mutants, catch, inputs))
            except InvalidInput as reason:
                return _reject(catch, reason.id, *reason.messages)
            except Interrupted:
                id = "stopped" if watch.stopped else "interrupted"
                return _reject(catch, id, MESSAGES[id].format(seconds=patience - watch.left))
    finally:
        sheet.hand_on()


def _read_inputs(inputs: object) -> list[object]:
    """The inputs as they were handed in, by a function too."""
    if not callable(inputs):
        return submitted_inputs(inputs)
    try:
        returned = inputs()
    except Interrupted:
        raise
    except NotImplementedError:
        raise not_written_error() from None
    except BaseException as error:
        said = f"{type_name(error)}: {error_message(error)}"
        where = error_location(Outcome({}, error, line=failing_line(error)))
        raise InvalidInput("raises", MESSAGES["raises"].format(error=said), *where) from None
    return submitted_inputs(returned)


def _run_mutants(catch: MutationExercise, inputs: list[object]) -> Verdict:
    caught: dict[Mistake, list[int]] = {mistake: [] for mistake in catch.mistakes}
    notes = []
    for number, one in enumerate(inputs, 1):
        try:
            case = Case(str(number), submitted_arguments(catch, one))
            right = _reference_result(catch, case)
        except InvalidInput as reason:
            notes.append(NOT_COUNTED.format(number=number, why=" ".join(reason.messages)))
            continue
        for mistake, by in caught.items():
            if _is_caught(run(by_position(catch.variant(mistake)), case), right):
                by.append(number)
    more = len(notes) - MAX_EXPLAINED
    told = notes[:MAX_EXPLAINED] + [MORE.format(count=more)] * (more > 0)
    if len(notes) == len(inputs):
        return _reject(catch, "no-input-counts", *told)
    survivors = [mistake for mistake, by in caught.items() if not by]
    told = [*_describe_mutants(catch, caught), *told]
    if survivors:
        said = SOME_CAUGHT.format(caught=len(caught) - len(survivors), count=len(caught))
        return _reject(catch, "+".join(mistake.id for mistake in survivors), said, *told)
    reset_failures(catch.name)
    return Verdict(catch, True, messages=(ALL_CAUGHT.format(count=len(caught)), *told))


def _describe_mutants(catch: MutationExercise, caught: dict[Mistake, list[int]]) -> Iterator[str]:
    """A line for every mistake: by which inputs it was caught, or what an input must have."""
    for mistake, by in caught.items():
        name = catch.called[mistake.id]
        if by:
            yield CAUGHT.format(name=name, inputs=join_words(by))
        else:
            yield SURVIVED.format(name=name, needs=mistake.hint)


def _reference_result(catch: MutationExercise, case: Case) -> Tensor:
    """What is right, in float64. Raises NotUsable where right functions do not agree, or stop."""
    recipe = by_position(catch.variant())
    wide = Case(case.name, cast_floats(case.arguments, torch.float64))
    outcomes = run(by_position(catch.reference), case), run(recipe, case), run(recipe, wide)
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


def _reject(catch: MutationExercise, mistake: str, *told: str) -> Verdict:
    """The verdict on inputs that miss something. What is not begun, or not done, is no failure."""
    stuck = 0 if mistake in ("not-written-yet", "stopped") else count_failure(catch.name, mistake)
    return Verdict(catch, False, mistake, messages=told, failures=stuck)
