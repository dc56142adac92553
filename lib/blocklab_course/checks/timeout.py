"""Stop a learner's function when its time is up, whatever it catches and whichever signals the process ignores."""

import _thread
import ctypes
import dis
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from time import monotonic
from types import CodeType, FrameType

POLL_INTERVAL, RETRY_INTERVAL = 0.5, 0.05  # seconds
MAX_ATTEMPTS_AT_IMPORTS = 100  # attempts after which an import is interrupted too
MAX_STRETCH = 2  # times the limit, at most, if the machine is busy with other programs
_HAS_SIGNAL_MASK = hasattr(signal, "pthread_sigmask")
_pread = getattr(os, "pread", None)  # not on Windows; bound at import, so that a learner's function cannot replace it


class Interrupted(BaseException):
    """Raised inside a learner's function: its time is up, or the stop button was pressed."""


class TimeLimit:
    """Runs functions that may never end, within a total time. Use it in a `with`, from one thread.

    In the main thread a signal interrupts the function, even while it sleeps. In other threads, or if the signal has no
    effect, Python raises an exception between two instructions. A function that catches everything is interrupted again
    outside of its `try`. A single call of compiled code cannot be interrupted until it returns.

    `stopped` says whether the stop button was pressed. Where the system tells it, time spent waiting for a busy machine
    does not count.
    """

    def __init__(self, seconds: float) -> None:
        self.remaining = seconds
        self.stopped = False
        self._deadline: float | None = None
        self._latest = 0.0
        self._boundary: FrameType | None = None  # only frames above this one may be interrupted
        self._attempts = 0
        self._signal_sent = self._ended = False
        self._changed = threading.Condition()
        self._thread = threading.get_ident()
        self._schedstat = -1  # the file that tells how long the thread has waited to run
        self._tracer = _InstructionTracer(self)

    def __enter__(self) -> "TimeLimit":
        in_main = threading.current_thread() is threading.main_thread()
        self._handler = signal.getsignal(signal.SIGINT) if in_main else None  # None too if not set from Python
        if self._handler is not None:
            self._mask = self._listen()
        with suppress(OSError):  # only on Linux; kept open because each call reads it twice
            self._schedstat = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
        self._watcher = threading.Thread(target=self._watch, name="patience", daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_error: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._watcher.join()
        with suppress(OSError):
            os.close(self._schedstat)
        if self._handler is not None:
            self._signal_sent = True  # a signal still blocked arrives now, and must not reach the old handler
            with suppress(Interrupted):
                self._listen()
            signal.signal(signal.SIGINT, self._handler)
            _restore_mask(self._mask)

    def call(self, function: Callable[[], object], seconds: float | None = None) -> object:
        """Return function(). Raises Interrupted if it takes longer than `seconds`, or than the remaining time."""
        start, tracer = self._now(), sys.gettrace()
        self._attempts = 0
        seconds_left = max(self.remaining if seconds is None else seconds, 0)
        self._latest = monotonic() + MAX_STRETCH * seconds_left
        self._set_deadline(start, seconds_left)
        try:
            return self._call(function)
        finally:
            self._boundary = self._deadline = None
            try:  # a last interrupt may be pending or blocked: it arrives with the next call
                self._signal_sent |= self._attempts > 0
                if self._handler is not None:
                    self._listen()
                monotonic()
            except Interrupted:
                self._attempts += 1
            if self._attempts:
                sys.settrace(tracer)
            self.remaining -= self._now() - start if seconds is None else 0
            if self._attempts or self.stopped:  # even if the function returned after all
                raise Interrupted

    def _listen(self) -> set | None:
        """Handle and unblock SIGINT. Returns the signals blocked before; Windows has no signal mask."""
        signal.signal(signal.SIGINT, self._on_signal)
        return signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT}) if _HAS_SIGNAL_MASK else None

    def _call(self, function: Callable[[], object]) -> object:
        self._boundary = sys._getframe()
        return function()

    def frames_inside(self, frame: FrameType | None) -> list[FrameType]:
        """Return the frames from this one out to the limited function, or none if it is not inside that.

        Returns none during an import too, because interrupting it would leave half a module behind, unless the import
        itself never ends.
        """
        frames, boundary = [], self._boundary
        while frame is not None and frame is not boundary:
            frames.append(frame)
            frame = frame.f_back
        importing = any(frame.f_code.co_filename.startswith("<frozen importlib") for frame in frames)
        return frames if frame is not None and not (importing and self._attempts < MAX_ATTEMPTS_AT_IMPORTS) else []

    def _now(self) -> float:
        """Return the time of a clock that stops while the thread waits to run on a busy machine."""
        try:
            return monotonic() - int(_pread(self._schedstat, 64, 0).split()[1]) / 1e9
        except (OSError, TypeError, IndexError, ValueError):
            return monotonic()

    def _set_deadline(self, start: float, seconds_left: float) -> None:
        with self._changed:
            self._deadline = start + seconds_left
            if seconds_left < POLL_INTERVAL:  # waking the watcher takes longer than most calls
                self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._ended:
                wait = POLL_INTERVAL
                if self._deadline is not None:
                    wait = min(wait, self._deadline - self._now(), self._latest - monotonic())
                if wait <= 0:
                    self._interrupt()
                    wait = RETRY_INTERVAL
                self._changed.wait(wait)

    def _interrupt(self) -> None:
        """Interrupt the thread with a signal, or with an exception if the last signal was not handled."""
        self._attempts += 1
        if self._handler is None or self._signal_sent:
            if self.frames_inside(sys._current_frames().get(self._thread)):
                _raise_in_thread(self._thread, Interrupted if self._attempts == 1 else self._tracer.error)
            self._signal_sent = False
            return
        self._signal_sent = True
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(self._thread, signal.SIGINT)
        else:  # Windows
            _thread.interrupt_main()

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        """Handle SIGINT from the watcher or from the stop button."""
        by_hand, self._signal_sent = not self._signal_sent, False
        inside = bool(self.frames_inside(frame))
        if by_hand:
            self.stopped = True
            if inside:
                self._set_deadline(self._now(), 0)
        if inside and self._attempts > 1:
            self._tracer.start(frame)
        if inside or by_hand:
            raise Interrupted


class _InstructionTracer:
    """Interrupts a function at the instruction inside the fewest `try` blocks, at best outside of all.

    A loop such as `while True: try: … except BaseException: pass` leaves its `try` when it jumps back to the start.
    """

    def __init__(self, limit: TimeLimit) -> None:
        tracer, self._limit = self, limit
        self._fewest = self._target = float("inf")

        class InterruptedHere(Interrupted):
            """Python instantiates it where it is raised, in the interrupted thread."""

            def __init__(self) -> None:
                tracer.start(sys._getframe(1))

        self.error = InterruptedHere

    def start(self, frame: FrameType) -> None:
        """Trace every instruction of the running frames until the next attempt."""
        self._target = 0 if self._fewest == float("inf") else self._fewest
        for running in self._limit.frames_inside(frame):
            running.f_trace_opcodes = True
            running.f_trace = self._trace
        sys.settrace(self._trace)

    def _trace(self, frame: FrameType, event: str, _argument: object) -> Callable | None:
        running = self._limit.frames_inside(frame)
        if not running:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            depth = sum(_count_handlers(f.f_code, f.f_lasti) for f in running)
            self._fewest = min(self._fewest, depth)
            if depth <= self._target:
                raise Interrupted
        return self._trace


@lru_cache(maxsize=4096)
def _count_handlers(code: CodeType, instruction: int) -> int:
    """Count the exception handlers around an instruction by looking up each handler's own position in turn."""
    entries, count = dis.Bytecode(code).exception_entries, 0
    while count <= len(entries):
        target = next((e.target for e in entries if e.start <= instruction < e.end), None)
        if target is None:
            break
        instruction, count = target, count + 1
    return count


def _raise_in_thread(thread: int, error: type[BaseException]) -> None:
    """Have Python raise the error in a thread, between two of its instructions."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _restore_mask(mask: set | None) -> None:
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
