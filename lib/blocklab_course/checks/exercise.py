"""An exercise: the right function, the inputs on which others are compared with it, and the mistakes that are known.

The right function is a recipe, written as a few replaceable steps. A known mistake replaces one step, so mistakes in
different steps can be put together, and a checker can recognize several at once.
"""

import inspect
import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

from blocklab_course.i18n import Text

from .case import EMPTY_INPUT_ADVICE, Case
from .derived_cases import derived_cases
from .mistake import Mistake

SMALL, LARGE = 4, 16  # the sizes at which steps are counted; a loop over one axis then takes four times as many


@dataclass(frozen=True, eq=False, kw_only=True)
class Exercise:
    """One exercise: its recipe, the inputs, the known mistakes, and what a stuck learner is shown.

    `kernel` is the package's own function, where it has one; without it the recipe is the reference. `use` makes a
    function of an answer that is not one (a number, a tuple of axes), whose recipe gives it, from steps where mistakes
    are in parts of it; `wants` says in words what to hand in. `module`
    calls an nn.Module that was handed in instead of a function. `growing(n)` are arguments of size n: a function whose
    Python steps grow with n loops where torch would not. `without` are kinds of input that it cannot have, or need not,
    each with the reason. `line` is one line of a solution, shown to who is stuck; `expected_from`, the failure of one
    kind from which on the right result is shown, 3 where it is the whole answer. `section` is the heading that explains
    it, in the notebook `lesson`, which the list of lessons fills in.
    """

    name: str
    recipe: Callable
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    line: str
    kernel: Callable | None = None
    evaluate: Callable[[object], Callable] | None = None
    expects: Text | None = None
    module: Callable | None = None
    only_module: bool = False
    scaled_inputs: Callable[[int], dict[str, object]] | None = None
    exempt: dict[str, str] = field(default_factory=dict)
    lesson: str = ""
    section: Text | None = None
    panel: Text | None = None
    names: dict[str, Text] = field(default_factory=dict)
    expected_from: int = 1
    found: dict = field(default_factory=dict, init=False, repr=False)  # see `known.given`

    def __post_init__(self):
        unfinished = [row.id for row in self.mistakes if not isinstance(row, Mistake)]
        if unfinished:
            raise TypeError(f"{self.name}: rows without a hint: {', '.join(unfinished)}")

    @cached_property
    def all_cases(self) -> tuple[Case, ...]:
        """The cases of the table, a larger one, an empty one, and variations of the fullest."""
        changes = self.cases[0].changes
        more = []
        if self.scaled_inputs:
            more.append(Case("larger", self.scaled_inputs(LARGE), changes=changes))
            more.append(Case("empty", self.scaled_inputs(0), changes=changes, advice=EMPTY_INPUT_ADVICE))
        if not self.evaluate:
            defaults = {p.name: p.default for p in self.parameters if p.default is not p.empty}
            more += derived_cases(self.fullest, defaults)
        names = {case.name for case in self.cases} | self.exempt.keys()
        return (*self.cases, *(case for case in more if case.name not in names))

    @property
    def fullest(self) -> Case:
        """The case of the table that says most: the most arguments, then a gradient, then the most numbers."""
        deciding = (case for case in self.cases if case.advice is None)
        given = {case: sum(x is not None for x in case.arguments.values()) for case in deciding}
        return max(given, key=lambda case: (given[case], case.gradient, case.size))

    @property
    def reference(self) -> Callable:
        return self.kernel or self.variant()

    def variant(self, *mistakes: Mistake) -> Callable:
        """The function that makes these mistakes, and no other; without any, the right one."""
        steps = {}
        for mistake in mistakes:
            if callable(mistake.replaces):
                return mistake.replaces
            steps |= mistake.replaces
        if self.evaluate:
            return self.evaluate(steps["answer"] if "answer" in steps else self.recipe(**steps))
        return partial(self.recipe, **steps)

    def combinations(self, count: int, among: Collection[Mistake] | None = None) -> Iterator[tuple[Mistake, ...]]:
        """The sets of so many mistakes, of all or of those `among` them, that can be made at once."""
        possible = [mistake for mistake in self.mistakes if among is None or mistake in among]
        for mistakes in itertools.combinations(possible, count):
            if all(one.together(other) for one, other in itertools.combinations(mistakes, 2)):
                yield mistakes

    def mistake(self, name: str) -> Mistake:
        return next(mistake for mistake in self.mistakes if mistake.id == name)

    def row(self, told: str | None) -> Mistake | None:
        """The row of a verdict's `mistake`, of several the first; None for what no row tells."""
        first = (told or "").split("+")[0]
        return next((mistake for mistake in self.mistakes if mistake.id == first), None)

    def section_about(self, told: str | None) -> Text | None:
        """The heading that explains a verdict's `mistake`, or the exercise where no row names one."""
        row = self.row(told)
        return (row and row.section) or self.section

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
