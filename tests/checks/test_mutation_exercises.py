"""Inputs that a learner submits: which mistakes they catch, which inputs do not count, and what is rejected."""

import contextlib
import re
import time
from dataclasses import replace

import pytest
import torch
from right import RIGHT
from torch import nn

from blocklab_course import catch, check
from blocklab_course.checks.mutation_testing import MutationExercise, run_mutation_exercise
from blocklab_course.checks.verdict import MIME
from blocklab_course.i18n import LANGUAGES, Text, use_language
from blocklab_course.lessons.catalog import EXERCISES

MUTATION_EXERCISES = {name: exercise for name, exercise in EXERCISES.items() if isinstance(exercise, MutationExercise)}
X = torch.tensor([[0.3, -1.2, 0.8, 0.4], [1.1, 0.2, -0.7, 0.5], [0.1, 0.9, -0.4, 1.6]])
TWO, THREE = torch.stack((X, X.flip(0))), X[:, [1, 3, 0, 2]]
LONG = torch.randn(2, 1000, generator=torch.Generator().manual_seed(0))
LAYER_NORM = ["eps-outside-root", "eps-twice", "eps-missing", "unbiased-variance"]
ATTENTION = [
    *("scale-missing", "scaled-by-keys", "softmax-over-axis-one", "mask-inverted", "mask-transposed"),
    "keys-for-values",
]
LOWER = torch.ones(3, 3).tril() > 0


def survivors(verdict):
    return [] if verdict.passed else verdict.mistake.split("+")


# Caught mistakes

CAUGHT = {
    "plain rows": ("layer_norm", [(X, (4,))], ["unbiased-variance"]),
    "small rows": ("layer_norm", [(3e-3 * X, (4,))], LAYER_NORM),
    "tiny rows, where ε outweighs d": ("layer_norm", [(3e-4 * X, (4,))], LAYER_NORM[:3]),
    "rows too large for ε and too long for d": ("layer_norm", [(0.1 * LONG, (1000,))], []),
    "rows of moderate size": ("layer_norm", [(1e-2 * X, (4,))], LAYER_NORM),
    "an eps of its own": ("layer_norm", [{"x": X, "normalized_shape": (4,), "eps": 0.5}], LAYER_NORM),
    "equal numbers": ("layer_norm", [(torch.full((2, 7), 0.5), (7,))], ["eps-missing"]),
    "a long row": ("layer_norm", [(torch.arange(9000.0)[None] / 9000, (9000,))], []),
    "by two of them": ("layer_norm", [(X, (4,)), (torch.ones(1, 4), [4])], ["eps-missing", "unbiased-variance"]),
    "empty": ("layer_norm", [(torch.zeros(0, 4), (4,))], []),
    "float64": ("layer_norm", [(3e-3 * X.double(), (4,))], LAYER_NORM),
    "square": ("attention", [(X @ X.T, X @ X.T, X @ X.T)], ["scale-missing"]),
    "distinct sizes": ("attention", [(X, X, X)], ["scale-missing", "scaled-by-keys"]),
    "a batch": ("attention", [(TWO, TWO, TWO)], ["scale-missing", "scaled-by-keys", "softmax-over-axis-one"]),
    "other values": ("attention", [(X, X, THREE)], ["scale-missing", "scaled-by-keys", "keys-for-values"]),
    "a causal mask": (
        "attention",
        [(X, X, X, LOWER)],
        ["scale-missing", "scaled-by-keys", "mask-transposed", "mask-inverted"],
    ),
    "a symmetric mask": (
        "attention",
        [(X, X, X, ~torch.eye(3, dtype=torch.bool))],
        ["scale-missing", "scaled-by-keys", "mask-inverted"],
    ),
    "two that catch all": ("attention", [(TWO, TWO, TWO + 1), (X, THREE, X, LOWER)], ATTENTION),
}


@pytest.mark.parametrize(("exercise", "inputs", "caught"), CAUGHT.values(), ids=CAUGHT)
def test_catches_mistakes_that_show(exercise, inputs, caught):
    verdict = catch(exercise, inputs)
    mutants = LAYER_NORM if exercise == "layer_norm" else ATTENTION
    assert set(survivors(verdict)) == set(mutants) - set(caught)
    assert verdict.passed == (set(caught) == set(mutants))


def test_reports_catching_inputs_and_hints_for_survivors():
    verdict = catch("layer_norm", [(torch.ones(1, 4), (4,)), (X, (4,)), (X.T, (3,))])
    lines = str(verdict).split("\n")
    assert lines[0] == "✗ catch_layer_norm  (eps-outside-root+eps-twice)"
    assert lines[1].startswith("Caught: 2 of 4.")
    assert "✓ divided by d − 1: caught by input 2, 3" in lines
    assert "✓ no ε: caught by input 1" in lines
    for survivor in ("eps-outside-root", "eps-twice"):
        assert str(MUTATION_EXERCISES["catch_layer_norm"].mistake(survivor).hint) in str(verdict)
    assert "05_layer_norm · Where the mistake shows" in str(verdict)
    assert verdict.hint_line is None


@pytest.mark.parametrize("inputs", [None, "x", [X], [(X, 4)]])
def test_what_is_no_input_leads_to_the_task_and_not_to_the_mistakes(inputs):
    assert "Where the mistake shows" not in str(catch("layer_norm", inputs))


def test_inputs_that_do_not_count_lead_to_the_task():
    assert "05_layer_norm · Write the test" in str(catch("layer_norm", [X]))


def test_verdict_has_usual_formats():
    inputs = [(3e-3 * X, (4,))]
    verdict = catch("layer_norm", inputs)
    bundle = verdict._repr_mimebundle_()
    assert bundle[MIME] == check("catch_layer_norm", inputs).data
    assert (bundle[MIME]["exercise"], bundle[MIME]["passed"]) == ("catch_layer_norm", True)
    assert bundle["text/html"].count("<p ") == len(LAYER_NORM)
    with use_language("zh"):
        assert "全都露了馅" in str(catch("layer_norm", inputs))


def test_repeated_failures_show_no_hint_line():
    verdicts = [catch("layer_norm", [(X, (4,))]) for _ in range(3)]
    assert [verdict.failures for verdict in verdicts] == [1, 2, 3]
    assert str(verdicts[2]) == str(verdicts[0])
    assert catch("layer_norm", [(3e-3 * X, (4,))]).failures == 0
    assert catch("layer_norm", [(X, (4,))]).failures == 1


def test_calls_function_that_returns_inputs_once(capsys):
    calls = []

    def inputs():
        calls.append(1)
        print("here")
        return [(3e-3 * X, (4,))]

    assert catch("layer_norm", inputs).passed
    assert calls == [1]
    assert capsys.readouterr().out == "here\n"


def test_does_not_change_inputs():
    x, shape = (3e-3 * X).requires_grad_(), [4]
    inputs = [{"x": x, "normalized_shape": shape}]
    before = x.detach().clone()
    assert catch("layer_norm", inputs).passed
    assert torch.equal(x, before)
    assert x.requires_grad
    assert x.grad is None
    assert inputs == [{"x": x, "normalized_shape": shape}]
    assert shape == [4]


# Fairness: no input that counts catches a right solution


FURTHER_INPUTS = {
    "catch_layer_norm": [
        (scale * torch.randn(*shape, generator=torch.Generator().manual_seed(1)) + offset, shape[-1:])
        for shape in ((4,), (1, 4), (3, 5), (2, 3, 7), (1, 1000))
        for scale in (1e-6, 1e-3, 1, 1e3, 1e6)
        for offset in (0, 1, 100, 1e4)
    ],
    "catch_attention": [
        tuple(scale * torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(n)) for n in range(3))
        for scale in (1e-3, 1, 10, 100)
    ]
    + [(X, THREE, X, LOWER), (100 * X, 100 * THREE, X, LOWER)],
}


@pytest.mark.parametrize("name", MUTATION_EXERCISES)
def test_right_solutions_survive_every_input_that_counts(name):
    exercise = MUTATION_EXERCISES[name]
    given = [tuple(case.arguments.values()) for case in exercise.cases if case.advice is None] + FURTHER_INPUTS[name]
    solutions = [f for f in RIGHT[exercise.original].values() if not isinstance(f, nn.Module | type)]
    assert len(solutions) >= 3
    mutants = tuple(replace(exercise.mistakes[0], id=f"right-{n}", replaces=f) for n, f in enumerate(solutions))
    names = {mutant.id: Text(en=mutant.id, zh=mutant.id) for mutant in mutants}
    fair = replace(exercise, mistakes=mutants, mutant_names=names)
    verdicts = [run_mutation_exercise(fair, [arguments]) for arguments in given]
    counted = [verdict for verdict in verdicts if verdict.mistake != "no-input-counts"]
    assert len(counted) > 0.6 * len(given)
    assert {verdict.mistake for verdict in counted} == {"+".join(names)}  # none is caught


# Inputs that do not count


NAN = X.clone()
NAN[0, 0] = torch.nan


NOT_COUNTED = {
    "another shape": ((X, (5,)), "expected x to end with shape"),
    "an integer tensor": ((torch.arange(4), (4,)), "even the right function raises TypeError"),
    "a number for the shape": ((X, 4), "even the right function raises TypeError"),
    "NaN": ((NAN, (4,)), "NaN or infinity"),
    "infinity": ((X / 0, (4,)), "NaN or infinity"),
    "too large for squares": ((1e30 * X, (4,)), "NaN or infinity|rounding alone"),
    "float16": ((X.half(), (4,)), "rounding alone"),
    "far from zero": ((1e4 + 0.01 * X, (4,)), "rounding alone"),
    "huge": ((torch.zeros(1).expand(10**9), (10**9,)), "1000000000 numbers"),
    "a bare tensor": (X, r"it is a tensor.*`layer_norm\(x, normalized_shape"),
    "a number": (3, "it is `int`"),
    "a text": ("x", "it is `str`"),
    "no arguments": ((), "argument `x` is missing"),
    "without the shape": ((X,), "argument `normalized_shape` is missing"),
    "too many": ((X, (4,), None, None, 1e-5, 3), "6 arguments"),
    "another name": ({"x": X, "normalized_shape": (4,), "gamma": 1}, "no argument 'gamma'"),
    "a number as a name": ({3: X}, "no argument 3"),
    "no tensor": (("x", (4,)), "its `x` is `str`"),
    "NumPy": ((X.numpy(), (4,)), "its `x` is `ndarray`"),
    "sparse": ((X.to_sparse(), (4,)), "its `x` is `torch.sparse_coo`"),
    "on the meta device": ((X.to("meta"), (4,)), "its `x` is"),
    "a set in the shape": ((X, ({4},)), "its `normalized_shape` is `set`"),
    "a module": ((nn.LayerNorm(4), (4,)), "its `x` is a `LayerNorm`"),
    "a huge number": ((X, (4,), None, None, 10**400), "the right function raises|NaN or infinity"),
}


@pytest.mark.parametrize(("one", "why"), NOT_COUNTED.values(), ids=NOT_COUNTED)
def test_explains_invalid_input_and_uses_the_others(one, why):
    alone = catch("layer_norm", [one])
    assert (alone.passed, alone.mistake) == (False, "no-input-counts")
    [line] = alone.messages
    assert line.startswith("Input 1 does not count: ")
    beside = catch("layer_norm", [(3e-3 * X, (4,)), one])
    assert beside.passed
    assert beside.messages[-1].startswith("Input 2 does not count: ")
    assert re.search(why, line), line
    assert len(line) < 400


@pytest.mark.parametrize("submission", [(X, (4,)), [X, [4]], lambda: (X, (4,))])
def test_recognizes_arguments_of_one_call(submission):
    verdict = catch("layer_norm", submission)
    assert (verdict.passed, verdict.mistake) == (False, "one-call")
    assert "`[(x, …)]`" in verdict.messages[0]


def test_fully_masked_query_does_not_count():
    assert "NaN" in catch("attention", [(X, X, X, LOWER & False)]).messages[0]


def test_explains_only_first_invalid_inputs():
    messages = catch("layer_norm", [3] * 7).messages
    assert len(messages) == 4
    assert messages[-1].endswith("4.")


# Stubs and rejected submissions


STUBS = {
    "...": ...,
    "None": None,
    "an empty list": [],
    "... in a list": [...],
    "... in an input": [(..., (4,))],
    "... in a dict": [{"x": ..., "normalized_shape": (4,)}],
    "a function that returns ...": lambda: ...,
    "a function that returns nothing": lambda: None,
}


@pytest.mark.parametrize("stub", STUBS.values(), ids=STUBS)
def test_stub_is_not_a_failure(stub):
    verdict = catch("layer_norm", stub)
    assert (verdict.passed, verdict.mistake, verdict.failures) == (False, "not-written-yet", 0)


def raises():
    raise ValueError("x" * 10**6)


def endless():
    while True:
        with contextlib.suppress(BaseException):
            X.sin()


def sleeps():
    time.sleep(1000)


def exits():
    raise SystemExit


REFUSED = {
    "a tensor": (X, "wrong-kind"),
    "a dict": ({"x": X}, "wrong-kind"),
    "a text": ("x", "wrong-kind"),
    "a generator": ((each for each in [(X, (4,))]), "wrong-kind"),
    "a class": (int, "wrong-kind"),
    "a function with an argument": (lambda x: x, "raises"),
    "a function that raises": (raises, "raises"),
    "a function that exits": (exits, "raises"),
    "a function that never ends": (endless, "interrupted"),
    "a function that sleeps": (sleeps, "interrupted"),
    "too many": ([(X, (4,))] * 21, "too-many-inputs"),
}


@pytest.mark.parametrize(("submission", "mistake"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_rejects_submission_that_is_not_a_list(submission, mistake, language):
    with use_language(language):
        verdict = catch("layer_norm", submission, patience=0.3)
        assert (verdict.passed, verdict.mistake) == (False, mistake)
        assert len(str(verdict)) < 800
        assert len(verdict.html()) < 2000
    assert catch("layer_norm", [(3e-3 * X, (4,))]).passed


def test_restores_default_dtype_that_function_changes():
    def inputs():
        torch.set_default_dtype(torch.float64)
        return [(3e-3 * X, (4,))]

    before = torch.get_default_dtype()
    assert catch("layer_norm", inputs).passed
    assert torch.get_default_dtype() == before


def test_error_names_line_of_function():
    assert 'raise ValueError("x" * 10**6)' in str(catch("layer_norm", raises))


@pytest.mark.parametrize("name", ["rms_norm", "", 3, "catch_layer_norm"])
def test_catch_rejects_other_exercises(name):
    with pytest.raises(ValueError, match="layer_norm, attention"):
        catch(name, [])


# The tables


@pytest.mark.parametrize("name", MUTATION_EXERCISES)
def test_hints_contain_no_input(name):
    exercise = MUTATION_EXERCISES[name]
    for mistake in exercise.mistakes:
        for text in (mistake.hint, exercise.mutant_names[mistake.id]):
            assert not {"torch.", "tensor", "1e-", "randn"} & {*text.en.split(), *text.zh.split()}
    assert len({mistake.hint.en for mistake in exercise.mistakes}) == len(exercise.mistakes)
    assert exercise.signature == EXERCISES[exercise.original].signature
