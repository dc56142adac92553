"""A trained network's answers with a block in it: with right ones and with known mistakes."""

import gc
import re
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import blocklab
from blocklab_course import api, check, plug_in
from blocklab_course.cards import GREEN, RED
from blocklab_course.i18n import use_language
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.model_swap import messages, networks
from blocklab_course.model_swap.networks import (
    NETWORKS,
    BeforeAndAfter,
    Classification,
    Generation,
    NearestSentence,
    truncate_line,
)
from blocklab_course.model_swap.result import SwapResult


def by_torch(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(past_keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, mask, enable_gqa=True), keys, values


TORCH = {
    "rms_norm": F.rms_norm,
    "swiglu": lambda x, w1, w2, w3: F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3), w2),
    "rotary_embedding": EXERCISES["rotary_embedding"].recipe,
    "attention": F.scaled_dot_product_attention,
    "cached_attention": by_torch,
    "layer_norm": F.layer_norm,
    "layer_norm_by_axes": F.layer_norm,
    "batch_norm": F.batch_norm,
}
OURS = {
    **{name: EXERCISES[name].reference for name in NETWORKS if name != "swiglu"},
    "swiglu": lambda x, w1, w2, w3: F.linear(blocklab.swiglu(F.linear(x, w1), F.linear(x, w3)), w2),
}
SMALL = {name: "glassllm" if len(kinds) == 2 else kinds[0].name for name, kinds in NETWORKS.items()}
PLACES = {"rms_norm": 9, "layer_norm": 13, "layer_norm_by_axes": 13, "batch_norm": 49}


def wrong_block(block, mistake):
    return EXERCISES[block].variant(EXERCISES[block].mistake(mistake))


# The right block


@pytest.mark.parametrize("written", [OURS, TORCH], ids=["ours", "torch's"])
@pytest.mark.parametrize("block", NETWORKS)
def test_right_block_gives_right_answer(block, written, plug_into):
    got = plug_into(SMALL[block], block, written[block])
    assert (got.network, got.places, got.stopped) == (SMALL[block], PLACES.get(block, 4), None)
    assert got.yours.lines() == got.right.lines()
    assert got.messages[0] == messages.SAME.en
    assert str(got).count(f"with {got.name}: ") == str(got).count("with the right one: ") == len(got.labels)


@pytest.mark.usefixtures("smollm2")
def test_stored_answer_of_smollm2_is_right(plug_into):
    got = plug_into("SmolLM2", "rms_norm", F.rms_norm)
    assert got.yours.loss == pytest.approx(got.right.loss, abs=1e-3)
    assert got.yours.text == got.right.text == "The capital of France is Paris."
    assert not got.yours.leaks_future
    assert got.places == 61
    assert got.messages == (messages.SAME.en,)


@pytest.mark.parametrize(
    "norm",
    [nn.RMSNorm, nn.RMSNorm(4), blocklab.RMSNorm(4, eps=1.0), nn.LayerNorm(4), nn.BatchNorm2d, nn.BatchNorm2d(3)],
    ids=lambda norm: norm.__name__ if isinstance(norm, type) else str(norm),
)
def test_norm_may_be_module_or_class_of_any_size(norm, plug_into):
    name = norm.__name__ if isinstance(norm, type) else type(norm).__name__
    block = {"RMSNorm": "rms_norm", "LayerNorm": "layer_norm", "BatchNorm2d": "batch_norm"}[name]
    got = plug_into(SMALL[block], block, norm)
    assert got.yours.lines() == got.right.lines()


def test_swiglu_may_be_module_with_three_linear_layers(plug_into):
    class Gated(nn.Module):
        def __init__(self, d, hidden):
            super().__init__()
            self.w1, self.w3 = (nn.Linear(d, hidden, bias=False) for _ in range(2))
            self.w2 = nn.Linear(hidden, d, bias=False)

        def forward(self, x):
            return self.w2(F.silu(self.w1(x)) * self.w3(x))

    module = Gated(2, 3)
    before = {name: x.clone() for name, x in module.state_dict().items()}
    got = plug_into("glassllm", "swiglu", module)
    assert got.yours.lines() == got.right.lines()
    assert all(torch.equal(x, before[name]) for name, x in module.state_dict().items())


# Known mistakes of every block: the answers and the messages


def before_and_after(number, probability, later, then):
    return BeforeAndAfter(Classification(number, probability), Classification(later, then))


WRONG = {
    ("rms_norm", "layer-norm"): (Generation(3.83), ["HIGHER"]),
    ("rms_norm", "weight-ignored"): (Generation(4.59), ["HIGHER"]),
    ("rms_norm", "over-the-sentence"): (Generation(4.80, leaks_future=True), ["HIGHER", "LEAKS_FUTURE"]),
    ("swiglu", "w3-is-the-gate"): (Generation(4.68), ["HIGHER"]),
    ("swiglu", "geglu-for-swiglu"): (Generation(4.04), ["HIGHER"]),
    ("swiglu", "gate-not-activated"): (Generation(4.44), ["HIGHER"]),
    ("rotary_embedding", "pairs-of-halves"): (Generation(3.97), ["HIGHER"]),
    ("rotary_embedding", "positions-missing"): (Generation(4.22), ["HIGHER"]),
    ("rotary_embedding", "one-frequency"): (Generation(4.35), ["HIGHER"]),
    ("attention", "scale-missing"): (Generation(4.23), ["HIGHER"]),
    ("attention", "mask-ignored"): (Generation(3.93, leaks_future=True), ["HIGHER", "LEAKS_FUTURE"]),
    ("attention", "keys-for-values"): (Generation(5.74), ["HIGHER"]),
    ("cached_attention", "triangle-upper-left"): (Generation(5.04), ["HIGHER"]),
    ("cached_attention", "heads-tiled"): (Generation(4.09), ["HIGHER"]),
    ("cached_attention", "nothing-hidden"): (Generation(3.76, leaks_future=True), ["LEAKS_FUTURE", "LEAKS_AND_GAINS"]),
    ("cached_attention", "only-the-old-handed-on"): (Generation(4.25), ["HIGHER"]),
    ("layer_norm", "mean-not-subtracted"): (NearestSentence((0.53, 0.61, 0.29, 0.06)), ["ANOTHER_COSINE"]),
    ("layer_norm", "weight-ignored"): (NearestSentence((0.86, 0.80, 0.81, 0.67)), ["ANOTHER_SENTENCE"]),
    ("layer_norm", "over-the-batch"): (NearestSentence((-0.29, -0.13, -0.23, -0.24)), ["NO_LONGER_NEAR"]),
    ("layer_norm_by_axes", "axes-from-the-front"): (NearestSentence((-0.24, -0.16, -0.27, -0.20)), ["NO_LONGER_NEAR"]),
    ("batch_norm", "eps-outside-root"): (before_and_after(985, 0.232, 985, 0.158), ["ANOTHER_PROBABILITY"]),
    ("batch_norm", "batch-statistics-in-eval"): (before_and_after(852, 0.002, 852, 0.002), ["ANOTHER_CLASS"]),
    ("batch_norm", "bias-ignored"): (before_and_after(714, 0.994, 769, 0.801), ["ANOTHER_CLASS"]),
    ("batch_norm", "momentum-of-keras"): (before_and_after(985, 0.210, 961, 0.004), ["ANOTHER_MEMORY"]),
    ("batch_norm", "momentum-ignored"): (before_and_after(985, 0.210, 947, 0.093), ["ANOTHER_MEMORY"]),
    ("batch_norm", "never-updated"): (before_and_after(985, 0.210, 985, 0.210), ["ANOTHER_MEMORY"]),
    ("batch_norm", "running-statistics-in-training"): (before_and_after(985, 0.210, 947, 0.126), ["ANOTHER_MEMORY"]),
}


@pytest.mark.parametrize(("block", "mistake"), WRONG)
def test_wrong_block_changes_answer_and_is_explained(block, mistake, plug_into):
    answer, names = WRONG[block, mistake]
    got = plug_into(SMALL[block], block, wrong_block(block, mistake))
    assert got.stopped is None
    assert_close_answer(got.yours, answer)
    told = [messages.TEN_BATCHES.en] if block == "batch_norm" else []
    assert [*got.messages] == [*(getattr(messages, name).en for name in names), *told]


def assert_close_answer(yours, answer):
    if isinstance(answer, BeforeAndAfter):
        assert_close_answer(yours.before, answer.before)
        assert_close_answer(yours.after, answer.after)
        return
    for name, value in vars(answer).items():
        assert getattr(yours, name) == (pytest.approx(value, abs=0.006) if isinstance(value, float | tuple) else value)


SMOLLM2_WRONG = {  # 3 s each
    ("rms_norm", "layer-norm"): (Generation(3.39, "The capital of France is Paris."), ["BLURRED"]),
    ("rms_norm", "weight-ignored"): (Generation(13.98, ",,,,,,,,…"), ["ANOTHER_ANSWER"]),
    ("swiglu", "geglu-for-swiglu"): (Generation(4.76, "The capital of France is Paris:\n…"), ["ANOTHER_ANSWER"]),
    ("rotary_embedding", "pairs-of-halves"): (Generation(5.04, "The\nThe\nThe_\nThe…"), ["ANOTHER_ANSWER"]),
    ("attention", "mask-ignored"): (
        Generation(1.46, "Complete the sentence: The capital of France…", leaks_future=True),
        ["ANOTHER_ANSWER", "LEAKS_FUTURE", "LEAKS_AND_GAINS"],
    ),
    ("cached_attention", "triangle-upper-left"): (Generation(3.08, "The-------…"), ["ANOTHER_ANSWER"]),
    ("cached_attention", "heads-tiled"): (Generation(11.00, '_ wisill forwardESB:") T…'), ["ANOTHER_ANSWER"]),
}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("smollm2")
@pytest.mark.parametrize(("block", "mistake"), SMOLLM2_WRONG)
def test_wrong_block_in_smollm2(block, mistake, plug_into):
    answer, names = SMOLLM2_WRONG[block, mistake]
    got = plug_into("SmolLM2", block, wrong_block(block, mistake))
    assert_close_answer(got.yours, answer)
    assert got.messages == tuple(getattr(messages, name).en for name in names)
    assert f"with {got.name}: {networks.truncate_line(answer.text)}\n" in str(got)


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (Generation(2.88, "The capital is Paris"), ["ANOTHER_ANSWER", "LOWER"]),
        (Generation(2.97, "Paris."), ["LOWER"]),
        (Generation(3.084, "Paris."), []),
        (Generation(3.084, "Rome."), ["ANOTHER_ANSWER"]),
        (Generation(5.0, "Paris.", leaks_future=True), ["BLURRED", "LEAKS_FUTURE"]),
    ],
    ids=str,
)
def test_messages_about_losses(answer, names):
    assert list(answer.compare(Generation(3.0819, "Paris."))) == [getattr(messages, name) for name in names]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda query, key, value: query, "You returned a tensor; expected a tuple or list of 3."),
        (lambda query, key, value: (query, None, value), "You returned `NoneType`; expected a tensor."),
        (lambda query, key, value: (query[:, :1], key, value), "expected `(1, 4, 34, 32)`"),
        (lambda query, key, value: (query, key, value * torch.nan), "returns NaN or infinity"),
        (lambda query, key, value: (query, key, value.to("meta")), "you returned `meta`, expected `cpu`"),
    ],
    ids=["one", "none", "shape", "nan", "device"],
)
def test_wrong_result_of_cached_attention_is_reported(step, message, plug_into):
    def block(query, key, value, past_keys, past_values):  # noqa: ARG001
        return step(query, key, value)

    got = plug_into("glassllm", "cached_attention", block)
    assert got.yours is None
    assert message in got.messages[0]


class NewBuffers(nn.BatchNorm2d):
    """A BatchNorm that puts a new tensor in the place of a buffer instead of writing into it."""

    share = 1.0  # of the momentum

    def forward(self, x):
        mean, var = self.running_mean.clone(), self.running_var.clone()
        y = F.batch_norm(x, mean, var, self.weight, self.bias, self.training, self.share * self.momentum, self.eps)
        self.running_mean, self.running_var = mean, var
        return y


class LargerSteps(NewBuffers):
    share = 10.0


def test_batch_norm_may_replace_its_buffers(plug_into):
    got = plug_into("EfficientNet-Lite0", "batch_norm", NewBuffers)
    assert got.yours.lines() == got.right.lines() == ["a daisy, 21.0%", "a daisy, 14.6%"]
    got = plug_into("EfficientNet-Lite0", "batch_norm", LargerSteps)
    assert got.yours.lines() == ["a daisy, 21.0%", "a mushroom, 9.3%"]


def test_answer_of_batch_norm_in_both_languages(plug_into):
    def copied(x, mean, var, weight, bias, training, _momentum, eps):
        return F.batch_norm(x, mean, var, weight, bias, training, 0.99, eps)

    assert str(plug_into("EfficientNet-Lite0", "batch_norm", copied)) == (
        "EfficientNet-Lite0 with copied as its batch_norm, in 49 places\n"
        "\n"
        "  the photo of a flower, in eval()\n"
        "    with copied: a daisy, 21.0%\n"
        "    with the right one: a daisy, 21.0%\n"
        "\n"
        "  the same after ten batches in train()\n"
        "    with copied: dough, 0.4%\n"
        "    with the right one: a daisy, 14.6%\n"
        "\n"
        "The first answer is the same, but the second is not: in training this function normalizes differently, or it "
        "does not write the same into the buffers.\n"
        "Each of the ten batches contains this flower and a palace. The layers' momentum is 0.01, and there is no "
        "optimizer."
    )
    with use_language("zh"):
        shown = plug_into("EfficientNet-Lite0", "batch_norm", copied)._repr_mimebundle_()
    assert "    copied：面团，0.4%" in shown["text/plain"].splitlines()
    assert re.search(
        "训练模式下看过十个小批量之后</th><td [^>]*>面团，0.4%</td><td [^>]*>雏菊，14.6%</td>", shown["text/html"]
    )


def test_module_is_called_as_often_as_a_function(plug_into):
    calls = []

    def function(x, normalized_shape, weight=None, eps=None):
        calls.append("function")
        return F.rms_norm(x, normalized_shape, weight, eps)

    class Norm(nn.RMSNorm):
        def forward(self, x):
            calls.append("Module")
            return super().forward(x)

    for block in function, Norm:
        plug_into("glassllm", "rms_norm", block)
    assert calls.count("Module") == calls.count("function") > 0


# Text and HTML


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\n\n\nYou are a\n", "↵↵↵You are a↵"),
        (" arel:\xa0about ", "arel: about"),
        ("_{}rapistsapagos<filename>", "_{}…"),
        ("na" * 50, "na" * 29 + "n…"),
        ("\x1b[31m", "\\x1b[31m"),
    ],
)
def test_answer_is_truncated_and_escaped(text, shown):
    assert truncate_line(text) == shown


def test_result_in_both_languages_and_as_html(plug_into):
    def weight_ignored(x, normalized_shape, _weight, bias, eps):
        return F.layer_norm(x, normalized_shape, None, bias, eps)

    assert str(plug_into("MiniLM", "layer_norm", weight_ignored)) == (
        "MiniLM with weight_ignored as its layer_norm, in 13 places\n"
        "\n"
        "  nearest in meaning to “He is playing the guitar.”\n"
        "    with weight_ignored: He is playing chess.\n"
        "    with the right one: Someone makes music.\n"
        "\n"
        "  cosine: He is playing chess.\n"
        "    with weight_ignored: 0.86\n"
        "    with the right one: 0.36\n"
        "\n"
        "  cosine: Someone makes music.\n"
        "    with weight_ignored: 0.80\n"
        "    with the right one: 0.60\n"
        "\n"
        "  cosine: He is reading the news.\n"
        "    with weight_ignored: 0.81\n"
        "    with the right one: 0.21\n"
        "\n"
        "  cosine: It will rain tomorrow.\n"
        "    with weight_ignored: 0.67\n"
        "    with the right one: 0.02\n"
        "\n"
        "No weight has changed. Swapping one function was enough to make another sentence the nearest."
    )
    with use_language("zh"):
        got = plug_into("MiniLM", "layer_norm", weight_ignored)
        shown = got._repr_mimebundle_()
    assert shown["text/plain"].splitlines()[3:5] == [
        "    weight_ignored：He is playing chess.（他在下棋。）",
        "    正确的：Someone makes music.（有人在奏乐。）",
    ]
    assert shown["text/html"].count("<tr") == 6
    assert re.search(
        r"余弦相似度：He is playing chess.（他在下棋。）</th><td [^>]*>0.86</td><td [^>]*>0.36</td>", shown["text/html"]
    )


def chats(yours: Generation | None, right: Generation) -> SwapResult:
    labels = messages.ANSWER, messages.LOSS_ON_ZEN
    return SwapResult("rms_norm", "SmolLM2", 61, labels, ("a < b",), yours, right, messages=("`x` & y",), name="<i>")


def test_answer_is_escaped_in_html():
    html = chats(Generation(1.0, "<b>"), Generation(2.0, "<u>")).html()
    assert "&lt;b&gt;" in html
    assert "a &lt; b" in html
    assert "<code>x</code> &amp; y</p>" in html
    assert not re.search(r"<[biu]>(?!\d)", html)


def test_card_shows_chats_with_bars_for_the_losses():
    html = chats(Generation(14.0, ",,,,"), Generation(3.5, "Paris.")).html()
    assert html.count("Complete the sentence: The capital of France is</span>") == 2
    assert html.index(",,,,") < html.index("Paris.")
    assert re.findall(r"width:([\d.]+%);background-color:(#\w+)", html) == [("100.0%", RED), ("25.0%", GREEN)]
    same = chats(Generation(3.5, "Paris."), Generation(3.5, "Paris.")).html()
    assert re.findall(r"width:([\d.]+%);background-color:(#\w+)", same) == [("100.0%", GREEN), ("100.0%", GREEN)]
    assert chats(None, Generation(0.0, "Paris.")).html().count("Paris.") == 1


@pytest.mark.parametrize(
    ("block", "words"), [("rms_norm", messages.PROVED), ("layer_norm", messages.PROVED), ("attention", messages.PROVED)]
)
def test_block_that_check_has_passed_is_not_doubted(block, words, plug_into):
    assert plug_into(SMALL[block], block, OURS[block], proved=True).messages[0] == words.en
    assert plug_into(SMALL[block], block, OURS[block]).messages[0] == messages.SAME.en


@pytest.mark.usefixtures("smollm2")
def test_chat_model_speaks_the_same_with_a_proved_block(plug_into):
    assert plug_into("SmolLM2", "rms_norm", F.rms_norm, proved=True).messages == (messages.SPEAKS_THE_SAME.en,)


def test_only_the_function_that_has_passed_check_is_proved(monkeypatch):
    told = []
    monkeypatch.setattr(api, "swap", lambda *_about, proved: told.append(proved))
    right, other, wrong = (lambda x, *about, f=f: f(x, *about) for f in (F.layer_norm, F.layer_norm, torch.mul))
    plug_in(layer_norm=right)
    plug_in(layer_norm=None)
    check("layer_norm", right)
    plug_in(layer_norm=right)
    plug_in(layer_norm=other)
    check("layer_norm", wrong)
    plug_in(layer_norm=wrong)
    assert told == [False, False, True, False, False]


def test_function_that_fails_later_is_no_longer_proved():
    factor = 1.0

    def scaled(x, normalized_shape, weight=None, bias=None, eps=1e-5):
        return factor * F.layer_norm(x, normalized_shape, weight, bias, eps)

    check("layer_norm", scaled)
    assert api.has_passed("layer_norm", scaled)
    factor = 2.0
    check("layer_norm", scaled)
    assert not api.has_passed("layer_norm", scaled)


# Unwritten blocks


def stub(*_arguments):
    return ...


def raising_stub(*_arguments):
    raise NotImplementedError


def empty(*_arguments):
    """Words."""


@pytest.mark.parametrize("candidate", [stub, raising_stub, empty, None, ...])
def test_unwritten_block_shows_right_answer(candidate, plug_into):
    got = plug_into("glassllm", "rms_norm", candidate)
    assert (got.stopped, got.yours) == ("not-written-yet", None)
    assert got.right.loss == pytest.approx(3.81, abs=0.006)
    assert got.headline == "glassllm with the right rms_norm"
    assert got.notes[-1] == messages.NOT_WRITTEN.en
    assert str(got).count(" with the right one: ") == len(got.labels) == 1
    assert got.html().count("border-radius:4px") == 2  # a bar and its background


def test_unwritten_layer_shows_right_answer(plug_into):
    class MyBatchNorm(nn.BatchNorm2d):
        def forward(self, _x):
            return ...

    got = plug_into("EfficientNet-Lite0", "batch_norm", MyBatchNorm(3))
    assert (got.stopped, got.right.before.number) == ("not-written-yet", 985)


# Cleaning up


@pytest.mark.parametrize(
    "candidate",
    [F.rms_norm, stub, lambda x, *rest: x @ x],
    ids=["right", "stub", "raises"],
)
def test_network_is_freed(candidate, plug_into, monkeypatch):
    load, models = networks.load_glassllm, []

    def watched():
        model = load()
        models.append(weakref.ref(model))
        return model

    monkeypatch.setattr(networks, "load_glassllm", watched)
    gc.disable()
    try:
        got = plug_into("glassllm", "rms_norm", candidate)
        assert [model() for model in models] == [None] * len(models)
    finally:
        gc.enable()
    assert got.stopped != "network-missing"
    assert models


def test_global_state_is_restored(plug_into, capsys):
    def meddling(x, normalized_shape, weight=None, eps=None):
        print("at work")
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(1)
        weight.zero_()
        return F.rms_norm(x, normalized_shape, weight, eps)

    state = torch.get_rng_state()
    got = plug_into("glassllm", "rms_norm", meddling)
    assert got.yours.loss > got.right.loss
    assert torch.get_default_dtype() == torch.float32
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.is_grad_enabled()
    assert capsys.readouterr().out == "at work\n"
    assert plug_into("glassllm", "rms_norm", F.rms_norm).yours.loss == pytest.approx(got.right.loss)


NAMED = {
    "a lambda": (lambda x, *_others: x, "<lambda>"),
    "a Module": (nn.RMSNorm(4), "RMSNorm"),
}


@pytest.mark.parametrize(("candidate", "name"), NAMED.values(), ids=NAMED)
def test_result_says_what_was_plugged_in(candidate, name, plug_into):
    assert plug_into("glassllm", "rms_norm", candidate).headline.startswith(
        f"glassllm with {name} as its rms_norm, in "
    )


def test_plug_in_by_name(capsys):
    got = plug_in(layer_norm=F.layer_norm)
    if got.stopped == "network-missing":
        pytest.skip(str(got))
    assert got.yours.sentence == "Someone makes music."
    assert capsys.readouterr().out == ""


def test_empty_answer():
    assert Generation(5.04, "").lines() == ["(not one word: it ends at once)", "5.04"]
