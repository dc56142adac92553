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

from .lessons.catalog import EXERCISES, SAVED_EXERCISES
from .workspace.solutions import save

UNKNOWN_EXERCISE = Text(
    en="There is no exercise {name!r}. Did you mean {near}? All of them: {names}",
    zh="没有名为 {name!r} 的练习。你要找的是不是 {near}？全部练习：{names}",
)

CATCH_PREFIX = "catch_"  # of exercises in which the learner writes test inputs
CANNOT_CATCH = Text(en="catch: expected one of {names}, got {name!r}", zh="catch 可用于 {names}，收到的是 {name!r}")


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
    if keep and verdict.passed and exercise in SAVED_EXERCISES:
        verdict = replace(verdict, messages=(*verdict.messages, *save(definition, candidate)))
    return verdict


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
    glassllm if SmolLM2 is not installed or memory is short), layer_norm in MiniLM, batch_norm in EfficientNet-Lite0. If
    the solution is not written yet, the network runs with the reference.

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
    return swap(EXERCISES[name], candidate, patience)
