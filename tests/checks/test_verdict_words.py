"""What a verdict says is true of the function or answer that gets it."""

import functools
import re

import pytest
import torch
import torch.nn.functional as F
from tables import TABLES
from wrong.generate import written_into_the_given_list

from blocklab_course import check
from blocklab_course.checks.counterexample import label


def test_written_list_is_shown_before_and_after_the_call():
    verdict = check("generate", written_into_the_given_list)
    assert verdict.mistake == "mutates-input"
    assert "`append`" in verdict.messages[0]
    assert verdict.counterexample.what == "ids after the call"
    before, after = verdict.counterexample.expected, verdict.counterexample.yours
    assert before == dict(verdict.counterexample.arguments)["ids"]
    assert after.startswith(before.removesuffix(",)").removesuffix(")") + ", ")


def adds_in_place(x, sublayer, norm):
    y = sublayer(norm(x))
    y += x
    return y


def test_changed_input_is_shown_where_it_changes():
    """Only where norm and sub-layer return x itself does `+=` write into it."""
    verdict = check("pre_norm", adds_in_place)
    assert verdict.mistake == "mutates-input"
    assert dict(verdict.counterexample.arguments) == {"x": "[[1, 2]]", "sublayer": "as_it_is", "norm": "as_it_is"}
    assert (verdict.counterexample.yours, verdict.counterexample.expected) == ("[[2, 4]]", "[[1, 2]]")


def test_changed_gradient_state_needs_no_example():
    verdict = check("layer_norm", lambda x, *given: F.layer_norm(x.requires_grad_(), *given))
    assert verdict.mistake == "mutates-input"
    assert verdict.counterexample is None


def test_answer_is_not_called_the_input():
    """Divided by 1, x stays x, but a number was submitted."""
    verdict = check("root_mean_square", 1.0)
    assert not verdict.passed
    assert verdict.mistake != "input-returned"
    assert "unchanged" not in str(verdict)


def test_right_answer_within_tolerance_is_shown_as_submitted():
    verdict = check("weight_by_hand", 0.77)
    assert verdict.passed
    assert "0.77." in verdict.messages[0]


@pytest.mark.parametrize("s", [0.0033, 0.00308, torch.tensor(0.0033)])
def test_scale_keeps_its_stated_tolerance(s):
    """The text says 0.99 to 1.01; these give 1.019 and 0.988."""
    assert not check("scale", s).passed


@pytest.mark.parametrize("exercise", TABLES.values(), ids=TABLES)
def test_name_of_a_value_fits_behind_your(exercise):
    """The reader sees "your …" and "expected …"."""
    names = [label(exercise, value) for value in ("result", *exercise.names)]
    assert not any(name.startswith(("the ", "a ", "an ")) for name in names)


def rotates_in_float32(x, positions, base=10000.0, pairs=lambda x: (x[..., 0::2], x[..., 1::2])):
    angles = positions[:, None] * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    a, b = pairs(x)
    return torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1).flatten(-2)


def test_right_rotation_of_another_type_is_called_right_first():
    verdict = check("rotary_embedding", rotates_in_float32)
    assert verdict.mistake == "type-of-the-angles"
    assert verdict.messages[0].startswith("Your rotation is right.")


def test_wrong_rotation_of_another_type_is_not_called_right():
    halves = functools.partial(rotates_in_float32, pairs=lambda x: x.chunk(2, -1))
    verdict = check("rotary_embedding", lambda *given: halves(*given))
    assert verdict.mistake == "halves-put-between+type-of-the-angles"
    assert "rotation is right" not in str(verdict)


def attends_then_appends(query, key, value, past_keys, past_values):
    y = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    return y, torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)


def masks_nothing(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True), keys, values


def test_hidden_past_may_also_be_appended_too_late():
    assert "append afterwards" in check("cached_attention", attends_then_appends).messages[0]


def test_mask_that_lets_everything_through_is_not_called_missing():
    assert "it lets everything through" in check("cached_attention", masks_nothing).messages[0]


def drops_out(x):
    return F.dropout(F.relu(x), 0.5)


def samples(model, ids, most, end):
    text, scores = list(ids), model(ids)
    for _ in range(most):
        token = torch.multinomial((scores[-1] / 5).softmax(-1), 1).item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
    return [*text, *[0] * most][: len(ids) + most]


def adds_dropout(x, sublayer, norm):
    return x + F.dropout(sublayer(norm(x)), 0.5)


def make_counting_relu():
    calls = []

    def relu(x):
        calls.append(x)
        return F.relu(x) + len(calls)

    return relu


@pytest.mark.parametrize(
    ("exercise", "candidate"),
    [("relu", drops_out), ("generate", samples), ("pre_norm", adds_dropout), ("relu", make_counting_relu())],
)
def test_two_results_of_one_input_are_told(exercise, candidate):
    torch.manual_seed(0)
    verdict = check(exercise, candidate)
    assert verdict.mistake == "two-results"
    assert "same input" in verdict.messages[0]
    first, second = re.search("`(.+)`, then `(.+)`", verdict.messages[0]).groups()
    assert first != second


def test_constant_wrong_function_is_not_called_random():
    assert check("relu", lambda x: F.relu(x) ** 3 + 1).mistake is None


def test_several_mistakes_are_shown_on_an_input_without_rounding():
    """Alone, each of them is best seen in 16 bits."""
    exercise = TABLES["rms_norm_llama"]
    pair = (
        exercise.mistake("not-in-float32"),
        exercise.mistake("not-converted-back"),
        exercise.mistake("mean-subtracted"),
    )
    verdict = check("rms_norm_llama", lambda *given: exercise.variant(*pair)(*given))
    assert not verdict.passed
    assert "+" in verdict.mistake
    assert "float16" not in dict(verdict.counterexample.arguments)["x"]
