"""Run code under fixed settings, and restore the process state afterwards."""

import builtins
import gc
import io
import logging
import math
import operator
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn, overrides
from torch.utils import _device, _python_dispatch

MAX_OUTPUT = 2000  # characters of what a function prints

_NAMESPACES = (torch, F, torch.linalg, torch.autograd, torch.testing, Tensor, nn.Module, math, time, random)
_BUILTINS = vars(builtins)
_CPU = torch.device("cpu")
_SMALLEST_NORMAL = sys.float_info.min  # half of it is 0 if denormals are flushed to zero


def _attribute(owner: object, name: str) -> tuple[Callable, Callable]:
    return partial(getattr, owner, name), partial(setattr, owner, name)


# Pairs of functions: the first reads a setting before, the second restores it afterwards if it has changed.
_STATES: tuple[tuple[Callable, Callable], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    _attribute(torch.backends.cuda.matmul, "allow_tf32"),
    *(_attribute(torch.backends.cudnn, name) for name in ("enabled", "benchmark", "deterministic", "allow_tf32")),
    (lambda: _SMALLEST_NORMAL / 2 == 0, torch.set_flush_denormal),
    *((partial(torch.is_autocast_enabled, d), partial(torch.set_autocast_enabled, d)) for d in ("cpu", "cuda")),
    (lambda: dict(vars(torch._tensor_str.PRINT_OPTS)), lambda old: vars(torch._tensor_str.PRINT_OPTS).update(old)),
    (sys.gettrace, sys.settrace),
    (sys.getprofile, sys.setprofile),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.getswitchinterval, sys.setswitchinterval),
    (gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    (lambda: logging.root.manager.disable, logging.disable),
    (lambda: list(sys.path), lambda old: sys.path.__setitem__(slice(None), old)),
    (lambda: dict(os.environ), lambda old: (os.environ.clear(), os.environ.update(old))),
)


class CapturedOutput(io.StringIO):
    """A stream that keeps the beginning of what is printed and cannot be closed."""

    full = False

    def write(self, text: str) -> int:
        if not self.full:
            space = MAX_OUTPUT - self.tell()
            self.full = len(text) > space
            super().write(f"{text[:space]}…\n" if self.full else text)
        return len(text)

    def close(self) -> None:
        pass

    def replay(self) -> None:
        """Print what was captured, escaping what stdout cannot encode."""
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(self.getvalue().encode(encoding, "backslashreplace").decode(encoding), end="")


@contextmanager
def isolated(output: CapturedOutput | None = None) -> Iterator[None]:
    """Run the body in float32 on the CPU, with gradients, without warnings or logs; capture what it prints.

    Afterwards everything is restored: the settings, modes and random states of torch, NumPy and Python, replaced
    functions of torch and Python, the streams, warnings and logs, the working directory, the environment, signal
    handlers, trace functions and open figures.
    """
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())  # first: in torch 2.9 merely reading some settings warns
        warnings.simplefilter("ignore")
        for read, write in _STATES:
            with suppress(RuntimeError):  # skip what cannot be read
                stack.callback(_restore, read, write, read())
        for save in (
            save_modes,
            _save_rng,
            save_functions,
            _save_signals,
            _save_working_directory,
            _save_numpy,
            _save_matplotlib,
            _capture_displays,
        ):
            stack.callback(save())
        for mode in (torch.inference_mode(False), torch.enable_grad(), *_override_modes()):
            stack.enter_context(mode)
        stack.callback(save_modes())  # restores the modes before any other torch function is called
        torch.set_default_dtype(torch.float32)
        if logging.root.manager.disable < logging.CRITICAL:  # skip when nested: it clears every logger's cache
            logging.disable()
        stack.callback(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = _ignore  # unfinished generators may raise when they are collected
        output = output or CapturedOutput()
        stack.enter_context(redirect_stdout(output))
        stack.enter_context(redirect_stderr(output))
        yield


def _ignore(_unraisable: object) -> None:
    pass


def _restore(read: Callable, write: Callable, old: object) -> None:
    try:
        same = read() == old
    except RuntimeError:  # torch refuses to read a setting that was set through two APIs
        same = False
    if not same:
        write(old)


def _override_modes() -> Iterator[AbstractContextManager]:
    """Yield contexts that override the caller's device and autocast. Only where needed: each slows every torch call."""
    devices = (mode.device for mode in reversed(_function_modes()) if isinstance(mode, _device.DeviceContext))
    if next(devices, _CPU).type != _CPU.type:
        yield _CPU
    for device in ("cpu", "cuda"):
        if torch.is_autocast_enabled(device):
            yield torch.autocast(device, enabled=False)


# Each of these saves some state and returns a function that restores it.


def _do_nothing() -> None:
    pass


def save_modes() -> Callable:
    """Save torch's active modes and the default device."""
    functions_on, calls, hooks = _function_modes(), _dispatch_modes(), _saved_tensors_hooks()
    default, current = _default_device(), _device.CURRENT_DEVICE

    def restore() -> None:
        now = _function_modes()
        if not _identical(now, functions_on):
            for _ in now:
                overrides._pop_mode()
            for mode in functions_on:
                overrides._push_mode(mode)
        for mode in reversed(_dispatch_modes()):
            if not any(mode is old for old in calls):
                _python_dispatch.TorchDispatchMode.__exit__(mode, None, None, None)
        while not _identical(_saved_tensors_hooks(), hooks) and _saved_tensors_hooks():
            torch._C._autograd._pop_saved_tensors_default_hooks()
        if _default_device() is not default:
            if default is None:  # torch 2.9 cannot read the default device if it is set to None
                del torch._GLOBAL_DEVICE_CONTEXT.device_context
            else:
                torch._GLOBAL_DEVICE_CONTEXT.device_context = default
        _device.CURRENT_DEVICE = current

    return restore


def _function_modes() -> list:
    return overrides._get_current_function_mode_stack()


def _dispatch_modes() -> list:
    return _python_dispatch._get_current_dispatch_mode_stack()


def _saved_tensors_hooks() -> tuple:
    """Return the innermost pair, the only one that takes effect."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) or ()


def _default_device() -> object:
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)


def _identical(some: Sequence, others: Sequence) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


def _save_rng() -> Callable:
    cpu, python = torch.get_rng_state(), random.getstate()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []

    def restore() -> None:
        torch.set_rng_state(cpu)
        random.setstate(python)
        for device, state in enumerate(cuda):
            torch.cuda.set_rng_state(state, device)

    return restore


def save_functions() -> Callable:
    """Save the functions of torch, math, time, random and builtins. New names in a module stay: torch loads lazily."""
    own = _BUILTINS.copy()
    before = [(space, dict(vars(space))) for space in _NAMESPACES]

    def restore() -> None:
        _BUILTINS.update(own)  # first, without calling any builtin
        for space, old in before:
            now = vars(space)
            if len(now) == len(old) and all(map(operator.is_, now.values(), old.values())):
                continue
            for name, value in old.items():
                if now.get(name) is not value and callable(value):
                    setattr(space, name, value)
            for name in now.keys() - old.keys() if isinstance(space, type) else ():
                delattr(space, name)

    return restore


def _save_signals() -> Callable:
    """Save signal handlers. Only the main thread can set them."""
    if threading.current_thread() is not threading.main_thread():
        return _do_nothing
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    timer = signal.getitimer(signal.ITIMER_REAL) if hasattr(signal, "getitimer") else (0.0, 0.0)  # not on Windows

    def restore() -> None:
        if not timer[0] and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)  # an unhandled alarm would end the process
        for number, handler in before.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)

    return restore


def _save_working_directory() -> Callable:
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        return _do_nothing
    return partial(os.chdir, folder)


def _save_numpy() -> Callable:
    numpy = sys.modules.get("numpy")  # do not import it
    if numpy is None:
        return _do_nothing
    state, errors, printing = numpy.random.get_state(), numpy.geterr(), numpy.get_printoptions()

    def restore() -> None:
        numpy.random.set_state(state)
        numpy.seterr(**errors)
        numpy.set_printoptions(**printing)

    return restore


def _save_matplotlib() -> Callable:
    """Save matplotlib's settings, and close the figures opened meanwhile."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return _do_nothing
    settings, figures = dict.copy(pyplot.rcParams), set(pyplot.get_fignums())

    def restore() -> None:
        dict.update(pyplot.rcParams, settings)
        for number in set(pyplot.get_fignums()) - figures:
            pyplot.close(number)

    return restore


def _capture_displays() -> Callable:
    """Keep a notebook from displaying anything meanwhile."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if not shell:
        return _do_nothing
    from IPython.core.displaypub import CapturingDisplayPublisher  # IPython is optional

    before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    return partial(setattr, shell, "display_pub", before)
