"""An exercise: the right function, the inputs on which submissions are compared with it, and the known mistakes.

The right function is a recipe of a few replaceable steps. A known mistake replaces one step, so that mistakes in
different steps combine and the engine can recognize several at once.
"""

import inspect
import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

import torch

from blocklab_course.i18n import Text

from .case import EMPTY_INPUT_ADVICE, Case, derived_cases
from .mistake import Mistake
from .outcome import Outcome, run_trusted

SMALL, LARGE = 4, 16  # the sizes at which steps are counted; a loop over one axis takes four times as many at LARGE


@dataclass(frozen=True, eq=False, kw_only=True)
class Exercise:
    """One exercise: its recipe, the inputs, the known mistakes, and what a stuck learner is shown.

    recipe: the right function; its keyword-only arguments are the steps that mistakes replace.
    hint_line: one line of a solution, shown from the second failure with the same mistake on.
    kernel: the library's function if there is one, used as the reference in place of the recipe.
    evaluate: for an answer that is not a function (a number, a tuple of axes), make a function of it. The recipe then
        returns the answer.
    expects: what to submit, in words, if it is not a function.
    module: how to call an nn.Module submitted in place of a function.
    only_module: accept nothing but a Module.
    resize: `resize(module, arguments)` are the arguments in the sizes of a submitted Module.
    own_defaults: settings of a submitted Module, such as its eps, that replace the defaults of the recipe.
    with_all_ranks: for a submitted Module that takes some numbers of axes only, the exercise with all of them.
    scaled_inputs: `scaled_inputs(n)` are arguments of size n. A function whose Python steps grow with n is slow.
    exempt: kinds of input that the exercise cannot have or does not need, each with the reason.
    lesson: the notebook, filled in by the catalog of lessons.
    section: the heading that explains the exercise in that notebook.
    panel: the panel that shows it.
    names: how messages name a value of the result.
    expected_from: the right result is shown from this failure with the same mistake on: 3 if it is the whole answer.
    cached_outcomes: see `expected_outcome`.
    """

    name: str
    recipe: Callable
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    hint_line: str
    kernel: Callable | None = None
    evaluate: Callable[[object], Callable] | None = None
    expects: Text | None = None
    module: Callable | None = None
    only_module: bool = False
    resize: Callable[[torch.nn.Module, dict[str, object]], dict[str, object]] | None = None
    own_defaults: dict[str, object] = field(default_factory=dict)
    with_all_ranks: "Exercise | None" = None
    scaled_inputs: Callable[[int], dict[str, object]] | None = None
    exempt: dict[str, str] = field(default_factory=dict)
    lesson: str = ""
    section: Text | None = None
    panel: Text | None = None
    names: dict[str, Text] = field(default_factory=dict)
    expected_from: int = 1
    cached_outcomes: dict = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        unfinished = [mistake.id for mistake in self.mistakes if not isinstance(mistake, Mistake)]
        if unfinished:
            raise TypeError(f"{self.name}: mistakes without a hint: {', '.join(unfinished)}")

    @cached_property
    def all_cases(self) -> tuple[Case, ...]:
        """The cases of the table, a larger one, an empty one, and those derived from the fullest."""
        changes = self.cases[0].changes
        more = []
        if self.scaled_inputs:
            more.append(Case("larger", self.scaled_inputs(LARGE), changes=changes))
            more.append(Case("empty", self.scaled_inputs(0), changes=changes, advice=EMPTY_INPUT_ADVICE))
        if not self.evaluate:
            defaults = {p.name: p.default for p in self.parameters if p.default is not p.empty}
            more += derived_cases(self.fullest, defaults | self.own_defaults)
        names = {case.name for case in self.cases} | self.exempt.keys()
        return (*self.cases, *(case for case in more if case.name not in names))

    @property
    def fullest(self) -> Case:
        """The case with the most arguments, then with a gradient, then with the most numbers."""
        deciding = (case for case in self.cases if case.advice is None)
        given = {case: sum(x is not None for x in case.arguments.values()) for case in deciding}
        return max(given, key=lambda case: (given[case], case.gradient, case.size))

    @property
    def reference(self) -> Callable:
        return self.kernel or self.variant()

    def variant(self, *mistakes: Mistake) -> Callable:
        """Return the function that makes exactly these mistakes: without any, the recipe."""
        steps = {}
        for mistake in mistakes:
            if callable(mistake.replaces):
                return mistake.replaces
            steps |= mistake.replaces
        if self.evaluate:
            return self.evaluate(steps["answer"] if "answer" in steps else self.recipe(**steps))
        return partial(self.recipe, **steps)

    def combinations(self, count: int, among: Collection[Mistake] | None = None) -> Iterator[tuple[Mistake, ...]]:
        """Yield the sets of `count` mistakes, of all or of those in `among`, that can be made at once."""
        possible = [mistake for mistake in self.mistakes if among is None or mistake in among]
        for mistakes in itertools.combinations(possible, count):
            if all(one.combines_with(other) for one, other in itertools.combinations(mistakes, 2)):
                yield mistakes

    def mistake(self, name: str) -> Mistake:
        return next(mistake for mistake in self.mistakes if mistake.id == name)

    def find_mistake(self, verdict_mistake: str | None) -> Mistake | None:
        """Return the known mistake that a verdict's `mistake` names, the first of several, or None."""
        first = (verdict_mistake or "").split("+")[0]
        return next((mistake for mistake in self.mistakes if mistake.id == first), None)

    def section_for(self, verdict_mistake: str | None) -> Text | None:
        """Return the heading that explains a verdict's `mistake`, or else the exercise."""
        mistake = self.find_mistake(verdict_mistake)
        return (mistake and mistake.section) or self.section

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """The recipe's arguments without its steps."""
        parameters = inspect.signature(self.recipe).parameters.values()
        return [parameter for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]

    @property
    def signature(self) -> str:
        """How the function is called."""
        shown = [str(parameter.replace(annotation=parameter.empty)) for parameter in self.parameters]
        return f"{self.name}({', '.join(shown)})"


MAX_CACHED = 2**14  # numbers; the results of larger inputs are not cached


def expected_outcome(exercise: Exercise, mistakes: tuple[Mistake, ...], case: Case) -> Outcome:
    """Return the outcome of the variant with these mistakes on an input: without mistakes, the right outcome.

    It is deterministic and nobody writes into it, so outcomes of at most one mistake are cached across checks.
    """
    key = mistakes, id(case.arguments)
    if key not in exercise.cached_outcomes:
        function = exercise.variant(*mistakes) if mistakes else exercise.reference
        outcome = run_trusted(function, case)
        if (
            len(mistakes) > 1
            or case.size > MAX_CACHED
            or not any(case.arguments is c.arguments for c in exercise.all_cases)
        ):
            return outcome
        exercise.cached_outcomes[key] = outcome
    return exercise.cached_outcomes[key]


A_NUMBER = Text(en="a number", zh="一个数")


def to_number(answer: object) -> float:
    """Convert a number, tensor, fraction or NumPy scalar to float. Raises TypeError for a str."""
    if isinstance(answer, str | bytes):
        raise TypeError(answer)
    return float(answer)


def one_number(
    answer: float, result_name: Text, expects: Text = A_NUMBER, tolerance: float = 1e-5, **fields
) -> Exercise:
    """Make an exercise whose answer is one number, with mistakes such as `wrong("too-large", answer=1.0)`.

    result_name: what the number is. expects: what to submit. fields: further fields of Exercise.
    """
    return Exercise(
        recipe=lambda: answer,
        evaluate=lambda answer: lambda: torch.tensor(to_number(answer)),
        expects=expects,
        names={"result": result_name},
        cases=(Case("number", {}, tolerance=tolerance),),
        expected_from=3,
        **fields,
    )
