"""Check and catch mistakes by the name of an exercise; run a solution inside a trained network."""

import difflib
from collections.abc import Callable
from dataclasses import replace

from blocklab_course.checks.engine import PATIENCE, check_against
from blocklab_course.checks.mutation_testing import MutationExercise, run_mutation_exercise
from blocklab_course.checks.verdict import Verdict
from blocklab_course.i18n import Text, join_words
from blocklab_course.model_swap.engine import PATIENCE as SWAP_PATIENCE
from blocklab_course.model_swap.engine import refuse, swap
from blocklab_course.model_swap.errors import swap_error
from blocklab_course.model_swap.messages import NOTHING, THESE, UNNAMED
from blocklab_course.model_swap.networks import NETWORKS
from blocklab_course.model_swap.result import SwapResult

from .lessons.catalog import EXERCISES, SAVED_EXERCISES, lessons_that_run
from .workspace.solutions import count_saved, save

UNKNOWN_EXERCISE = Text(
    en="There is no exercise {name!r}. Did you mean {near}? All of them: {names}",
    zh="没有名为 {name!r} 的练习。你要找的是不是 {near}？全部练习：{names}",
)

CATCH_PREFIX = "catch_"  # of exercises in which the learner writes test inputs
CANNOT_CATCH = Text(en="catch: expected one of {names}, got {name!r}", zh="catch 可用于 {names}，收到的是 {name!r}")

RUN_BY_ONE = Text(en="Lesson {lessons} runs yours from now on.", zh="从现在起，第 {lessons} 课用的是你写的。")
RUN_BY = Text(en="Lessons {lessons} run yours from now on.", zh="从现在起，第 {lessons} 课用的都是你写的。")
TWO_SENTENCES = Text(en="{first} {second}", zh="{first}{second}")
BLOCKS = Text(en="{count} of {total} blocks saved.", zh="已保存 {count}/{total} 个模块。")

_passed: dict[str, object] = {}
"""For each exercise, the solution that passed `check` last in this session."""


def check(exercise: str, candidate: object, patience: float = PATIENCE, *, keep: bool = True) -> Verdict:
    """Check a solution of an exercise, and name the mistake in it.

    Args:
        candidate: the function, Module instance or answer that the exercise asks for. It is not changed.
        patience: seconds after which a function that is still running is stopped. Interrupting the Jupyter kernel
            stops it as well.
        keep: save a passing solution to the learner's folder, if later lessons use it; the verdict says so.

    Raises ValueError if there is no such exercise.
    """
    if exercise not in EXERCISES:
        near = difflib.get_close_matches(str(exercise), EXERCISES, n=1, cutoff=0.0)[0]
        raise ValueError(UNKNOWN_EXERCISE.format(name=exercise, near=near, names=join_words(EXERCISES)))
    definition = EXERCISES[exercise]
    if isinstance(definition, MutationExercise):
        return run_mutation_exercise(definition, candidate, patience)
    verdict = check_against(definition, candidate, patience)
    if verdict.passed:
        _passed[exercise] = candidate
    elif has_passed(exercise, candidate):
        del _passed[exercise]
    if keep and verdict.passed and exercise in SAVED_EXERCISES:
        saved, messages = save(definition, candidate)
        unlocks = unlocked_by(exercise) if saved else ""
        verdict = replace(verdict, messages=(*verdict.messages, *messages), unlocks=unlocks)
    return verdict


def has_passed(exercise: str, candidate: object) -> bool:
    """Whether this very solution was the last one to pass `check` in this session."""
    return exercise in _passed and _passed[exercise] is candidate


def unlocked_by(exercise: str) -> str:
    """Which lessons run the saved solution of an exercise, and how many solutions are saved."""
    numbers = [f"{lesson.number:02}" for lesson in lessons_that_run(exercise)]
    run = (RUN_BY if len(numbers) > 1 else RUN_BY_ONE).format(lessons=join_words(numbers)) if numbers else ""
    blocks = BLOCKS.format(count=count_saved(), total=len(SAVED_EXERCISES))
    return TWO_SENTENCES.format(first=run, second=blocks) if run else blocks


def checked_or_reference(exercise: str, candidate: Callable) -> Callable:
    """The learner's solution if it passes `check`, otherwise the reference.

    A lesson continues with the learner's code where it can, and nobody is stuck at an exercise.
    """
    return candidate if check(exercise, candidate, keep=False) else EXERCISES[exercise].reference


def catch(exercise: str, inputs: object, patience: float = PATIENCE) -> Verdict:
    """Run the known mistakes of an exercise on inputs that a learner wrote, and report which ones the inputs miss.

        catch("layer_norm", [(x, (4,)), {"x": x, "normalized_shape": (4,), "eps": 0.1}])

    inputs: a list with the arguments of each call, as a tuple or a dict; or a function that returns such a list.

    Raises ValueError if the exercise does not support this.
    """
    name = f"{CATCH_PREFIX}{exercise}"
    if name not in EXERCISES:
        names = join_words(each.removeprefix(CATCH_PREFIX) for each in EXERCISES if each.startswith(CATCH_PREFIX))
        raise ValueError(CANNOT_CATCH.format(name=exercise, names=names))
    return check(name, inputs, patience)


def plug_in(*positional: object, patience: float = SWAP_PATIENCE, **blocks: object) -> SwapResult:
    """Run a trained network with a solution of an exercise inside.

        plug_in(rms_norm=my_rms_norm)

    Pass one solution by the name of its exercise: rms_norm, swiglu, rotary_embedding and attention run in SmolLM2 (in
    glassllm if SmolLM2 is not installed or memory is short), layer_norm in MiniLM, batch_norm in EfficientNet-Lite0,
    before and after ten batches in train(). If the solution is not written yet, the network runs with the reference.

    This does not check the solution: the output can be right although the solution is wrong. If it cannot run, or is
    stopped after `patience` seconds, the result says so; no error is raised.
    """
    names = join_words(NETWORKS)
    if positional or len(blocks) != 1:
        given = UNNAMED if positional else THESE.format(names=join_words(blocks)) if blocks else NOTHING
        return refuse(", ".join(blocks), swap_error("one-block", got=str(given), names=names))
    [(name, candidate)] = blocks.items()
    if name not in NETWORKS:
        return refuse(name, swap_error("unknown-block", name=name, names=names))
    return swap(EXERCISES[name], candidate, patience, proved=has_passed(name, candidate))
