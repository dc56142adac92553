"""Verdicts on stubs, faults, right functions and known mistakes, in both languages."""

import re
import time

import pytest
import torch
import torch.nn.functional as F
from right import ADVISED
from torch import nn

from blocklab_course import check, i18n
from blocklab_course.checks.engine import check_against
from blocklab_course.checks.exercise import Case, Exercise
from blocklab_course.checks.messages import MESSAGES
from blocklab_course.checks.mistake import wrong
from blocklab_course.checks.outcome import CannotCompare, is_close
from blocklab_course.checks.verdict import MIME, NotPassed, mark_differences, split_title, to_html, to_text
from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import EXERCISES

HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")  # Chinese characters and full-width punctuation


@pytest.fixture(params=i18n.LANGUAGES)
def language(request):
    i18n.set_language(request.param)
    return request.param


def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    return F.layer_norm(x, shape, weight, bias, eps)


def eps_outside_and_unbiased(x, shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(shape), 0))
    y = (x - x.mean(axes, keepdim=True)) / (x.std(axes, keepdim=True) + eps)
    return (y if weight is None else y * weight) + (0 if bias is None else bias)


# Stubs and general faults


def only_docstring(x, shape, weight=None, bias=None, eps=1e-5):
    """Docstring."""


def only_pass(x, shape, weight=None, bias=None, eps=1e-5):
    pass


def only_dots(x, shape, weight=None, bias=None, eps=1e-5): ...


def returns_dots(x, shape, weight=None, bias=None, eps=1e-5):
    return ...


def not_implemented(x, shape, weight=None, bias=None, eps=1e-5):
    raise NotImplementedError


@pytest.mark.parametrize("stub", [None, ..., only_docstring, only_pass, only_dots, returns_dots, not_implemented])
def test_stub_is_not_written_yet(stub, language):
    verdict = check("layer_norm", stub)
    assert (verdict.passed, verdict.mistake, verdict.failures) == (False, "not-written-yet", 0)
    assert str(MESSAGES["not-written-yet"]) in str(verdict)
    assert all(f"`{placeholder}`" in str(verdict) for placeholder in ("...", "None", "pass"))


def forgot_return(x, shape, weight=None, bias=None, eps=1e-5):
    F.layer_norm(x, shape, weight, bias, eps)


def by_name_only(x: torch.Tensor, *, shape, eps=1e-5) -> torch.Tensor:
    return x


class CalledLikeAModule:
    def __call__(self, x):
        return x


def two_arguments(x, eps):
    return x


def misspells_method(x, shape, weight=None, bias=None, eps=1e-5):
    mean = x.meen()
    return x - mean


def uses_numpy(x, shape, weight=None, bias=None, eps=1e-5):
    return torch.tensor(layer_norm(x.detach(), shape, weight, bias, eps).numpy())


def detached(*arguments):
    return layer_norm(*arguments).detach()


def changes_input(x, shape, weight=None, bias=None, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    return x


def always_float32(x, *rest):
    return layer_norm(x.float(), *rest)


FAULTS = {
    "a string": ("layer_norm", "wrong-kind", "`str`"),
    "a number": (3, "wrong-kind", "`int`"),
    "another class": (dict, "wrong-kind", "`type`"),
    "a Module class": (nn.LayerNorm, "class-not-instance", "`LayerNorm(…)`"),
    "too few arguments": (two_arguments, "signature", "two_arguments(x, eps)"),
    "a lambda with too few": (lambda x: x, "signature", "<lambda>(x)"),
    "arguments by name only": (by_name_only, "signature", "by_name_only(x, *, shape, eps=1e-05)"),
    "an object that is called": (CalledLikeAModule(), "wrong-kind", "`CalledLikeAModule`"),
    "no return": (forgot_return, "no-return", "return"),
    "raises": (misspells_method, "raises", "`mean = x.meen()`"),
    "a tuple": (lambda *a: (layer_norm(*a), 0), "wrong-type", "2"),
    "a list": (lambda *a: layer_norm(*a).tolist(), "wrong-type", "1"),
    "a set": (lambda *a: {1.5}, "wrong-type", "`set`"),
    "a number for a tensor": (lambda *a: 1.5, "wrong-type", "`float`"),
    "another shape": (lambda *a: layer_norm(*a)[None], "wrong-shape", "`(1, 1, 4)`"),
    "float32 always": (always_float32, "wrong-dtype", "`torch.float16`"),
    "another device": (lambda *a: layer_norm(*a).to("meta"), "wrong-device", "`meta`"),
    "NaN": (lambda *a: layer_norm(*a) * float("nan"), "nan", "NaN"),
    "infinity": (lambda x, *a: layer_norm(x, *a) / (x.sum() * 0), "nan", "NaN"),
    "a detached result": (detached, "not-differentiable", "`.detach()`"),
    "through NumPy": (uses_numpy, "not-differentiable", "`.detach()`"),
    "changes its input": (changes_input, "mutates-input", "`x`"),
    "unknown": (lambda *a: layer_norm(*a) ** 3, None, "4"),
}


@pytest.mark.parametrize(("candidate", "mistake", "word"), FAULTS.values(), ids=FAULTS)
def test_names_general_faults(candidate, mistake, word, language):
    verdict = check("layer_norm", candidate, patience=60)
    assert (verdict.passed, verdict.mistake) == (False, mistake)
    assert word in str(verdict)
    sentence = re.split(r"\{.*?\}", str(MESSAGES[mistake or "unknown"]))  # the fixed parts of the message
    assert all(part in verdict.messages[0] for part in sentence)
    assert bool(HAN.search(str(verdict))) == (language == "zh")


def test_module_with_other_arguments_is_told_those_of_its_forward():
    verdict = check("glu", nn.GLU())
    assert verdict.mistake == "signature"
    assert "`GLU(input)`" in str(verdict)


def test_parameter_around_result_cuts_the_graph():
    assert check("relu", lambda x: nn.Parameter(x.clamp(min=0))).mistake == "not-differentiable"


def test_endless_loop_is_not_called_slow_as_well():
    def pair_by_pair(length):
        return torch.tensor([[k <= q for k in range(length)] for q in range(length)]).bool().view(length, length)

    verdict = check("causal_mask", pair_by_pair)
    assert verdict.passed
    assert verdict.advice == ("a-long-text",)


def test_cannot_compare_is_equal_only_to_itself():
    assert len({CannotCompare("stopped", {}), CannotCompare("stopped", {})}) == 2


def test_error_names_line_of_learner(language):
    verdict = check("layer_norm", misspells_method)
    line = misspells_method.__code__.co_firstlineno + 1
    assert f"{line}" in str(verdict)
    assert "AttributeError" in str(verdict)


def test_error_inside_torch_names_calling_line():
    def transposes(x, shape, weight=None, bias=None, eps=1e-5):
        return F.layer_norm(x.T, (99,))

    assert "F.layer_norm(x.T, (99,))" in str(check("layer_norm", transposes))


def test_time_limit_ends_with_check():
    check("layer_norm", layer_norm, patience=0.05)
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        pass


def test_unknown_exercise_suggests_nearest_name(language):
    with pytest.raises(ValueError, match="layer_norm"):
        check("layernorm", layer_norm)


class Gamma(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return F.layer_norm(x, (3,), self.gamma)


def right_but_zeroes_input(x, *rest):
    y = layer_norm(x.clone(), *rest)
    with torch.no_grad():
        x.zero_()
    return y


def test_right_result_does_not_excuse_mutated_input():
    assert check("layer_norm", right_but_zeroes_input).mistake == "mutates-input"


def keeps_graph(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    mean, variance = running_mean.clone(), running_var.clone()
    y = F.batch_norm(x, mean, variance, weight, bias, training, momentum, eps)
    if training:
        running_mean.copy_(mean + 0 * x.sum())
        running_var.copy_(variance)
    return y


def test_right_numbers_do_not_excuse_kept_graph(language):
    verdict = check("batch_norm", keeps_graph)
    assert verdict.mistake == "graph-kept"
    assert "`running_mean`" in str(verdict)


@pytest.mark.parametrize(
    ("exercise", "module"), [("rms_norm", nn.LayerNorm(3)), ("layer_norm", Gamma()), ("group_norm", nn.Identity())]
)
def test_module_that_fits_no_input_does_not_pass(exercise, module, language):
    verdict = check(exercise, module)
    assert not verdict.passed


# Right functions and answers


def test_right_function_passes(language):
    verdict = check("layer_norm", layer_norm)
    assert verdict
    assert verdict.mistake is None
    assert str(len(EXERCISES["layer_norm"].all_cases)) in str(verdict)


@pytest.mark.parametrize(
    ("exercise", "answer", "en", "zh"),
    [
        ("scale", 0.0032, "Right: last bar = 1.005.", "正确：最后一根柱子的长度 = 1.005。"),
        ("values_per_mean", 64, "Right: batch size = 64.", "正确：批量大小 = 64。"),
        ("feature_axes", (0, 1), "Right.", "正确。"),
        ("outputs_that_move", (27, 36, 9, 18, 4), "Right.", "正确。"),
    ],
)
def test_right_answer_shows_its_result(exercise, answer, en, zh, language):
    """A count of inputs would mean nothing for an answer."""
    assert check(exercise, answer).messages == ({"en": en, "zh": zh}[language],)


def test_wrong_answer_mentions_no_difference(language):
    assert check("values_per_mean", 5).messages == (str(MESSAGES["unknown-answer"]),)


def test_function_counts_inputs_and_shows_first_difference():
    assert "Inputs tried" in check("round_up", lambda n, multiple_of: -(-n // multiple_of) * multiple_of).messages[0]
    assert "the first difference" in check("round_up", lambda n, multiple_of: 7).messages[0]


def test_string_is_shown_in_quotation_marks(language):
    assert "`'0.003'`" in check("scale", "0.003").messages[0]
    assert {"en": "quotation marks", "zh": "引号"}[language] in check("scale", "0.003").messages[0]


@pytest.mark.parametrize("made", [lambda x: torch.relu, lambda x: nn.ReLU(x)], ids=["function", "Module"])
def test_returned_function_was_not_called(made, language):
    verdict = check("relu", made)
    assert verdict.mistake == "wrong-type"
    assert "`f(x)`" in verdict.messages[0]


def test_shows_prints_once(capsys):
    def prints(*arguments):
        print("here I am")
        return layer_norm(*arguments)

    check("layer_norm", prints)
    assert capsys.readouterr().out == "here I am\n"


def test_compares_gradients_under_no_grad():
    with torch.no_grad():
        assert check("layer_norm", layer_norm).passed
        assert check("layer_norm", detached).mistake == "not-differentiable"
        assert not torch.is_grad_enabled()


def test_check_restores_module_settings():
    module = nn.BatchNorm1d(3, momentum=0.3)
    before = {name: x.clone() for name, x in module.state_dict().items()}
    assert check("batch_norm", module).passed
    assert all(torch.equal(x, before[name]) for name, x in module.state_dict().items())
    assert (module.training, module.momentum, module.num_features) == (True, 0.3, 3)
    assert isinstance(module.weight, nn.Parameter)


def test_module_verdict_counts_left_out_inputs(language):
    verdict = check("batch_norm", nn.BatchNorm1d(3))  # does not take images
    assert verdict.passed
    assert re.search(r"\d", verdict.messages[1])
    assert len(check("layer_norm", nn.LayerNorm(3)).messages) == 1


# Known mistakes and counterexamples


def test_names_two_mistakes_at_once(language):
    verdict = check("layer_norm", eps_outside_and_unbiased)
    assert verdict.mistake == "eps-outside-root+unbiased-variance"
    hints = [EXERCISES["layer_norm"].mistake(name).hint for name in verdict.mistake.split("+")]
    assert [str(hint) for hint in hints] == list(verdict.messages[1:])


def test_names_three_mistakes_at_once():
    def last_axis(x, shape, *rest):
        return eps_outside_and_unbiased(x, (1,), *rest)

    names = check("layer_norm", last_axis).mistake.split("+")
    assert set(names) == {"last-axis-only", "eps-outside-root", "unbiased-variance"}


def test_shows_input_and_both_results():
    verdict = check("layer_norm", EXERCISES["layer_norm"].variant(EXERCISES["layer_norm"].mistake("eps-outside-root")))
    assert dict(verdict.counterexample.arguments) == {"x": "[[0.001, 0.002, 0.003, 0.004]]", "normalized_shape": "(4,)"}
    assert verdict.counterexample.yours == "[[-1.33, -0.4432, 0.4432, 1.33]]"
    assert verdict.counterexample.expected == "[[-0.4472, -0.1491, 0.1491, 0.4472]]"


HALVED = {"en": "You halve it.", "zh": "你把它减半了。"}


@pytest.mark.parametrize(
    ("mistake", "attempt", "shown"),
    [
        (wrong("halved", half=2).hint(**HALVED), lambda x: x / 2, "[2, 2]"),
        (wrong("halved", half=2).hint(**HALVED, shown_on="three"), lambda x: x / 2, "[3, 3, 3]"),
        (wrong("halved", half=2).hint(**HALVED, shown_on="one"), lambda x: x / 2, "[2, 2]"),  # but it is right on "one"
        (wrong("halved", half=2).hint(**HALVED), lambda x: x**2, "4"),
    ],
)
def test_chooses_named_first_or_smallest_wrong_input(mistake, attempt, shown):
    inputs = {"one": torch.zeros(1), "two": torch.full((2,), 2.0), "three": torch.full((3,), 3.0), "four": 4.0}
    exercise = Exercise(
        name="same",
        recipe=lambda x, *, half=1: x / half,
        cases=tuple(Case(name, {"x": x}) for name, x in inputs.items()),
        mistakes=(mistake,),
        hint_line="",
    )
    assert check_against(exercise, attempt).counterexample.arguments == (("x", shown),)


def test_shows_first_wrong_row_of_large_result():
    def changes_one_row(x, shape, *rest):
        y = layer_norm(x, shape, *rest)
        return y if x.dim() < 3 else torch.cat([y[:-1], y[-1:] * torch.linspace(1, 2, x.shape[1])[:, None]])

    exercise = Exercise(
        name="large",
        lesson="05_layer_norm",
        recipe=lambda x, shape: layer_norm(x, shape),
        cases=(Case("large", {"x": torch.arange(30.0).view(2, 5, 3).square(), "shape": (3,)}),),
        mistakes=(),
        hint_line="",
    )
    verdict = check_against(exercise, changes_one_row)
    assert "[1, 1]" in verdict.counterexample.what
    assert verdict.counterexample.arguments[0] == ("x", "tensor (2, 5, 3)")


@pytest.mark.parametrize(
    ("shape", "at", "part"),
    [((1025,), 7, "[7:11]"), ((2, 1025), 1030, "[1, 5:9]"), ((5000, 3), 14998, "[4999]"), ((40,), 39, "[36:40]")],
)
def test_shows_first_wrong_numbers_of_long_row(shape, at, part):
    def changes_one(x):
        y = 2 * x
        y.view(-1)[at] = -1
        return y

    case = Case("long", {"x": torch.ones(shape)})
    exercise = Exercise(name="long", lesson="", recipe=lambda x: 2 * x, cases=(case,), mistakes=(), hint_line="")
    verdict = check_against(exercise, changes_one)
    assert part in verdict.counterexample.what
    assert "-1" in verdict.counterexample.yours
    assert "-1" not in verdict.counterexample.expected


def test_wrong_dtype_also_reports_wrong_numbers():
    def messages(factor):
        return check("layer_norm", lambda *given: factor * layer_norm(*given).double()).messages

    assert [len(messages(factor)) for factor in (1, 2)] == [1, 2]
    assert messages(1)[0] == messages(2)[0]


def test_input_returned_requires_exact_equality():
    for factor, name in ((1.0, "input-returned"), (1 - 5e-6, None)):
        assert check("layer_norm", lambda x, *_rest, factor=factor: factor * x).mistake == name


@pytest.mark.parametrize("sequence", [tuple, list])
def test_accepts_several_results_as_tuple_or_list(sequence):
    recipe = lambda x: (x + 1, x + 2)  # noqa: E731
    case = Case("pair", {"x": torch.arange(3.0)})
    exercise = Exercise(name="pair", lesson="", recipe=recipe, cases=(case,), mistakes=(), hint_line="")
    assert check_against(exercise, lambda x: sequence(recipe(x)))
    assert check("layer_norm", lambda *given: sequence([layer_norm(*given)])).mistake == "wrong-type"


def test_similar_values_are_shown_with_more_digits():
    def slightly_off(*arguments):
        return layer_norm(*arguments) * (1 + 3e-5)

    verdict = check("layer_norm", slightly_off)
    assert verdict.counterexample.yours != verdict.counterexample.expected


# Repeated failures


def test_help_grows_with_repeated_failures():
    exercise, wrong = EXERCISES["layer_norm_by_axes"], lambda x, shape: F.layer_norm(x, x.shape)
    texts = [str(check(exercise.name, wrong)) for _ in range(3)]
    assert [exercise.hint_line in text for text in texts] == [False, True, True]
    assert [str(exercise.panel) in text for text in texts] == [False, False, True]
    assert [str(exercise.section) in text for text in texts] == [True, True, True]


KINDS_OF_LINE = {  # exercise and wrong answer; what the text calls the line; what opens it
    "a solution": (
        ("layer_norm", eps_outside_and_unbiased),
        ("One line of a solution: `", "参考写法中的一行：`"),
        ("Show me one line", "给我看一行代码"),
    ),
    "a test": (
        ("one_mean_axes", 1),
        ("A test that the right answer passes: `", "正确答案能通过的一项检查：`"),
        ("Show me a test", "给我看一项检查"),
    ),
    "a calculation": (
        ("root_mean_square", 2.0),
        ("One line of the calculation: `", "计算过程中的一行：`"),
        ("Show me one line", "给我看一行代码"),
    ),
}


@pytest.mark.parametrize(("failing", "named", "opens"), KINDS_OF_LINE.values(), ids=list(KINDS_OF_LINE))
def test_line_that_is_shown_says_what_it_is(failing, named, opens, language):
    _first, verdict = check(*failing), check(*failing)
    place = i18n.LANGUAGES.index(language)
    assert str(verdict).endswith(f"\n{named[place]}{verdict.hint_line}`")
    assert f"<summary>{opens[place]}</summary>" in verdict.html()


def test_mistake_overrides_section_and_hint_line():
    here, there = Text(en="here", zh="这里"), Text(en="there", zh="那里")
    exercise = Exercise(
        name="two mistakes",
        recipe=lambda x, *, half=1, added=0: x / half + added,
        cases=(Case("one", {"x": torch.tensor([4.0])}),),
        mistakes=(
            wrong("halved", half=2).hint(**HALVED, section=there, hint_line="x"),
            wrong("one-more", added=1).hint(en="One more.", zh="多了 1。"),
        ),
        hint_line="x + 0",
        section=here,
    )
    for attempt, section, line in ((lambda x: x / 2, there, "x"), (lambda x: x + 1, here, "x + 0")):
        first, second = (check_against(exercise, attempt) for _ in range(2))
        assert (first.section, second.section) == (section, section)
        assert (first.hint_line, second.hint_line) == (None, line)
    assert check_against(exercise, lambda x: x / 2 + 1).section == there  # of two at once, the first


def test_number_is_revealed_at_third_failure():
    verdicts = [check("values_per_mean", 17) for _ in range(3)]
    assert ["64" in str(verdict) for verdict in verdicts] == [False, False, True]
    assert ["64" in verdict.html() for verdict in verdicts] == [False, False, True]
    assert all("17" in str(verdict) for verdict in verdicts)


def test_headline_shows_mistake_id_only_in_english():
    assert "(not-written-yet)" in check("layer_norm", ...).headline
    with i18n.use_language("zh"):
        assert check("layer_norm", ...).headline == "… layer_norm"


def test_counterexample_of_weakness_is_folded_under_advice():
    verdict = check("layer_norm", ADVISED["layer_norm"]["in the input's type"][0])
    assert verdict.passed
    assert "nan" not in str(verdict)
    [line] = re.findall(
        r"<details[^>]*><summary>(.*?)</summary><div[^>]*><table.*</table></div></details>", verdict.html()
    )
    assert "float16" in line
    assert "(float16)" in verdict.counterexample.arguments[0][1]


def test_other_mistake_or_success_resets_failures():
    name, one, other = "layer_norm_by_axes", lambda x, shape: F.layer_norm(x, x.shape), lambda x, shape: x
    assert [check(name, f).failures for f in (one, one, other, one)] == [1, 2, 1, 1]
    check(name, F.layer_norm)
    assert check(name, one).failures == 1


# Formats


def test_mimebundle_has_text_html_and_data(language):
    bundle = check("layer_norm", eps_outside_and_unbiased)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", MIME}
    assert bundle[MIME].keys() == {"exercise", "passed", "mistake", "advice", "version"}
    assert bundle[MIME]["mistake"] == "eps-outside-root+unbiased-variance"
    assert "<table" in bundle["text/html"]


def test_must_pass_raises_with_verdict():
    verdict = check("swish", lambda x, beta=1.0: x)
    with pytest.raises(AssertionError) as refused:
        verdict.must_pass()
    assert isinstance(refused.value, NotPassed)
    assert str(refused.value) == str(verdict)
    assert check("swish", lambda x, beta=1.0: x * torch.sigmoid(beta * x)).must_pass() is None


def test_html_escapes_error_message():
    def bad(x, shape, weight=None, bias=None, eps=1e-5):
        raise ValueError("<script>alert(1)</script>")

    html = check("layer_norm", bad).html()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


# Comparison


@pytest.mark.parametrize(
    ("x", "y", "same"),
    [
        (torch.tensor([1.0]), torch.tensor([1.0 + 1e-6]), True),
        (torch.tensor([1.0]), torch.tensor([1.0 + 1e-3]), False),
        (torch.tensor([0.0, 1e6]), torch.tensor([1.0, 1e6]), True),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.tensor([float("inf")]), torch.tensor([1.0]), False),
        (torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64), False),
        (torch.ones(2), torch.ones(1, 2), False),
        (torch.tensor([1]), torch.tensor([1]), True),
        (torch.zeros(0), torch.zeros(0), True),
        (11008, 11008, True),
        (11008.0, 11008, False),
        (True, 1, True),
        ("a", 1, False),
    ],
)
def test_is_close(x, y, same):
    assert is_close(x, y, 1e-5) is same


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e300])
def test_is_close_matches_torch_allclose(size):
    """Compare triples that may hold zeros, NaN and infinities with others and with nearly equal ones."""
    some = torch.tensor([1.0, -1.0, 0.1, 0.0, -0.0, float("nan"), float("inf"), float("-inf")], dtype=torch.float64)
    for x in size * torch.cartesian_prod(some, some, some):
        for y in (x.flip(0), *(x + size * off for off in (5e-6, 1.05e-5, 1.5e-5, 1.95e-5, 3e-5))):
            finite = y[y.isfinite()].abs()
            most = finite.max().item() if finite.numel() else 1.0
            assert is_close(x, y, 1e-5) == torch.allclose(x, y, rtol=0.0, atol=1e-5 * most, equal_nan=True), (x, y)


def squares(x, shape, weight=None, bias=None, eps=1e-5):
    return (x - x.meen()) ** 2 / eps**2


def test_stars_in_code_are_not_bold():
    verdict = check("layer_norm", squares)
    assert "return (x - x.meen()) ** 2 / eps**2" in str(verdict)
    assert "<code>return (x - x.meen()) ** 2 / eps**2</code>" in verdict.html()


def test_bold_in_hint_becomes_html():
    verdict = check("batch_norm", EXERCISES["batch_norm"].variant(EXERCISES["batch_norm"].mistake("momentum-of-keras")))
    assert "**" not in str(verdict)
    assert "<strong>" in verdict.html()


def test_first_sentence_of_a_verdict_is_its_title():
    verdict = check("rms_norm", lambda x, shape, weight=None, eps=None: F.rms_norm(x, shape, None, eps))
    assert split_title(verdict.messages[0])[0] == "The scale `weight` (γ) has no effect."
    title, _, rest = verdict.html().partition("</div>")
    assert title.endswith("rms_norm · weight-ignored</span>")
    assert "The scale <code>weight</code> (γ) has no effect.<" in title
    assert rest.startswith('<p style="margin:6px 0 0">Multiply by it after normalizing.</p>')


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("One. Two.", "One.", "Two."),
        ("漏了开方。请先开方。", "漏了开方。", "请先开方。"),
        ("Write `correction=0`.", "Write `correction=0`.", ""),
        ("Use `a. b` here", "Use `a. b` here", ""),
        ("eps is 1e-5. Here it is 0.1!", "eps is 1e-5.", "Here it is 0.1!"),
        (f"A{'a' * 120}. B.", f"A{'a' * 120}. B.", ""),
    ],
)
def test_splits_a_message_after_its_first_sentence(text, title, body):
    assert split_title(text) == (title, body)


def test_numbers_that_differ_are_marked():
    marked = mark_differences("[[1, 2.5], [<b>, 4]]", "[[1, 2], [<b>, 5]]", "#000")
    mark = '<span style="border-bottom:2px solid #000">{}</span>'
    assert marked == f"[[1, {mark.format(2.5)}], [&lt;b&gt;, {mark.format(4)}]]"
    assert mark_differences("ValueError", "[1, 2]", "#000") == "ValueError"


@pytest.mark.parametrize(
    ("text", "html", "plain"),
    [
        ("drag *depth* to **48**", "drag <em>depth</em> to <strong>48</strong>", "drag depth to 48"),
        ("`a**2` and `*x*`", "<code>a**2</code> and <code>*x*</code>", "`a**2` and `*x*`"),
        ("3 * d * h, a*b*c", "3 * d * h, a*b*c", "3 * d * h, a*b*c"),
        ("a < b", "a &lt; b", "a < b"),
    ],
)
def test_converts_marks_to_html_and_text(text, html, plain):
    assert to_html(text) == html
    assert to_text(text) == plain


def test_panel_name_is_italic_in_html_only():
    wrong = EXERCISES["rms_norm"].variant(EXERCISES["rms_norm"].mistakes[0])
    for _ in range(3):
        verdict = check("rms_norm", wrong)

    assert "<em>Going further: two divisors</em>" in verdict.html()
    assert "under Going further: two divisors" in str(verdict)


def annotated_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


def rms_norm_with_llamas_eps(x, normalized_shape, weight=None, eps=None):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight


@pytest.mark.parametrize(
    ("name", "function", "named"),
    [
        ("layer_norm", annotated_layer_norm, "`weight`, `bias` may be None"),
        ("rms_norm", rms_norm_with_llamas_eps, "`weight` may be None"),
    ],
)
def test_multiplying_by_none_is_named_beside_other_mistakes(name, function, named):
    verdict = check(name, function, keep=False)
    assert verdict.mistake == "none-used"
    assert named in str(verdict)
    assert "TypeError" in str(verdict)


def test_a_none_that_is_not_an_argument_is_not_blamed_on_one():
    def forgetful(x, normalized_shape, weight=None, bias=None, eps=1e-5):
        return x.sort(-1)[0] - {}.get("mean")

    assert check("layer_norm", forgetful, keep=False).mistake == "raises"
