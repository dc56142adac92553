"""`check` by the name of an exercise."""

import difflib

from blocklab.checks.engine import PATIENCE, check_against
from blocklab.checks.verdict import Verdict
from blocklab.language import Text

from .order import EXERCISES

UNKNOWN_EXERCISE = Text(
    en="There is no exercise {name!r}. Did you mean {near}? All of them: {names}",
    zh="没有名为 {name!r} 的练习。你要找的是不是 {near}？全部练习：{names}",
)


def check(exercise: str, candidate: object, patience: float = PATIENCE) -> Verdict:
    """Check what a learner wrote for an exercise, and name the mistake.

    candidate: the function, or the nn.Module instance or the answer that the exercise asks for. Nothing in it is kept
    or changed. A function that does not come to its end is stopped after `patience` seconds, or by interrupting the
    kernel, and told so.

    Raises ValueError for an exercise that does not exist.
    """
    if exercise not in EXERCISES:
        near = difflib.get_close_matches(str(exercise), EXERCISES, n=1, cutoff=0.0)[0]
        raise ValueError(UNKNOWN_EXERCISE.format(name=exercise, near=near, names=", ".join(EXERCISES)))
    return check_against(EXERCISES[exercise], candidate, patience)
