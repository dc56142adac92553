"""Any submission gets a verdict of bounded length in bounded time, and the process state is restored."""

import contextlib
import gc
import logging
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch

from blocklab_course import check
from blocklab_course.checks import isolation
from blocklab_course.checks.modules import UnsupportedModule
from blocklab_course.checks.outcome import CannotCompare, NotComparable

PATIENCE = 0.3
HANG = 60  # seconds for a whole process, far more than it takes


def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    return F.layer_norm(x, shape, weight, bias, eps)


def without_eps(x, shape, weight=None, bias=None, _eps=1e-5):
    return F.layer_norm(x, shape, weight, bias, 0.0)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.get_float32_matmul_precision()  # torch 2.9 warns the first time


def process_state():
    """Return the state that a check could leave changed."""
    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.empty(0).device,
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "modes": (torch.get_deterministic_debug_mode(), torch.is_anomaly_enabled(), torch.is_autocast_enabled("cpu")),
        "entered modes": (
            torch.overrides._get_current_function_mode_stack(),
            _python_dispatch._get_current_dispatch_mode_stack(),
            torch._C._autograd._top_saved_tensors_default_hooks(True),
        ),
        "backends": (
            torch.get_float32_matmul_precision(),
            torch.backends.cuda.matmul.allow_tf32,
            [getattr(torch.backends.cudnn, name) for name in ("enabled", "benchmark", "deterministic", "allow_tf32")],
            sys.float_info.min / 2 == 0,
        ),
        "threads": torch.get_num_threads(),
        "random numbers": (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()),
        "printing": (dict(vars(torch._tensor_str.PRINT_OPTS)), str(np.get_printoptions())),
        "streams": (sys.stdout, sys.stderr),
        "folder, environment, path": (os.getcwd(), dict(os.environ), list(sys.path)),
        "warnings": list(warnings.filters),
        "logs": logging.root.manager.disable,
        "tracing": (sys.gettrace(), sys.getprofile()),
        "python": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), str(np.geterr())),
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)],
        "blocked": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "functions": (
            torch.equal,
            torch.allclose,
            F.layer_norm,
            Tensor.mean,
            torch.testing.assert_close,
            Tensor.__eq__,
            isinstance,
            math.sqrt,
        ),
    }


@contextlib.contextmanager
def state_is_restored():
    """Assert that the body leaves the process state unchanged and that later checks work."""
    before = process_state()
    yield
    assert process_state() == before
    assert check("layer_norm", layer_norm).passed
    assert check("layer_norm", without_eps).mistake == "eps-missing"


def assert_short(verdict):
    assert len(str(verdict)) < 3000
    assert len(verdict.html()) < 5000
    str(verdict).encode("utf-8")
    return verdict


# Time limit


def endless(x):
    while True:
        x = x + 0


def catches_everything(x):
    while True:
        try:
            x = x.sin()
        except BaseException:
            continue


def catches_everything_in_inner_function(x):
    def inner():
        while True:
            try:
                x.sin()
            except:  # noqa: E722
                continue

    with torch.no_grad(), contextlib.suppress(BaseException):
        inner()


def sleeps(x):
    time.sleep(1000)


def sleeps_again(x):
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            continue


def waits(x):
    threading.Event().wait()


def runs_a_generator(x):
    def numbers():
        while True:
            try:
                yield x.sin()
            except BaseException:
                continue

    for _ in numbers():
        pass


def converts_interruption_to_error(x):
    try:
        endless(x)
    except BaseException:
        raise ValueError from None


def returns_after_interruption(x):
    with contextlib.suppress(BaseException):
        endless(x)
    return F.layer_norm(x, x.shape[-1:])


def prints_endlessly(x):
    while True:
        print("here", "there" * 1000)
        print("here", file=sys.stderr)
        logging.error("here")
        warnings.warn("here", stacklevel=1)


def ignores_signals(x):
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    catches_everything(x)


def blocks_signals(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGALRM})
    catches_everything(x)


def handles_and_blocks_signals(x):
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    blocks_signals(x)


def only_blocks_signals(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    endless(x)


class EndlessMessage(Exception):
    def __str__(self):
        endless(torch.ones(1))


def raises_endless_message(x):
    raise EndlessMessage


class EndlessGradient(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, x):
        return x.clone()

    @staticmethod
    def backward(_ctx, grad):
        endless(grad)


BUSY = [
    endless,
    catches_everything,
    catches_everything_in_inner_function,
    runs_a_generator,
    converts_interruption_to_error,
    returns_after_interruption,
    ignores_signals,
    blocks_signals,
    only_blocks_signals,
    handles_and_blocks_signals,
    raises_endless_message,
    lambda x: EndlessGradient.apply(F.layer_norm(x, x.shape[-1:])),
]
WAITING = [sleeps, sleeps_again, waits]


@pytest.mark.parametrize("loop", BUSY + WAITING)
def test_stops_endless_function(loop):
    with state_is_restored():
        verdict = assert_short(check("layer_norm", lambda x, *rest: loop(x), patience=PATIENCE))
        assert (verdict.passed, verdict.mistake) == (False, "interrupted")


@pytest.mark.parametrize("loop", BUSY)
def test_stops_endless_function_outside_main_thread(loop):
    verdicts = []
    thread = threading.Thread(
        target=lambda: verdicts.append(check("layer_norm", lambda x, *rest: loop(x), patience=PATIENCE)), daemon=True
    )
    with state_is_restored():
        thread.start()
        thread.join(HANG)
        assert [verdict.mistake for verdict in verdicts] == ["interrupted"]


def test_truncates_endless_output(capsys):
    with state_is_restored():
        check("layer_norm", lambda x, *rest: prints_endlessly(x), patience=PATIENCE)
    shown = capsys.readouterr()
    assert shown.out.startswith("here there")
    assert len(shown.out) < 3000
    assert shown.err == ""


def test_suppresses_logs(caplog):
    def logs(x, *rest):
        logging.critical("here")
        return F.layer_norm(x, *rest)

    assert check("layer_norm", logs).passed
    assert caplog.records == []


IN_A_PROCESS = """
import os
import signal
from blocklab_course import check

def endless(x, shape, weight=None, bias=None, eps=1e-5):
    while True:
        try:
            x = x.sin()
        except BaseException:
            pass

for setting in {settings}:
    if os.fork() == 0:
        exec(setting)
        before = signal.getsignal(signal.SIGINT)
        assert check("layer_norm", endless, patience=0.3).mistake == "interrupted"
        assert signal.getsignal(signal.SIGINT) == before
        break
else:
    assert [os.wait()[1] for setting in {settings}] == [0] * len({settings})
"""
SETTINGS = {
    "as it comes": "",
    "ignored": "signal.signal(signal.SIGINT, signal.SIG_IGN)",
    "by default": "signal.signal(signal.SIGINT, signal.SIG_DFL)",
    "blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})",
}


def test_stops_endless_function_under_any_signal_setting():
    """Run as under `nohup … &`: without terminal and input, and with SIGINT and SIGHUP ignored from the start."""

    def ignore_signals():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS.format(settings=list(SETTINGS.values()))],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=ignore_signals,
        timeout=HANG,
        check=True,
    )


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

    verdict = check("round_up", count_up, patience=PATIENCE)
    assert verdict.passed
    assert set(verdict.advice) == {"large-number", "below-zero"}

    def endless_on_empty_input(x, *given):
        while not x.numel():
            pass
        return F.layer_norm(x, *given)

    assert not check("layer_norm", endless_on_empty_input, patience=PATIENCE).passed


# Returned values


class AlwaysTrue(Tensor):
    """Every torch function returns True for it."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


class AlwaysEqual(int):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = int.__hash__


class FakeTensor:
    @property
    def __class__(self):
        return Tensor

    def __getattr__(self, name):
        raise SystemExit

    def __repr__(self):
        raise SystemExit


def freed(x):
    y = torch.ones(x.shape)
    y.untyped_storage().resize_(0)
    return y


RETURNED = {
    "a long text": lambda x: "a" * 10_000_000,
    "a large tuple": lambda x: tuple(range(100_000)),
    "a large list": lambda x: list(range(100_000)),
    "an empty tuple": lambda x: (),
    "sparse": lambda x: x.to_sparse(),
    "compressed": lambda x: x.flatten(0, -2).to_sparse_csr(),
    "nested": lambda x: torch.nested.nested_tensor([x[0].detach().flatten(), x[0].detach().flatten()[:1]]),
    "quantized": lambda x: torch.quantize_per_tensor(x.detach().float(), 0.1, 0, torch.quint8),
    "complex": lambda x: x.to(torch.complex64).conj(),
    "a billion numbers": lambda x: torch.zeros(1).expand(10**9),
    "freed memory": freed,
    "NumPy": lambda x: x.detach().numpy(),
    "a generator": lambda x: (row for row in x),
    "a class": lambda x: int,
    "a module": lambda x: torch,
    "NaN": lambda x: math.nan,
    "a huge number": lambda x: 10**10000,
    "a tensor that is always true": lambda x: x.clone().as_subclass(AlwaysTrue),
    "a number that is always equal": lambda x: AlwaysEqual(3),
    "a fake tensor": lambda x: FakeTensor(),
    "half a surrogate pair": lambda x: "\ud800\x00",
}


@pytest.mark.parametrize("make", RETURNED.values(), ids=RETURNED)
@pytest.mark.filterwarnings("ignore")
def test_describes_any_returned_value_briefly(make):
    with state_is_restored():
        verdict = assert_short(check("layer_norm", lambda x, *rest: make(x), patience=30))
        assert not verdict.passed
        assert verdict.mistake in {"wrong-type", "wrong-shape", "wrong-dtype", "input-returned"}


OVERRIDES = {
    "round_up": lambda *rest: AlwaysEqual(0),
    "causal_mask": lambda length, *rest: torch.ones(length, length).bool().as_subclass(AlwaysTrue),
    "scale": AlwaysEqual(7),
    "half_size": FakeTensor(),
}


@pytest.mark.parametrize("exercise", OVERRIDES)
def test_returned_object_cannot_override_comparison(exercise):
    assert not assert_short(check(exercise, OVERRIDES[exercise])).passed


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


class NoTraceback(Exception):
    @property
    def __traceback__(self):
        raise SystemExit


RAISED = [
    SystemExit(3),
    GeneratorExit(),
    KeyboardInterrupt(),
    BaseException("x"),
    NoMessage(),
    NoTraceback(),
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


def test_suppresses_warnings_from_reading_settings(monkeypatch):
    """torch 2.9 warns before and after a check, and pytest turns warnings into errors."""

    def read():
        warnings.warn("use the new API", stacklevel=2)
        return False

    states = (*isolation._STATES, (read, torch.set_deterministic_debug_mode))
    monkeypatch.setattr(isolation, "_STATES", states)
    before = [*warnings.filters]
    assert check("relu", lambda x: x.clamp(min=0)).passed
    assert warnings.filters == before


def test_reports_out_of_memory():
    with state_is_restored():
        assert check("layer_norm", lambda x, *rest: torch.ones(10**13) + x).mistake == "raises"


# Restored state

CHANGES = {
    "type": lambda: torch.set_default_dtype(torch.float64),
    "device": lambda: torch.set_default_device("meta"),
    "gradients": lambda: torch.set_grad_enabled(False),
    "threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "seeds": lambda: (torch.manual_seed(1), random.seed(1), np.random.seed(1)),
    "random numbers": lambda: (torch.rand(1), random.random(), np.random.rand()),
    "modes": lambda: (torch.use_deterministic_algorithms(True), torch.autograd.set_detect_anomaly(True)),
    "backends": lambda: (
        torch.set_float32_matmul_precision("medium"),
        setattr(torch.backends.cudnn, "benchmark", True),
        setattr(torch.backends.cudnn, "deterministic", True),
        setattr(torch.backends.cudnn, "enabled", False),
    ),
    "precision": lambda: (
        setattr(torch.backends.cuda.matmul, "allow_tf32", True),
        setattr(torch.backends.cudnn, "allow_tf32", False),
    ),
    "small numbers": lambda: torch.set_flush_denormal(True),
    "masks": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGALRM}),
    "printing": lambda: (torch.set_printoptions(precision=1), np.set_printoptions(precision=1)),
    "streams": lambda: (setattr(sys, "stdout", None), setattr(sys, "stderr", None)),
    "folder": lambda: os.chdir("/"),
    "environment": lambda: (os.environ.pop("PATH", None), os.environ.update(NEW="1")),
    "path": sys.path.clear,
    "warnings": lambda: warnings.simplefilter("error"),
    "logs": lambda: logging.disable(logging.NOTSET),
    "tracing": lambda: (sys.settrace(lambda *_: None), sys.setprofile(lambda *_: None)),
    "recursion": lambda: sys.setrecursionlimit(5000),
    "switching": lambda: sys.setswitchinterval(0.5),
    "garbage": gc.disable,
    "floats": lambda: np.seterr(all="raise"),
    "signals": lambda: [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGALRM)],
}


def allow_backend_flags():
    """Let cuDNN's flags be set. torch's test tools, which other tests import, forbid it for the whole process."""
    return getattr(torch.backends, "__allow_nonbracketed_mutation")()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_restores_changed_settings(change):
    def changes(x, *rest):
        y = layer_norm(x, *rest)
        change()
        return y

    with state_is_restored(), allow_backend_flags():
        assert check("layer_norm", changes).passed


class Zeros(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return torch.zeros(3)


class Passes(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Doubles(_python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        y = function(*args, **(kwargs or {}))
        return y + y if "mul" in str(function) else y


ENTERED = {
    "functions, with zeros": Zeros,
    "functions, unchanged": Passes,
    "operators": Doubles,
    "saved tensors": lambda: torch.autograd.graph.saved_tensors_hooks(lambda x: 0 * x, lambda x: x),
    "a device": lambda: torch.device("meta"),
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "gradients": torch.no_grad,
}


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("enter", ENTERED.values(), ids=ENTERED)
def test_leaves_modes_that_were_never_exited(enter, times):
    entered = []

    def enters(x, *rest):
        y = layer_norm(x, *rest)
        for _ in range(times):
            entered.append(enter())
            entered[-1].__enter__()
        return y

    with state_is_restored():
        assert check("layer_norm", enters).passed


class EntersModeInBackward(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, x):
        return x.clone()

    @staticmethod
    def backward(_ctx, grad):
        Zeros().__enter__()
        return grad


ENTERED_INFERENCE_MODES = []


def enters_inference_mode(x):
    ENTERED_INFERENCE_MODES.append(torch.inference_mode())
    ENTERED_INFERENCE_MODES[-1].__enter__()
    return x.clone()


@pytest.mark.parametrize("enters", [EntersModeInBackward.apply, enters_inference_mode], ids=["backward", "inference"])
def test_leaves_modes_entered_in_backward_or_inference(enters):
    with state_is_restored():
        assert_short(check("layer_norm", lambda x, *rest: enters(layer_norm(x, *rest))))


PATCHES = {
    "assert_close": (torch.testing, "assert_close", lambda *_, **__: None),
    "equal": (torch, "equal", lambda *_: True),
    "allclose": (torch, "allclose", lambda *_, **__: True),
    "the exercise": (F, "layer_norm", lambda x, *_: 2 * x),
    "the mean": (Tensor, "mean", lambda x, *_, **__: x),
    "the difference": (Tensor, "__sub__", lambda x, *_: torch.zeros_like(x)),
    "the largest": (Tensor, "max", lambda *_: torch.tensor(0.0)),
    "equality": (Tensor, "__eq__", lambda x, _: torch.ones_like(x).bool()),
    "isinstance": ("builtins", "isinstance", lambda *_: True),
    "the root": (math, "sqrt", None),
    "the clock": (time, "monotonic", lambda: 0.0),
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_replaced_functions_do_not_affect_comparison(patch):
    place, name, value = patch

    def replaces(x, *rest):
        setattr(sys.modules.get(place, place) if isinstance(place, str) else place, name, value)
        return 2 * x

    with state_is_restored():
        assert not check("layer_norm", replaces).passed


MUTATIONS = {
    "through a view": lambda x: x.view(-1)[:1].add_(1),
    "through .data": lambda x: x.data.mul_(2),
    "its size": lambda x: setattr(x, "data", torch.zeros(1)),
    "its type": lambda x: setattr(x, "data", x.double()),
    "through NumPy": lambda x: x.detach().numpy().fill(0),
    "its memory": lambda x: x.untyped_storage().resize_(0),
    "its mark": lambda x: x.requires_grad_(not x.requires_grad),
    "its gradient": lambda x: setattr(x, "grad", torch.ones_like(x)),
    "its class": lambda x: (x.data.zero_(), setattr(x, "__class__", AlwaysTrue)),
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

MODES = {
    "float64": (lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32)),
    "meta": (lambda: torch.set_default_device("meta"), lambda: torch.set_default_device(None)),
    "no gradients": (lambda: torch.set_grad_enabled(False), lambda: torch.set_grad_enabled(True)),
    "anomalies": (
        lambda: torch.autograd.set_detect_anomaly(True),
        lambda: torch.autograd.set_detect_anomaly(False),
    ),
}


def backward_by_autograd(grad, x, weight, eps=1e-5):
    leaves = [x.detach().requires_grad_(), weight.detach().requires_grad_(), torch.zeros_like(weight).requires_grad_()]
    y = F.layer_norm(leaves[0], weight.shape, leaves[1], leaves[2], eps)
    return torch.autograd.grad(y, leaves, grad)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize(
    ("exercise", "solution"),
    [("layer_norm", layer_norm), ("batch_norm", F.batch_norm), ("layer_norm_backward", backward_by_autograd)],
)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_verdict_is_same_in_every_mode(exercise, solution, mode):
    begin, end = mode
    begin()
    try:
        before = process_state()
        assert check(exercise, solution).passed
        assert process_state() == before
    finally:
        end()


@pytest.mark.parametrize("context", [torch.inference_mode, torch.no_grad, lambda: torch.device("meta")])
def test_verdict_is_same_inside_context(context):
    with context():
        assert check("layer_norm_backward", backward_by_autograd).passed


# Submissions


class Callable:
    def __call__(self, x, shape, weight=None, bias=None, eps=1e-5):
        return layer_norm(x, shape, weight, bias, eps)


class NoSignature(Callable):
    @property
    def __signature__(self):
        raise SystemExit


class LongDefault:
    def __repr__(self):
        return "d" * 1_000_000


def with_a_long_default(x, y=LongDefault()):  # noqa: B008
    return x


class Hostile(nn.Module):
    def __getattr__(self, name):
        raise SystemExit(name)


class CannotBeCopied(nn.LayerNorm):
    def __init__(self, size):
        super().__init__(size)
        self.lock = threading.Lock()


SUBMISSIONS = {
    "a long text": "a" * 10_000_000,
    "a huge number": 10**10000,
    "a class with a long name": type("L" * 100_000, (), {}),
    "a fake tensor": FakeTensor(),
    "a long default": with_a_long_default,
    "a hostile Module": Hostile(),
    "a module": torch,
    "a tensor": torch.ones(3),
}


@pytest.mark.parametrize("name", SUBMISSIONS)
@pytest.mark.parametrize("exercise", ["layer_norm", "scale", "encoder_layer"])
def test_any_submission_gets_verdict(name, exercise):
    with state_is_restored():
        assert not assert_short(check(exercise, SUBMISSIONS[name])).passed


@pytest.mark.parametrize("candidate", [Callable(), NoSignature().__call__, CannotBeCopied(3)], ids=range(3))
def test_accepts_any_callable(candidate):
    assert check("layer_norm", candidate).passed
