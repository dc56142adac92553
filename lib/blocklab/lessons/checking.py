"""`check` by the name of an exercise."""

import difflib
from dataclasses import replace

from blocklab.checks.engine import PATIENCE, check_against
from blocklab.checks.verdict import Verdict
from blocklab.language import Text

from .keeping import keep_block
from .order import BLOCKS, EXERCISES

UNKNOWN_EXERCISE = Text(
    en="There is no exercise {name!r}. Did you mean {near}? All of them: {names}",
    zh="没有名为 {name!r} 的练习。你要找的是不是 {near}？全部练习：{names}",
)


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
        raise ValueError(UNKNOWN_EXERCISE.format(name=exercise, near=near, names=", ".join(EXERCISES)))
    verdict = check_against(EXERCISES[exercise], candidate, patience)
    said = keep_block(EXERCISES[exercise], candidate) if keep and verdict.passed and exercise in BLOCKS else ()
    return replace(verdict, told=(*verdict.told, *said))
