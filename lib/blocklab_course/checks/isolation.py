"""Surroundings in which every check gives the same answer, and which are afterwards what they were before."""

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
_SMALLEST_NORMAL = sys.float_info.min  # its half is 0 where small numbers are flushed to it


def _attribute(owner: object, name: str) -> tuple[Callable, Callable]:
    return partial(getattr, owner, name), partial(setattr, owner, name)


# What is read before and written back afterwards if it is then another, by a pair of functions.
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
    """Takes what is printed, the beginning of it, and cannot be closed."""

    full = False

    def write(self, text: str) -> int:
        if not self.full:
            room = MAX_OUTPUT - self.tell()
            self.full = len(text) > room
            super().write(f"{text[:room]}…\n" if self.full else text)
        return len(text)

    def close(self) -> None:
        pass

    def hand_on(self) -> None:
        """Print what it took, in whatever encoding the stream has."""
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(self.getvalue().encode(encoding, "backslashreplace").decode(encoding), end="")


@contextmanager
def isolated(sheet: CapturedOutput | None = None) -> Iterator[None]:
    """A room of its own for whatever runs inside: float32 on the CPU, with gradients, without warnings, in silence.

    What it prints lands on the sheet. Afterwards all is as before, whatever was done inside to: torch's settings,
    modes and random numbers, NumPy's and Python's, the functions of torch and of Python, the streams, the warnings and
    logs, the working directory, the environment, signal handlers and trace functions, open figures.
    """
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())  # first: torch 2.9 warns of some that it is asked how they stand
        warnings.simplefilter("ignore")
        for read, write in _STATES:
            with suppress(RuntimeError):  # what cannot be read stays as it is
                stack.callback(_restore, read, write, read())
        for remember in (
            save_modes,
            _save_rng,
            save_functions,
            _save_signals,
            _save_working_directory,
            _save_numpy,
            _save_matplotlib,
            _capture_displays,
        ):
            stack.callback(remember())
        for mode in (torch.inference_mode(False), torch.enable_grad(), *_override_modes()):
            stack.enter_context(mode)
        stack.callback(save_modes())  # before any other function of torch's is called
        torch.set_default_dtype(torch.float32)
        if logging.root.manager.disable < logging.CRITICAL:  # not again in a room within a room: it asks every logger
            logging.disable()
        stack.callback(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = _ignore  # generators that are left unfinished may complain
        sheet = sheet or CapturedOutput()
        stack.enter_context(redirect_stdout(sheet))
        stack.enter_context(redirect_stderr(sheet))
        yield


def _ignore(_unraisable: object) -> None:
    pass


def _restore(read: Callable, write: Callable, old: object) -> None:
    try:
        same = read() == old
    except RuntimeError:  # torch refuses to tell what was set in two ways
        same = False
    if not same:
        write(old)


def _override_modes() -> Iterator[AbstractContextManager]:
    """Modes of the caller's that are overridden: each costs time in every call of torch, so only where they are on."""
    devices = (mode.device for mode in reversed(_function_modes()) if isinstance(mode, _device.DeviceContext))
    if next(devices, _CPU).type != _CPU.type:
        yield _CPU
    for device in ("cpu", "cuda"):
        if torch.is_autocast_enabled(device):
            yield torch.autocast(device, enabled=False)


# Each of these remembers something, and gives a function that puts it back.


def _do_nothing() -> None:
    pass


def save_modes() -> Callable:
    """The modes of torch's that were entered and not left, and the default device, which is one of them."""
    functions_on, calls, hooks = _function_modes(), _dispatch_modes(), _saved_tensors_hooks()
    chosen, current = _default_device(), _device.CURRENT_DEVICE

    def put_back() -> None:
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
        if _default_device() is not chosen:
            if chosen is None:  # where None was noted, torch 2.9 cannot tell the default device
                del torch._GLOBAL_DEVICE_CONTEXT.device_context
            else:
                torch._GLOBAL_DEVICE_CONTEXT.device_context = chosen
        _device.CURRENT_DEVICE = current

    return put_back


def _function_modes() -> list:
    return overrides._get_current_function_mode_stack()


def _dispatch_modes() -> list:
    return _python_dispatch._get_current_dispatch_mode_stack()


def _saved_tensors_hooks() -> tuple:
    """The two that count: only the innermost ones do."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) or ()


def _default_device() -> object:
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)


def _identical(some: Sequence, others: Sequence) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


def _save_rng() -> Callable:
    cpu, python = torch.get_rng_state(), random.getstate()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []

    def put_back() -> None:
        torch.set_rng_state(cpu)
        random.setstate(python)
        for device, state in enumerate(cuda):
            torch.cuda.set_rng_state(state, device)

    return put_back


def save_functions() -> Callable:
    """Functions that may be replaced. What is new in a module stays, for parts of torch are loaded late."""
    own = _BUILTINS.copy()
    before = [(space, dict(vars(space))) for space in _NAMESPACES]

    def put_back() -> None:
        _BUILTINS.update(own)  # first, and without any of them
        for space, old in before:
            now = vars(space)
            if len(now) == len(old) and all(map(operator.is_, now.values(), old.values())):
                continue
            for name, value in old.items():
                if now.get(name) is not value and callable(value):
                    setattr(space, name, value)
            for name in now.keys() - old.keys() if isinstance(space, type) else ():
                delattr(space, name)

    return put_back


def _save_signals() -> Callable:
    """Only the main thread has a say in signals."""
    if threading.current_thread() is not threading.main_thread():
        return _do_nothing
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    timer = signal.getitimer(signal.ITIMER_REAL) if hasattr(signal, "getitimer") else (0.0, 0.0)  # not on Windows

    def put_back() -> None:
        if not timer[0] and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm that nobody awaits ends the process
        for number, handler in before.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)

    return put_back


def _save_working_directory() -> Callable:
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        return _do_nothing
    return partial(os.chdir, folder)


def _save_numpy() -> Callable:
    numpy = sys.modules.get("numpy")  # not loaded by us
    if numpy is None:
        return _do_nothing
    state, errors, printing = numpy.random.get_state(), numpy.geterr(), numpy.get_printoptions()

    def put_back() -> None:
        numpy.random.set_state(state)
        numpy.seterr(**errors)
        numpy.set_printoptions(**printing)

    return put_back


def _save_matplotlib() -> Callable:
    """matplotlib's settings; figures opened inside are closed."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return _do_nothing
    settings, figures = dict.copy(pyplot.rcParams), set(pyplot.get_fignums())

    def put_back() -> None:
        dict.update(pyplot.rcParams, settings)
        for number in set(pyplot.get_fignums()) - figures:
            pyplot.close(number)

    return put_back


def _capture_displays() -> Callable:
    """A notebook's way to show things, closed meanwhile."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if not shell:
        return _do_nothing
    from IPython.core.displaypub import CapturingDisplayPublisher  # here, for scripts are checked without IPython

    before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    return partial(setattr, shell, "display_pub", before)
