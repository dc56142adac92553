"""Run code under fixed settings, and restore what it may have changed by accident."""

import io
import logging
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import partial

import torch
from torch import overrides
from torch.utils import _device

MAX_OUTPUT = 2000  # characters of what a function prints


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

    Afterwards these are as before: torch's default dtype and device, gradient mode, autocast and print options; the
    random states of torch, NumPy and Python; the streams, warnings and logs; the working directory; open figures.
    """
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        for save in (
            _save_defaults,
            _save_random_states,
            _save_working_directory,
            _save_numpy,
            _save_figures,
            _capture_displays,
        ):
            stack.callback(save())
        # The first one also enables gradients. When it ends, it restores gradient mode and autocast.
        for mode in (torch.inference_mode(False), *_override_modes()):
            stack.enter_context(mode)
        stack.callback(_save_device())  # last, because a device that the contexts above set must be there when they end
        torch.set_default_dtype(torch.float32)
        if logging.root.manager.disable < logging.CRITICAL:  # skip when nested: it clears every logger's cache
            logging.disable()
        output = output or CapturedOutput()
        stack.enter_context(redirect_stdout(output))
        stack.enter_context(redirect_stderr(output))
        yield


def _override_modes() -> Iterator[AbstractContextManager]:
    """Yield contexts that override the caller's device and autocast. Only where needed: each slows every torch call."""
    if any(isinstance(mode, _device.DeviceContext) and mode.device.type != "cpu" for mode in _active_modes()):
        yield torch.device("cpu")
    for device in ("cpu", "cuda"):
        if torch.is_autocast_enabled(device):
            yield torch.autocast(device, enabled=False)


# Each of these saves some state and returns a function that restores it.


def _do_nothing() -> None:
    pass


def _save_defaults() -> Callable:
    dtype, printing = torch.get_default_dtype(), vars(torch._tensor_str.PRINT_OPTS).copy()
    logs = logging.root.manager.disable

    def restore() -> None:
        torch.set_default_dtype(dtype)
        vars(torch._tensor_str.PRINT_OPTS).update(printing)
        if logging.root.manager.disable != logs:
            logging.disable(logs)

    return restore


def _save_device() -> Callable:
    """Save the default device. torch keeps it in a stack of modes, as it does a device in a `with`."""
    modes, default, current = _active_modes(), vars(torch._GLOBAL_DEVICE_CONTEXT).copy(), _device.CURRENT_DEVICE

    def restore() -> None:
        for _ in _active_modes():
            overrides._pop_mode()
        for mode in modes:
            overrides._push_mode(mode)
        vars(torch._GLOBAL_DEVICE_CONTEXT).clear()
        vars(torch._GLOBAL_DEVICE_CONTEXT).update(default)
        _device.CURRENT_DEVICE = current

    return restore


def _active_modes() -> list:
    return overrides._get_current_function_mode_stack()


def _save_random_states() -> Callable:
    cpu, python = torch.get_rng_state(), random.getstate()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []

    def restore() -> None:
        torch.set_rng_state(cpu)
        random.setstate(python)
        for device, state in enumerate(cuda):
            torch.cuda.set_rng_state(state, device)

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
    state, printing = numpy.random.get_state(), numpy.get_printoptions()

    def restore() -> None:
        numpy.random.set_state(state)
        numpy.set_printoptions(**printing)

    return restore


def _save_figures() -> Callable:
    """Close the figures opened meanwhile."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return _do_nothing
    before = set(pyplot.get_fignums())

    def restore() -> None:
        for number in set(pyplot.get_fignums()) - before:
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
