"""Ctrl-C, the end of a terminal, and a request to end: each ends a command the same way, and only once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(KeyboardInterrupt):
    """A signal to stop, with the exit status that shells give it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


@contextmanager
def stop_on_signal() -> Iterator[None]:
    """Raise Stopped at the first signal, and leave the time to clean up to what it passes through.

    A signal that was to be ignored, as under `nohup`, still is.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def stop(number: int, _frame: object) -> None:
        for other in heeded:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    for number in heeded:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])
