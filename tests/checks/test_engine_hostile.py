"""Whatever a learner's code does by accident, it gets a verdict of bounded length, and the kernel is left as it was."""

import contextlib
import logging
import math
import os
import random
import signal
import sys
import threading
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from blocklab_course import check, i18n
from blocklab_course.checks.modules import UnsupportedModule
from blocklab_course.checks.outcome import CannotCompare, NotComparable
from blocklab_course.lessons.catalog import EXERCISES

PATIENCE = 0.2


def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    return F.layer_norm(x, shape, weight, bias, eps)


def kernel_state():
    """Return the state that a check could leave changed."""
    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.empty(0).device,
        "modes": torch.overrides._get_current_function_mode_stack(),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "autocast": torch.is_autocast_enabled("cpu"),
        "random numbers": (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()),
        "printing": (vars(torch._tensor_str.PRINT_OPTS).copy(), str(np.get_printoptions())),
        "streams": (sys.stdout, sys.stderr, sys.stdout.closed),
        "folder": os.getcwd(),
        "warnings": list(warnings.filters),
        "logs": logging.root.manager.disable,
        "tracing": sys.gettrace(),
        "figures": plt.get_fignums(),
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)],
    }


@contextlib.contextmanager
def state_is_restored():
    """Assert that the body leaves the kernel as it was, and that later checks work."""
    before = kernel_state()
    yield
    assert kernel_state() == before
    assert check("layer_norm", layer_norm).passed


def assert_short(verdict):
    assert len(str(verdict)) < 3000
    assert len(verdict.html()) < 5000
    str(verdict).encode("utf-8")
    return verdict


# Functions that never end. `test_timeout.py` has more.


def catches_everything(x):
    while True:
        try:
            x = x.sin()
        except BaseException:
            continue


def prints_endlessly(x):
    while True:
        print("here", "there" * 1000)
        print("here", file=sys.stderr)
        logging.error("here")
        warnings.warn("here", stacklevel=1)


class Endless(Exception):
    def __str__(self):
        catches_everything(torch.ones(1))

    __repr__ = __str__


class EndlessGradient(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, x):
        return x.clone()

    @staticmethod
    def backward(_ctx, grad):
        catches_everything(grad)


def raises_endless_message(x):
    raise Endless


ENDLESS = [
    catches_everything,
    raises_endless_message,
    lambda x: EndlessGradient.apply(F.layer_norm(x, x.shape[-1:])),
]


@pytest.mark.parametrize("function", ENDLESS)
def test_stops_endless_function(function):
    with state_is_restored():
        verdict = assert_short(check("layer_norm", lambda x, *rest: function(x), patience=PATIENCE))
        assert (verdict.passed, verdict.mistake) == (False, "interrupted")


def test_truncates_endless_output(capsys, caplog):
    with state_is_restored():
        check("layer_norm", lambda x, *rest: prints_endlessly(x), patience=PATIENCE)
    shown = capsys.readouterr()
    assert shown.out.startswith("here there")
    assert len(shown.out) < 3000
    assert shown.err == ""
    assert caplog.records == []


def test_distinguishes_stop_button_from_raised_interrupt():
    def pressed(x, *rest):
        signal.raise_signal(signal.SIGINT)
        return layer_norm(x, *rest)

    def raised(x, *rest):
        raise KeyboardInterrupt

    with state_is_restored():
        assert check("layer_norm", pressed).mistake == "stopped"
        assert check("layer_norm", pressed).failures == 0
        assert check("layer_norm", raised).mistake == "raises"


def test_endless_loop_is_excused_only_by_its_advice():
    """An endless loop is a weakness on the input whose advice says so, and a fault on any other."""

    def count_up(n, multiple_of):
        width = 0
        while width < n:
            width += multiple_of
        return width

    verdict = check("round_up", count_up, patience=2)
    assert verdict.passed
    assert set(verdict.advice) == {"large-number", "below-zero"}

    def endless_on_empty_input(x, *given):
        while not x.numel():
            pass
        return F.layer_norm(x, *given)

    assert not check("layer_norm", endless_on_empty_input, patience=2).passed


# Returned values


class Labeled(Tensor):
    """A subclass as a learner may write one."""


class RaisingRepr:
    def __repr__(self):
        raise SystemExit


RETURNED = {
    "a long text": lambda x: "a" * 10_000_000,
    "a large list": lambda x: list(range(100_000)),
    "an empty tuple": lambda x: (),
    "a dict": lambda x: {"y": x},
    "sparse": lambda x: x.to_sparse(),
    "nested": lambda x: torch.nested.nested_tensor([x[0].detach().flatten(), x[0].detach().flatten()[:1]]),
    "quantized": lambda x: torch.quantize_per_tensor(x.detach().float(), 0.1, 0, torch.quint8),
    "masked": lambda x: torch.masked.masked_tensor(x.detach(), x > 0),
    "complex": lambda x: x.to(torch.complex64).conj(),
    "one complex number": lambda x: torch.zeros(1, dtype=torch.complex64),
    "on the meta device": lambda x: torch.empty_like(x, device="meta"),
    "one number on the meta device": lambda x: torch.zeros(1, device="meta"),
    "a Python complex number": lambda x: 1j,
    "a billion numbers": lambda x: torch.zeros(1).expand(10**9),
    "a Parameter": lambda x: nn.Parameter(x.detach()[None]),
    "a NumPy array": lambda x: x.detach().numpy(),
    "a NumPy number": lambda x: np.complex64(1),
    "a generator": lambda x: (row for row in x),
    "a class": lambda x: int,
    "a module": lambda x: torch,
    "a Module": lambda x: nn.LayerNorm(3),
    "NaN": lambda x: math.nan,
    "a huge number": lambda x: 10**10000,
    "a raising repr": lambda x: RaisingRepr(),
    "an endless repr": lambda x: Endless(),
    "half a surrogate pair": lambda x: "\ud800\x00",
}


@pytest.mark.parametrize("make", RETURNED.values(), ids=RETURNED)
@pytest.mark.filterwarnings("ignore")
def test_describes_any_returned_value_briefly(make):
    with state_is_restored():
        for exercise in ("layer_norm", "gelu"):
            verdict = assert_short(check(exercise, lambda x, *rest: make(x), patience=30))
            assert not verdict.passed
            assert verdict.mistake in {"wrong-type", "wrong-shape", "wrong-dtype", "wrong-device"}


ANSWERS = [
    1j,
    torch.zeros(1, dtype=torch.complex64),
    torch.zeros(1, device="meta"),
    torch.ones(3),
    np.zeros(3),
    math.nan,
]
ANSWERS += [torch.zeros(1).expand(10**9)]
ANSWERS += ["a" * 10_000_000, 10**10000, type("L" * 100_000, (), {}), RaisingRepr(), torch, (None, 1), {1: 2}, range(3)]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
@pytest.mark.parametrize("exercise", ["layer_norm", "encoder_layer", "scale", "feature_axes", "catch_layer_norm"])
def test_any_submission_gets_verdict(answer, exercise):
    assert not assert_short(check(exercise, answer)).passed


@pytest.fixture(params=i18n.LANGUAGES)
def language(request):
    i18n.set_language(request.param)
    return request.param


def test_numpy_integer_counts_as_int(language):
    verdict = check("round_up", lambda n, multiple_of: np.int64(-(-n // multiple_of) * multiple_of))
    assert verdict.passed
    verdict = check("round_up", lambda n, multiple_of: np.int64(7))
    assert verdict.counterexample.yours == "7"


def test_tensor_subclass_counts_as_tensor():
    assert check("layer_norm", lambda *given: layer_norm(*given).as_subclass(Labeled)).passed


def test_compares_result_before_it_is_overwritten():
    buffer = torch.zeros(0)

    def reuses_buffer(x, *rest):
        y = layer_norm(x, *rest)
        return y if y.requires_grad else buffer.to(y.dtype).resize_(y.shape).copy_(y)

    assert check("layer_norm", reuses_buffer).passed


# Errors


class NoMessage(Exception):
    def __str__(self):
        raise SystemExit


RAISED = [
    SystemExit(3),
    GeneratorExit(),
    KeyboardInterrupt(),
    BaseException("x"),
    NoMessage(),
    RecursionError(),
    MemoryError(),
    NotComparable(),
    UnsupportedModule(),
    CannotCompare("not-written-yet", {}),
    ValueError("x" * 10_000_000),
    ValueError("<b>\ud800\x1b[2J{0} {error} %s"),
    UserWarning(),
]


@pytest.mark.parametrize("error", RAISED, ids=range(len(RAISED)))
def test_reports_any_raised_error(error):
    def raises(x, *rest):
        raise error

    with state_is_restored():
        verdict = assert_short(check("layer_norm", raises))
        assert verdict.mistake == "raises"
        assert type(error).__name__ in str(verdict)
        assert "raise error" in str(verdict)


def recurses(*given):
    return recurses(*given)


@pytest.mark.parametrize("function", [recurses, lambda x, *rest: torch.ones(10**13) + x], ids=["stack", "memory"])
def test_reports_exhausted_stack_or_memory(function):
    with state_is_restored():
        assert assert_short(check("layer_norm", function)).mistake == "raises"


# Restored state

ENTERED = []  # contexts live on, as in a generator that is never finished


def enter(context):
    ENTERED.append(context)
    context.__enter__()


CHANGES = {
    "type": lambda: torch.set_default_dtype(torch.float64),
    "device": lambda: torch.set_default_device("meta"),
    "device, in a context": lambda: enter(torch.device("meta")),
    "gradients": lambda: torch.set_grad_enabled(False),
    "autocast": lambda: enter(torch.autocast("cpu", torch.bfloat16)),
    "seeds": lambda: (torch.manual_seed(1), random.seed(1), np.random.seed(1)),
    "random numbers": lambda: (torch.rand(1), random.random(), np.random.rand()),
    "printing": lambda: (torch.set_printoptions(precision=2), np.set_printoptions(precision=2)),
    "streams": lambda: (sys.stdout.close(), sys.stderr.close()),
    "folder": lambda: os.chdir("/"),
    "warnings": lambda: (warnings.simplefilter("error"), warnings.resetwarnings()),
    "logs": lambda: logging.disable(logging.NOTSET),
    "figures": lambda: plt.figure(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_restores_changed_settings(change):
    def changes(x, *rest):
        y = layer_norm(x, *rest)
        change()
        return y

    with state_is_restored():
        assert check("layer_norm", changes).passed


MUTATIONS = {
    "through .data": lambda x: x.data.mul_(2),
    "its size": lambda x: setattr(x, "data", torch.zeros(1)),
    "through NumPy": lambda x: x.detach().numpy().fill(0),
    "its mark": lambda x: x.requires_grad_(not x.requires_grad),
    "its gradient": lambda x: setattr(x, "grad", torch.ones_like(x)),
}


@pytest.mark.parametrize("mutate", MUTATIONS.values(), ids=MUTATIONS)
def test_detects_mutated_input(mutate):
    def mutates(x, *rest):
        y = layer_norm(x.clone(), *rest)
        with torch.no_grad():
            mutate(x)
        return y

    with state_is_restored():
        assert check("layer_norm", mutates).mistake == "mutates-input"


# Modes of the caller


def backward_by_autograd(grad, x, weight, eps=1e-5):
    leaves = [x.detach().requires_grad_(), weight.detach().requires_grad_(), torch.zeros_like(weight).requires_grad_()]
    y = F.layer_norm(leaves[0], weight.shape, leaves[1], leaves[2], eps)
    return torch.autograd.grad(y, leaves, grad)


@contextlib.contextmanager
def changed(change, back):
    change()
    try:
        yield
    finally:
        back()


MODES = {
    "float64": lambda: changed(
        lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32)
    ),
    "meta": lambda: changed(lambda: torch.set_default_device("meta"), lambda: torch.set_default_device(None)),
    "meta, in a context": lambda: torch.device("meta"),
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu"),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize(
    ("exercise", "solution"),
    [
        ("layer_norm_backward", backward_by_autograd),
        ("causal_mask", EXERCISES["causal_mask"].reference),  # makes a tensor
        ("attention", EXERCISES["attention"].reference),  # multiplies matrices, as autocast does in bfloat16
    ],
)
def test_verdict_is_same_in_every_mode(exercise, solution, mode):
    assert check(exercise, solution).passed
    with mode():
        before = kernel_state()
        assert check(exercise, solution).passed
        assert kernel_state() == before


# Submissions


class Callable:
    def __call__(self, x, shape, weight=None, bias=None, eps=1e-5):
        return layer_norm(x, shape, weight, bias, eps)


class CannotBeCopied(nn.LayerNorm):
    def __init__(self, size):
        super().__init__(size)
        self.lock = threading.Lock()


@pytest.mark.parametrize("candidate", [Callable(), Callable().__call__, CannotBeCopied(3)], ids=range(3))
def test_accepts_any_callable(candidate):
    assert check("layer_norm", candidate).passed


class RaisingAttributes(nn.Module):
    def __getattr__(self, name):
        raise SystemExit(name)


def endless_default(x, y=Endless()):  # noqa: B008
    return x


@pytest.mark.parametrize("candidate", [RaisingAttributes(), endless_default], ids=["attributes", "default"])
def test_submission_that_cannot_be_described_gets_verdict(candidate):
    assert not assert_short(check("layer_norm", candidate, patience=PATIENCE)).passed
