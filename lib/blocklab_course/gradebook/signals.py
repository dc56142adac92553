"""End a command the same way for Ctrl-C, a closed terminal and SIGTERM, and only once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(KeyboardInterrupt):
    """A signal to stop; `status` is the exit status that shells use for it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


@contextmanager
def stop_on_signal() -> Iterator[None]:
    """Raise Stopped at the first signal and ignore further ones, so that cleanup can finish.

    Ignored signals, as under `nohup`, stay ignored.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handled = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def stop(number: int, _frame: object) -> None:
        for other in handled:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    for number in handled:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
