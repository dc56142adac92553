"""Stop a learner's function when its time is up, even if it catches everything."""

import ctypes
import signal
import threading
from collections.abc import Callable
from functools import partial
from math import inf
from time import monotonic

INTERVAL = 0.02  # seconds between two interrupts of a function that goes on

# Has Python raise an exception in a thread, between two of its instructions.
_raise_in_thread = ctypes.PYFUNCTYPE(None)(("PyThreadState_SetAsyncExc", ctypes.pythonapi))


class Interrupted(BaseException):
    """Raised inside a learner's function: its time is up, or the stop button was pressed."""


class TimeLimit:
    """Runs functions that may never end, within a total time. Use it in a `with`, from one thread.

    Python raises Interrupted between two instructions of the function. In the main thread a signal ends a `sleep` for
    it (except on Windows); elsewhere, a call of compiled code is interrupted only after it returns.

    `stopped` says whether the stop button was pressed.
    """

    def __init__(self, seconds: float) -> None:
        self.remaining = seconds
        self.stopped = False
        self._id = threading.get_ident()
        self._running = inf, ctypes.c_ulong(0)  # the deadline of the call, and its thread
        self._ended = threading.Event()

    def __enter__(self) -> "TimeLimit":
        self._handlers = {}
        self._wake = getattr(signal, "SIGALRM", None)  # the signal that ends a `sleep`; Windows has none
        if threading.current_thread() is threading.main_thread():  # the only one that can handle signals
            self._handlers[signal.SIGINT] = signal.signal(signal.SIGINT, self._stop)
            if self._wake is not None:
                self._handlers[self._wake] = signal.signal(self._wake, lambda _number, _frame: None)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._watcher.join()
        for number, handler in self._handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None if it was not set from Python

    def call(self, function: Callable[[], object], seconds: float | None = None) -> object:
        """Return function(). Raises Interrupted if it takes longer than `seconds`, or than the remaining time."""
        start = monotonic()
        deadline = start + (self.remaining if seconds is None else seconds)
        thread = ctypes.c_ulong(self._id)
        self._running = deadline, thread
        try:
            return function()
        finally:
            thread.value = 0  # from here on the watcher raises nothing more, but its last exception may be on the way
            try:
                end = monotonic()
            except Interrupted:
                end = monotonic()
            self._running = inf, thread
            if seconds is None:
                self.remaining -= end - start
            if self.stopped or end >= deadline:  # even if the function returned after all
                raise Interrupted

    def _watch(self) -> None:
        interrupted = None
        while not self._ended.wait(INTERVAL):
            deadline, thread = self._running
            if monotonic() >= deadline:
                # The first one lets the function clean up.
                error = _insistent_interrupt(thread) if thread is interrupted else Interrupted
                interrupted = thread
                _raise_in_thread(thread, ctypes.py_object(error))
                if self._wake in self._handlers:
                    signal.pthread_kill(self._id, self._wake)

    def _stop(self, _number: int, _frame: object) -> None:
        """Handle SIGINT, which the stop button sends."""
        self.stopped = True
        self._running = -inf, self._running[1]  # the watcher interrupts a function that catches this
        raise Interrupted


def _insistent_interrupt(thread: ctypes.c_ulong) -> type[Interrupted]:
    """Make an exception that is raised in the thread again and again until the thread becomes 0.

    As soon as an `except` catches one, Python raises the next, so that no `try` around the first helps.
    """

    class InsistentInterrupt(Interrupted):
        pass

    # Not a Python function: Python would raise the exception inside it.
    again = partial(_raise_in_thread, thread, ctypes.py_object(InsistentInterrupt))
    InsistentInterrupt.__init__ = staticmethod(again)
    return InsistentInterrupt
