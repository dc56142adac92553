"""One row of a table of known mistakes: `wrong("plain-mean", share=…).hint(en="…", zh="…")`."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from blocklab_course.i18n import Text


@dataclass(frozen=True, eq=False)
class Mistake:
    """A known wrong variant: what it does instead, what to tell the learner, and the input that shows it best.

    `instead` maps names of steps of the exercise's recipe to what replaces them; a function replaces the recipe whole,
    and then it combines with no other mistake. `shows` is the name of an input; without it the first one of the
    exercise is shown on which the variant is wrong. `section` is the heading that explains this mistake and `line` the
    line that is right instead, where they are not those of the exercise. `between`, for an answer that is one number:
    every result strictly between these two is this mistake.
    """

    id: str
    replaces: dict[str, object] | Callable
    hint: Text
    shown_on: str | None = None
    section: Text | None = None
    line: str | None = None
    value_range: tuple[float, float] = (math.inf, -math.inf)

    def together(self, other: "Mistake") -> bool:
        """Whether both can be made at once: each replaces steps of its own."""
        steps = isinstance(self.replaces, dict) and isinstance(other.replaces, dict)
        return steps and self.replaces.keys().isdisjoint(other.replaces)


@dataclass(frozen=True, eq=False)
class Wrong:
    """A row up to its words; its `hint` makes the Mistake of it."""

    id: str
    replaces: dict[str, object] | Callable

    def hint(self, *, en: str, zh: str, **more: object) -> Mistake:
        """more: the fields of Mistake that this row has besides."""
        return Mistake(self.id, self.replaces, Text(en=en, zh=zh), **more)


def with_section(section: Text, *rows: Mistake, line: str | None = None) -> tuple[Mistake, ...]:
    """Rows, shared ones too, with the heading that explains them in this lesson, and a line that is right instead."""
    return tuple(replace(row, section=section, line=row.line or line) for row in rows)


def exclusive(recipe: Callable, *rows: Mistake) -> tuple[Mistake, ...]:
    """Rows that stop the recipe on most inputs, and so hide what else is wrong: they are told by themselves only."""
    return tuple(replace(row, replaces=partial(recipe, **row.replaces)) for row in rows)


def wrong(id: str, whole: Callable | None = None, /, **steps: object) -> Wrong:
    """Begin a row: what replaces steps of the recipe, by their names, or a function that replaces the whole.

    Raises TypeError for a row that replaces nothing, or both.
    """
    if (whole is None) != bool(steps):
        raise TypeError(f"{id}: a row replaces either steps of the recipe or the whole of it")
    return Wrong(id, steps if whole is None else whole)
