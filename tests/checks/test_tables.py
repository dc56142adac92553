"""Every known mistake is named, and every right solution passes."""

import functools
import inspect
import itertools
import os
import random
import re
from pathlib import Path

import pytest
from right import ADVISED, RIGHT
from tables import TABLES
from wrong import WRONG as ATTEMPTS

from blocklab.transformer import EncoderLayer
from blocklab_course import check
from blocklab_course.checks import diagnosis
from blocklab_course.checks.counterexample import format_value
from blocklab_course.checks.exercise import expected_outcome
from blocklab_course.checks.outcome import by_position, first_difference, run
from blocklab_course.i18n import Text

WRONG = [(exercise, mistake) for exercise in TABLES.values() for mistake in exercise.mistakes]
NAMED_WRONG = [pytest.param(*pair, id=f"{pair[0].name}:{pair[1].id}") for pair in WRONG]
WITH_SHOWN_ON = list(dict.fromkeys(mistake for _exercise, mistake in WRONG if mistake.shown_on))
SOLUTIONS = [
    pytest.param(exercise, solution, (), id=f"{exercise}:{name}", marks=[pytest.mark.exhaustive] * (name == "compiled"))
    for exercise, solutions in RIGHT.items()
    for name, solution in solutions.items()
] + [
    pytest.param(exercise, *pair, id=f"{exercise}:{name}")
    for exercise, pairs in ADVISED.items()
    for name, pair in pairs.items()
]
WRONG_ATTEMPTS = [
    pytest.param(exercise, attempt, id=f"{exercise}:{name}")
    for exercise, attempts in ATTEMPTS.items()
    for name, attempt in attempts.items()
]
LESSONS = Path(__file__).parents[2] / "notebooks" / "source"
PAIRS = 40  # tested of an exercise's hundreds; set ALL_PAIRS in the environment to test all, which takes minutes
EACH = pytest.mark.parametrize("exercise", TABLES.values(), ids=TABLES)


def as_answer(exercise, *mistakes):
    """Return what a learner who makes these mistakes submits: a function, a Module, or the answer itself."""
    if exercise.evaluate:
        steps = {step: other for mistake in mistakes for step, other in mistake.replaces.items()}
        return steps["answer"] if "answer" in steps else exercise.recipe(**steps)
    function = exercise.variant(*mistakes)
    return AsLayer(function) if exercise.only_module else lambda *given: function(*given)  # code of the learner's own


class AsLayer(EncoderLayer):
    """A Module with the right parameters, whose forward is a variant of the recipe."""

    def __init__(self, function):
        super().__init__(8, 2, 12)
        self.function = function

    def forward(self, src, src_mask=None):
        return self.function(src, self.norm_first, src_mask)


def outcomes(exercise, *mistakes):
    call = by_position(exercise.variant(*mistakes))
    return [run(call, case) for case in exercise.cases]


@functools.cache
def right_outcomes(name):
    return outcomes(TABLES[name])


@functools.cache
def wrong_inputs(name, mistake):
    """Return the cases on which a mistake shows, in order: those without advice, if there are any."""
    cases = zip(TABLES[name].cases, outcomes(TABLES[name], mistake), right_outcomes(name), strict=True)
    shown_on = [case for case, got, wanted in cases if first_difference(got, wanted, case.tolerance)]
    return [case for case in shown_on if case.advice is None] or shown_on


def agree(exercise, one, other):
    """Return whether two lists of outcomes agree on all cases without advice."""
    deciding = [place for place, case in enumerate(exercise.cases) if case.advice is None]
    return all(first_difference(one[i], other[i], exercise.cases[i].tolerance) is None for i in deciding)


@pytest.mark.parametrize(("exercise", "mistake"), NAMED_WRONG)
def test_known_mistake_is_named(exercise, mistake):
    verdict = check(exercise.name, as_answer(exercise, mistake))
    assert not verdict.passed
    assert verdict.mistake == mistake.id
    assert verdict.messages[0] == str(exercise.mistake(mistake.id).hint)
    wrong_on = wrong_inputs(exercise.name, mistake)
    shown = next((case for case in wrong_on if case.name == mistake.shown_on), wrong_on[0])
    if verdict.counterexample:
        assert dict(verdict.counterexample.arguments) == {name: format_value(x) for name, x in shown.arguments.items()}


@pytest.mark.parametrize(("exercise", "solution", "advice"), SOLUTIONS)
def test_right_solution_passes(exercise, solution, advice):
    verdict = check(exercise, solution, patience=60)  # compiling takes long
    assert verdict.passed, str(verdict)
    assert set(verdict.advice) == set(advice)


@pytest.mark.parametrize(("exercise", "attempt"), WRONG_ATTEMPTS)
def test_wrong_attempt_fails(exercise, attempt):
    candidate, names = attempt if isinstance(attempt, tuple) else (attempt, None)
    verdict = check(exercise, candidate)
    assert not verdict.passed, str(verdict)
    assert names is None or verdict.mistake in names


@EACH
def test_recipe_passes(exercise):
    assert not any(outcome.error or outcome.mutated for outcome in right_outcomes(exercise.name))
    assert check(exercise.name, as_answer(exercise)).passed


@pytest.mark.parametrize("mistake", WITH_SHOWN_ON, ids=lambda mistake: mistake.id)
def test_shown_on_differs_from_default_input(mistake):
    same = mistake.id, mistake.hint  # exercises may put it in different sections
    users = [e for e in TABLES.values() if any((m.id, m.hint) == same for m in e.mistakes)]
    wrong_on = [[case.name for case in wrong_inputs(exercise.name, mistake)] for exercise in users]
    assert all(mistake.shown_on in names for names in wrong_on)
    assert any(mistake.shown_on != names[0] for names in wrong_on)


@EACH
@pytest.mark.exhaustive
def test_mistakes_differ_from_each_other(exercise):
    found = [(m.id, outcomes(exercise, m)) for m in exercise.mistakes if m.value_range is None]
    pairs = itertools.combinations(found, 2)
    alike = [(a, b) for (a, one), (b, other) in pairs if a != b and agree(exercise, one, other)]
    assert alike == []


@pytest.fixture
def cached_combinations(monkeypatch):
    """Cache the outcomes of combined mistakes on the inputs of the table."""
    found = {}

    def once(exercise, mistakes, case):
        if not any(case.arguments is c.arguments for c in exercise.cases):
            return expected_outcome(exercise, mistakes, case)
        key = mistakes, id(case.arguments)
        if key not in found:
            found[key] = expected_outcome(exercise, mistakes, case)
        return found[key]

    monkeypatch.setattr(diagnosis, "expected_outcome", once)


@EACH
@pytest.mark.exhaustive
@pytest.mark.usefixtures("cached_combinations")
def test_pairs_of_mistakes_are_named(exercise):
    """A pair may also be named as other mistakes that give the same, or pass if it gives the right result."""
    pairs = list(exercise.combinations(2))
    if "ALL_PAIRS" not in os.environ:
        pairs = random.Random(exercise.name).sample(pairs, min(PAIRS, len(pairs)))
    named_right = 0
    for pair in pairs:
        verdict = check(exercise.name, as_answer(exercise, *pair))
        if verdict.mistake == "+".join(mistake.id for mistake in pair):
            named_right += 1
        elif verdict.passed:
            assert agree(exercise, outcomes(exercise, *pair), right_outcomes(exercise.name))
        else:
            assert verdict.mistake, pair
            named = [[m for m in exercise.mistakes if m.id == name] for name in verdict.mistake.split("+")]
            got = outcomes(exercise, *pair)
            assert any(agree(exercise, got, outcomes(exercise, *rows)) for rows in itertools.product(*named))
    assert named_right >= 0.75 * len(pairs)  # otherwise this test tests hardly anything


@EACH
def test_cases_give_arguments_in_order(exercise):
    names = [parameter.name for parameter in exercise.parameters]
    for case in exercise.all_cases:
        assert exercise.evaluate or list(case.arguments) == names[: len(case.arguments)]


@EACH
def test_ids_and_hints_are_well_formed_and_unique(exercise):
    """Rows with one id are spellings of one mistake."""
    ids = {mistake.id for mistake in exercise.mistakes}
    hints = {mistake.hint for mistake in exercise.mistakes}
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in ids)
    assert all(isinstance(hint, Text) for hint in hints)
    assert len({hint.en for hint in hints}) == len({hint.zh for hint in hints}) == len(hints)
    assert len({case.name for case in exercise.cases}) == len(exercise.cases)


@EACH
def test_exercise_has_several_mistakes_and_solutions(exercise):
    several = 2 if exercise.evaluate else 4  # there are fewer ways to get a number wrong than a function
    assert len(exercise.mistakes) >= several
    assert len(RIGHT.get(exercise.name, {})) + len(ADVISED.get(exercise.name, {})) >= several


@EACH
def test_mistakes_replace_steps_of_recipe(exercise):
    parameters = inspect.signature(exercise.recipe).parameters.values()
    steps = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY} or {"answer"}
    named = [mistake.replaces.keys() for mistake in exercise.mistakes if not callable(mistake.replaces)]
    assert all(names <= steps for names in named)


@EACH
def test_sections_are_headings_of_lesson(exercise):
    source = (LESSONS / f"{exercise.lesson}.py").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", source, re.MULTILINE)
    for section in (exercise.section, *(m.section for m in exercise.mistakes if m.section)):
        assert {section.en, section.zh} <= set(headings)
