"""`check`, `catch` and `accepted` by the name of an exercise."""

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
from blocklab_course.model_swap.messages import NOTHING, THESE, WITHOUT_A_NAME
from blocklab_course.model_swap.networks import NETWORKS
from blocklab_course.model_swap.result import SwapResult

from .lessons.catalog import EXERCISES, SAVED_EXERCISES
from .workspace.solutions import save

UNKNOWN_EXERCISE = Text(
    en="There is no exercise {name!r}. Did you mean {near}? All of them: {names}",
    zh="没有名为 {name!r} 的练习。你要找的是不是 {near}？全部练习：{names}",
)

CATCH_PREFIX = "catch_"  # begins the names of exercises that are turned round
CANNOT_CATCH = Text(en="catch wants one of {names}, got {name!r}", zh="catch 可用于 {names}，收到的是 {name!r}")


def check(exercise: str, candidate: object, patience: float = PATIENCE, *, keep: bool = True) -> Verdict:
    """Check what a learner wrote for an exercise, and name the mistake.

    candidate: the function, or the nn.Module instance or the answer that the exercise asks for. Nothing in it is
    changed. A function that does not come to its end is stopped after `patience` seconds, or by interrupting the
    kernel, and told so.
    keep: whether the source of a block that passes is kept in the learner's folder; the verdict says so.

    Raises ValueError for an exercise that does not exist.
    """
    if exercise not in EXERCISES:
        near = difflib.get_close_matches(str(exercise), EXERCISES, n=1, cutoff=0.0)[0]
        raise ValueError(UNKNOWN_EXERCISE.format(name=exercise, near=near, names=join_words(EXERCISES)))
    found = EXERCISES[exercise]
    if isinstance(found, MutationExercise):
        return run_mutation_exercise(found, candidate, patience)
    verdict = check_against(found, candidate, patience)
    said = save(found, candidate) if keep and verdict.passed and exercise in SAVED_EXERCISES else ()
    return replace(verdict, messages=(*verdict.messages, *said))


def checked_or_reference(exercise: str, candidate: Callable) -> Callable:
    """What a learner wrote for an exercise, or the course's own function as long as `check` would not accept it.

    So a lesson goes on with the learner's code, and no one is locked out.
    """
    return candidate if check(exercise, candidate, keep=False) else EXERCISES[exercise].reference


def catch(exercise: str, inputs: object, patience: float = PATIENCE) -> Verdict:
    """Say which known mistakes of an exercise show on inputs that a learner wrote, and what the others need.

        catch("layer_norm", [(x, (4,)), {"x": x, "normalized_shape": (4,), "eps": 0.1}])

    inputs: a list of the arguments of calls, each a tuple or a dict, or a function without arguments that returns one.

    Raises ValueError for an exercise that cannot be turned round so.
    """
    name = f"{CATCH_PREFIX}{exercise}"
    if name not in EXERCISES:
        names = join_words(each.removeprefix(CATCH_PREFIX) for each in EXERCISES if each.startswith(CATCH_PREFIX))
        raise ValueError(CANNOT_CATCH.format(name=exercise, names=names))
    return check(name, inputs, patience)


def plug_in(*unnamed: object, patience: float = SWAP_PATIENCE, **blocks: object) -> SwapResult:
    """Put a block that was written for an exercise into a trained network, and see what comes out.

        plug_in(rms_norm=my_rms_norm)

    One block, by the name of its exercise, as `check` takes it: rms_norm, swiglu, rotary_embedding and attention go
    into SmolLM2, or glassllm where it is not installed or memory is short, layer_norm into MiniLM, batch_norm into
    EfficientNet-Lite0. A block that is not written yet leaves the right one in its place.

    This is no check: a wrong block can say the right thing. What cannot run is told in the result, and no error is
    raised. A block that does not come to its end is stopped after `patience` seconds.
    """
    names = join_words(NETWORKS)
    if unnamed or len(blocks) != 1:
        given = WITHOUT_A_NAME if unnamed else THESE.format(names=join_words(blocks)) if blocks else NOTHING
        return refuse(", ".join(blocks), swap_error("one-block", got=str(given), names=names))
    [(name, candidate)] = blocks.items()
    if name not in NETWORKS:
        return refuse(name, swap_error("unknown-block", name=name, names=names))
    return swap(EXERCISES[name], candidate, patience)
