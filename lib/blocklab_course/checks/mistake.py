"""A known mistake in an exercise: `wrong("plain-mean", share=…).hint(en="…", zh="…")`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from blocklab_course.i18n import Text


@dataclass(frozen=True, eq=False)
class Mistake:
    """A known wrong variant of an exercise's recipe, and the hint for a learner who makes it.

    replaces: replacements of the recipe's steps by name, or a function that replaces the whole recipe. Such a function
        combines with no other mistake.
    shown_on: the name of the input that shows it best. By default the first one on which the variant is wrong.
    section: the heading that explains this mistake, if it is not that of the exercise.
    hint_line: the right line, if it is not that of the exercise.
    value_range: for an answer that is one number, the results strictly between these two, and no others, are this
        mistake.
    """

    id: str
    replaces: dict[str, object] | Callable
    hint: Text
    shown_on: str | None = None
    section: Text | None = None
    hint_line: str | None = None
    value_range: tuple[float, float] | None = None

    def spelled(self, replaces: dict[str, object] | Callable, **fields: object) -> "Mistake":
        """Return the same mistake made by other code, with other results. fields: further fields of Mistake.

        The table then has several rows with this id. A whole function does not enlarge the search for combinations.
        """
        return replace(self, replaces=replaces, **fields)

    def combines_with(self, other: "Mistake") -> bool:
        """Return whether both can be made at once because they replace different steps."""
        steps = isinstance(self.replaces, dict) and isinstance(other.replaces, dict)
        return steps and self.replaces.keys().isdisjoint(other.replaces)


class AnyError(Exception):
    """Raised by the variant of a mistake where the learner's code fails, with whatever error."""


@dataclass(frozen=True, eq=False)
class Wrong:
    """A mistake without its texts: call `hint` to complete it."""

    id: str
    replaces: dict[str, object] | Callable

    def hint(self, *, en: str, zh: str, **fields: object) -> Mistake:
        """Return the Mistake with these hints. fields: further fields of Mistake."""
        return Mistake(self.id, self.replaces, Text(en=en, zh=zh), **fields)


def with_section(section: Text, *mistakes: Mistake, hint_line: str | None = None) -> tuple[Mistake, ...]:
    """Return the mistakes with the heading that explains them in this lesson, and a hint line if they have none."""
    return tuple(replace(m, section=section, hint_line=m.hint_line or hint_line) for m in mistakes)


def exclusive(recipe: Callable, *mistakes: Mistake) -> tuple[Mistake, ...]:
    """Return the mistakes as ones that combine with no other: they make the recipe fail on most inputs."""
    return tuple(replace(m, replaces=partial(recipe, **m.replaces)) for m in mistakes)


def wrong(id: str, whole: Callable | None = None, /, **steps: object) -> Wrong:
    """Define a mistake by replacements of the recipe's steps, or by a function that replaces the whole recipe.

    Raises TypeError if neither or both are given.
    """
    if (whole is None) != bool(steps):
        raise TypeError(f"{id}: a mistake replaces either steps of the recipe or the whole recipe")
    return Wrong(id, steps if whole is None else whole)


Argument = TypeVar("Argument")


def passthrough(argument: Argument) -> Argument:
    return argument
