"""What a table of known mistakes is made of.

An exercise is a recipe: the right function, written as a few replaceable steps. A known mistake replaces one step, so
mistakes in different steps can be put together, and a checker can recognize several at once.
"""

import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import torch
from torch import Tensor

from blocklab.language import Text

SMALL, LARGE = 4, 16  # the sizes at which steps are counted; a loop over one axis then takes four times as many


@dataclass(frozen=True, eq=False)
class Advice:
    """What a function is told that is right but weak on one input, and by what its weakness is recognized there.

    `like`: weak functions, one of which gives the same. `within`: the result is off by no more than this, as a share
    of its largest number. `milder`: other arguments, on which the function is right; then its result here has to be
    right in shape and type alone. `raises`: it stops with such an error. `endless`: it does not come to its end.
    """

    text: Text
    like: tuple[Callable, ...] = ()
    within: float = 0.0
    milder: dict[str, object] | None = None
    raises: tuple[type[Exception], ...] = ()
    endless: bool = False


@dataclass(frozen=True, eq=False)
class Case:
    """One input on which the functions are compared.

    `arguments` are passed by position, in this order; leaving some out tests their defaults. `gradient`: compare the
    gradients of all float tensors too. `changes`: the arguments that the function is meant to write into. A function
    that differs on a case with an `advice`, and there as the advice describes, is not wrong: it is praised and advised.
    """

    name: str
    arguments: dict[str, object]
    gradient: bool = False
    changes: tuple[str, ...] = ()
    tolerance: float = 1e-5
    advice: Advice | None = None

    def fresh(self) -> dict[str, object]:
        """The arguments with tensors of their own, so that no function can spoil another's input."""
        return {name: x.clone() if isinstance(x, Tensor) else x for name, x in self.arguments.items()}

    def in_type(self, dtype: torch.dtype) -> "Case":
        """The same input in another floating point type."""
        return replace(self, name=str(dtype).removeprefix("torch."), arguments=in_type(self.arguments, dtype))

    @property
    def size(self) -> int:
        """How many numbers a reader would have to look at."""
        return sum(x.numel() if isinstance(x, Tensor) else 1 for x in self.arguments.values())


def is_float(x: object) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point()


def in_type(arguments: dict[str, object], dtype: torch.dtype) -> dict[str, object]:
    """The arguments with all float tensors in another floating point type."""
    return {name: x.to(dtype) if is_float(x) else x for name, x in arguments.items()}


@dataclass(frozen=True, eq=False)
class Mistake:
    """A known wrong variant: what it does instead, what to tell the learner, and the input that shows it best.

    `instead` maps names of steps of the exercise's recipe to what replaces them; a function replaces the recipe whole,
    and then it combines with no other mistake.
    """

    id: str
    instead: dict[str, object] | Callable
    hint: Text
    shows: str

    def together(self, other: "Mistake") -> bool:
        """Whether both can be made at once: each replaces steps of its own."""
        steps = isinstance(self.instead, dict) and isinstance(other.instead, dict)
        return steps and self.instead.keys().isdisjoint(other.instead)


@dataclass(frozen=True)
class Section:
    """The place in the lessons that explains an exercise."""

    lesson: str
    heading: Text


@dataclass(frozen=True, eq=False, kw_only=True)
class Exercise:
    """One exercise: its recipe, the inputs, the known mistakes, and what a stuck learner is shown.

    `kernel` is the package's own function, where it has one; without it the recipe is the reference. `use` makes a
    function of an answer that is not one (a number, a tuple of axes); `wants` says in words what to hand in. `module`
    calls an nn.Module that was handed in instead of a function. `growing(n)` are arguments of size n: a function whose
    Python steps grow with n loops where torch would not. `line` is one line of a solution, shown to who is stuck.
    """

    name: str
    lesson: str
    recipe: Callable
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    line: str
    kernel: Callable | None = None
    use: Callable[[object], Callable] | None = None
    wants: Text | None = None
    module: Callable | None = None
    only_module: bool = False
    growing: Callable[[int], dict[str, object]] | None = None
    in_float64: bool = True
    section: Section | None = None
    panel: Text | None = None
    names: dict[str, Text] = field(default_factory=dict)

    @cached_property
    def all_cases(self) -> tuple[Case, ...]:
        """The cases of the table, a larger one, and where the numbers are float tensors the first one in float64."""
        first = self.cases[0]
        more = [Case("larger", self.growing(LARGE), changes=first.changes)] if self.growing else []
        if self.in_float64 and any(map(is_float, first.arguments.values())):
            more.append(replace(first.in_type(torch.float64), gradient=False))
        return (*self.cases, *more)

    @property
    def reference(self) -> Callable:
        return self.kernel or self.variant()

    def variant(self, *mistakes: Mistake) -> Callable:
        """The function that makes these mistakes, and no other; without any, the right one."""
        steps = {}
        for mistake in mistakes:
            if callable(mistake.instead):
                return mistake.instead
            steps |= mistake.instead
        if self.use:
            return self.use(steps["answer"] if steps else self.recipe())
        return partial(self.recipe, **steps)

    def combinations(self, count: int) -> Iterator[tuple[Mistake, ...]]:
        """The sets of so many mistakes that can be made at once."""
        for mistakes in itertools.combinations(self.mistakes, count):
            if all(one.together(other) for one, other in itertools.combinations(mistakes, 2)):
                yield mistakes

    def mistake(self, name: str) -> Mistake:
        return next(mistake for mistake in self.mistakes if mistake.id == name)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The recipe's arguments without its steps."""
        parameters = inspect.signature(self.recipe).parameters.values()
        return [parameter for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]

    @property
    def signature(self) -> str:
        """How the function is called."""
        shown = [str(parameter.replace(annotation=parameter.empty)) for parameter in self.parameters]
        return f"{self.name}({', '.join(shown)})"
