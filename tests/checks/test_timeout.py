"""A time limit stops any function, whatever it catches, in the main thread and in others."""

import contextlib
import signal
import threading
import time

import pytest

from blocklab_course.checks.timeout import Interrupted, TimeLimit

SECONDS = 0.05
HANG = 60  # far more than it takes


def work():
    return sum(range(50))


def endless():
    while True:
        work()


def catches_exceptions():
    while True:
        try:
            work()
        except Exception:
            continue


def catches_everything():
    while True:
        try:
            work()
        except BaseException:
            continue


def suppresses_everything():
    while True:
        with contextlib.suppress(BaseException):
            work()


def catches_everything_twice():
    while True:
        try:
            catches_everything()
        except BaseException:
            continue


def keeps_every_error():
    errors = []
    while True:
        try:
            work()
        except BaseException as error:
            errors.append(error)


def converts_errors():
    while True:
        try:
            try:
                work()
            except BaseException as error:
                raise ValueError from error
        except BaseException:
            continue


def recurses_after_errors(depth=0):
    try:
        return recurses_after_errors(depth + 1)
    except BaseException:
        return recurses_after_errors(depth + 1)


def runs_generator():
    def numbers():
        while True:
            with contextlib.suppress(BaseException):
                yield work()

    for _ in numbers():
        pass


def returns_after_interrupt():
    with contextlib.suppress(BaseException):
        endless()


BUSY = [
    endless,
    catches_exceptions,
    catches_everything,
    suppresses_everything,
    catches_everything_twice,
    keeps_every_error,
    converts_errors,
    recurses_after_errors,
    runs_generator,
    returns_after_interrupt,
]


def sleeps():
    time.sleep(1000)


def sleeps_again():
    errors = []
    while True:
        try:
            time.sleep(1000)
        except BaseException as error:
            errors.append(error)


def waits():
    threading.Event().wait()


def is_stopped(function):
    with TimeLimit(SECONDS) as limit:
        try:
            limit.call(function)
        except Interrupted:
            return not limit.stopped and limit.remaining <= 0
    return False


@pytest.mark.parametrize("function", [*BUSY, sleeps, sleeps_again, waits])
@pytest.mark.filterwarnings("ignore:Exception ignored")  # a generator that ignores GeneratorExit
def test_stops_function(function):
    assert is_stopped(function)
    assert sum(work() for _ in range(1000)) == 1_225_000  # no interrupt comes later


@pytest.mark.parametrize("function", BUSY)
@pytest.mark.filterwarnings("ignore:Exception ignored")
def test_stops_function_outside_main_thread(function):
    stopped = []
    thread = threading.Thread(target=lambda: stopped.append(is_stopped(function)), daemon=True)
    thread.start()
    thread.join(HANG)
    assert stopped == [True]


def test_function_can_clean_up():
    cleaned = []

    def cleans_up():
        try:
            endless()
        finally:
            cleaned.append(work())

    assert is_stopped(cleans_up)
    assert cleaned == [work()]


def test_stop_button_ends_call_that_catches_it():
    def pressed():
        with contextlib.suppress(BaseException):
            signal.raise_signal(signal.SIGINT)
        catches_everything()

    with TimeLimit(HANG) as limit:
        with pytest.raises(Interrupted):
            limit.call(pressed)
        assert limit.stopped


def test_returns_result_and_restores_signal_handlers():
    signals = [signal.SIGINT, signal.SIGALRM]
    before = [signal.getsignal(number) for number in signals]
    with TimeLimit(HANG) as limit:
        assert [limit.call(lambda: 7), limit.call(lambda: 8, 6)] == [7, 8]
    assert [signal.getsignal(number) for number in signals] == before


def test_interrupted_call_does_not_disturb_next_one():
    with TimeLimit(HANG) as limit:
        with pytest.raises(Interrupted):
            limit.call(keeps_every_error, SECONDS)
        assert limit.call(lambda: sum(work() for _ in range(100_000))) == 122_500_000


def test_works_without_signals(monkeypatch):
    """As on Windows, where only sleeping is not interrupted."""
    monkeypatch.delattr(signal, "SIGALRM")
    monkeypatch.delattr(signal, "pthread_kill")
    assert is_stopped(catches_everything)
