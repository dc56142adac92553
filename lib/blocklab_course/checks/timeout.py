"""End what a learner wrote when its time is over, whatever it catches and whichever signals the process ignores."""

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
MAX_ATTEMPTS_AT_IMPORTS = 100  # from this one on
MAX_STRETCH = 2  # times as long at most, if it is busy with other programs
_HAS_SIGNAL_MASK = hasattr(signal, "pthread_sigmask")
_pread = getattr(os, "pread", None)  # not on Windows; bound now, so that what a learner's function replaces has no say


class Interrupted(BaseException):
    """Raised inside what a learner wrote: its time is over, or the stop button was pressed."""


class TimeLimit:
    """Runs functions that may never end, within a time for all of them. To be used in a `with`, by one thread.

    In the main thread a signal ends what runs, also where it sleeps; elsewhere, or where the signal has no effect, an
    exception that Python raises between two instructions. What catches everything is struck again, outside of its
    `try`. One thing cannot be ended: a single call of compiled code. Python acts again when that returns. `stopped`
    says whether it was the stop button. Time in which the machine ran other programs does not count, where it tells.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self.stopped = False
        self._deadline: float | None = None
        self._latest = 0.0
        self._boundary: FrameType | None = None  # only what it called may be struck
        self._strikes = 0
        self._signal_sent = self._ended = False
        self._changed = threading.Condition()
        self._thread = threading.get_ident()
        self._waits = -1  # the file that tells how long the thread has waited for its turn
        self._ambush = _InstructionTracer(self)

    def __enter__(self) -> "TimeLimit":
        in_main = threading.current_thread() is threading.main_thread()
        self._handler = signal.getsignal(signal.SIGINT) if in_main else None  # None as well if not set from Python
        if self._handler is not None:
            self._mask = self._hear()
        with suppress(OSError):  # there on Linux alone; left open, for it is read twice a call
            self._waits = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
        self._watcher = threading.Thread(target=self._watch, name="patience", daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_error: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._watcher.join()
        with suppress(OSError):
            os.close(self._waits)
        if self._handler is not None:
            self._signal_sent = True  # what still waits behind a mask arrives now, and is not for the old handler
            with suppress(Interrupted):
                self._hear()
            signal.signal(signal.SIGINT, self._handler)
            _restore_mask(self._mask)

    def call(self, function: Callable[[], object], seconds: float | None = None) -> object:
        """function(), which gets so many seconds, or what is left. Raises Interrupted if that is not enough."""
        start, tracer = self._now(), sys.gettrace()
        self._strikes = 0
        seconds_left = max(self.left if seconds is None else seconds, 0)
        self._latest = monotonic() + MAX_STRETCH * seconds_left
        self._set_deadline(start, seconds_left)
        try:
            return self._call(function)
        finally:
            self._boundary = self._deadline = None
            try:  # a last strike may be on its way, or behind a mask: it arrives with the next call
                self._signal_sent |= self._strikes > 0
                if self._handler is not None:
                    self._hear()
                monotonic()
            except Interrupted:
                self._strikes += 1
            if self._strikes:
                sys.settrace(tracer)
            self.left -= self._now() - start if seconds is None else 0
            if self._strikes or self.stopped:  # whatever it made of the interruption
                raise Interrupted

    def _hear(self) -> set | None:
        """Take SIGINT, whoever took or blocked it; gives what was blocked before. Windows has no such mask."""
        signal.signal(signal.SIGINT, self._on_signal)
        return signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT}) if _HAS_SIGNAL_MASK else None

    def _call(self, function: Callable[[], object]) -> object:
        self._boundary = sys._getframe()
        return function()

    def inside(self, frame: FrameType | None) -> list[FrameType]:
        """The frames from this one up to the function that is watched; none if it is not below that.

        None as well in the midst of an import, which would leave half a module behind, unless that takes for ever too.
        """
        frames, boundary = [], self._boundary
        while frame is not None and frame is not boundary:
            frames.append(frame)
            frame = frame.f_back
        importing = any(frame.f_code.co_filename.startswith("<frozen importlib") for frame in frames)
        return frames if frame is not None and not (importing and self._strikes < MAX_ATTEMPTS_AT_IMPORTS) else []

    def _now(self) -> float:
        """A clock that stands still while the thread waits for its turn on a busy machine."""
        try:
            return monotonic() - int(_pread(self._waits, 64, 0).split()[1]) / 1e9
        except (OSError, TypeError, IndexError, ValueError):
            return monotonic()

    def _set_deadline(self, start: float, seconds_left: float) -> None:
        with self._changed:
            self._deadline = start + seconds_left
            if seconds_left < POLL_INTERVAL:  # to wake the watcher takes longer than most calls
                self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._ended:
                wait = POLL_INTERVAL
                if self._deadline is not None:
                    wait = min(wait, self._deadline - self._now(), self._latest - monotonic())
                if wait <= 0:
                    self._strike()
                    wait = RETRY_INTERVAL
                self._changed.wait(wait)

    def _strike(self) -> None:
        """Interrupt the thread: by a signal, unless the last one had no answer."""
        self._strikes += 1
        if self._handler is None or self._signal_sent:
            if self.inside(sys._current_frames().get(self._thread)):
                _raise_in_thread(self._thread, Interrupted if self._strikes == 1 else self._ambush.error)
            self._signal_sent = False
            return
        self._signal_sent = True
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(self._thread, signal.SIGINT)
        else:  # Windows
            _thread.interrupt_main()

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        """Answer the watcher's signal, or the stop button's."""
        by_hand, self._signal_sent = not self._signal_sent, False
        inside = bool(self.inside(frame))
        if by_hand:
            self.stopped = True
            if inside:
                self._set_deadline(self._now(), 0)
        if inside and self._strikes > 1:
            self._ambush.lay(frame)
        if inside or by_hand:
            raise Interrupted


class _InstructionTracer:
    """Interrupts a function at the instruction around which the fewest `try` stand: at best, where none does.

    A loop such as `while True: try: … except BaseException: pass` leaves its `try` for the jump back to the start.
    """

    def __init__(self, watch: TimeLimit) -> None:
        ambush, self._watch = self, watch
        self._least = self._enough = float("inf")

        class Struck(Interrupted):
            """Python makes it in the thread, and at the place, where it is raised."""

            def __init__(self) -> None:
                ambush.lay(sys._getframe(1))

        self.error = Struck

    def lay(self, frame: FrameType) -> None:
        """Watch every instruction of what runs, until the next strike."""
        self._enough = 0 if self._least == float("inf") else self._least
        for running in self._watch.inside(frame):
            running.f_trace_opcodes = True
            running.f_trace = self._trace
        sys.settrace(self._trace)

    def _trace(self, frame: FrameType, event: str, _argument: object) -> Callable | None:
        running = self._watch.inside(frame)
        if not running:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            depth = sum(_count_handlers(f.f_code, f.f_lasti) for f in running)
            self._least = min(self._least, depth)
            if depth <= self._enough:
                raise Interrupted
        return self._trace


@lru_cache(maxsize=4096)
def _count_handlers(code: CodeType, instruction: int) -> int:
    """How many handlers stand around an instruction: each one's own place is looked up in turn."""
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
