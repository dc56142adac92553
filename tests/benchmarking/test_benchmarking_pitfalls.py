"""The five pitfalls, with a clock that only the calls move."""

import time

import pytest
import torch

from blocklab_course.benchmarking import (
    Pitfall,
    cache_resident,
    environment,
    mean_for_median,
    measurement,
    no_synchronize,
    no_warm_up,
    pitfalls,
    zeros_for_numbers,
)


class Clock:
    """Stands still but for what is added to `now`."""

    now = 0.0

    def advance(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return clock


@pytest.fixture
def gpu(clock, monkeypatch):
    """A GPU that takes a call at once and works on it when it is waited for."""
    pending = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: [clock.advance(pending.pop()) for _ in pending[:]])
    monkeypatch.setattr(pitfalls, "_check_cuda", lambda *_: None)
    return pending


X = torch.ones(3)


def test_no_synchronize_times_the_launch(clock, gpu):
    def launch(_):
        clock.advance(0.25)
        gpu.append(8.0)

    assert no_synchronize(launch, X) == Pitfall("no synchronize", 0.25, 8.25)


def test_no_warm_up_times_the_first_call_of_a_new_function(clock):
    def make():
        seconds = iter([9.0, *[1.0] * 4, 5.0])
        return lambda x: clock.advance(next(seconds))

    assert no_warm_up(make, X, calls=6) == Pitfall("no warm-up", 9.0, 1.0)


def test_one_interruption_moves_the_mean_and_not_the_median(clock):
    pitfall = mean_for_median(lambda x: clock.advance(1.0), X, calls=10, interruption=lambda: clock.advance(20.0))
    assert pitfall == Pitfall("mean for median", 3.0, 1.0)
    assert mean_for_median(lambda x: clock.advance(1.0), X, calls=10) == Pitfall("mean for median", 1.0, 1.0)


def test_cache_resident_inputs_are_those_of_the_last_call(clock, monkeypatch):
    monkeypatch.setattr(environment, "cache_bytes", lambda device: 100 * X.nbytes)
    recent = []  # a cache that holds the last hundred sets

    def read(x):
        clock.advance(1.0 if any(x is other for other in recent) else 5.0)
        recent[:] = [*[other for other in recent if other is not x][-99:], x]

    assert cache_resident(read, lambda: (X.clone(),)) == Pitfall("cache-resident inputs", 1.0, 5.0)


def test_zeros_are_faster_where_power_is_short(gpu):
    pitfall = zeros_for_numbers(lambda x: gpu.append(2.0 if x.any() else 1.5), X)
    assert pitfall == Pitfall("zeros for numbers", 1.5, 2.0)


@pytest.mark.parametrize("pitfall", [no_synchronize, zeros_for_numbers])
def test_two_lies_want_a_gpu(pitfall):
    with pytest.raises(ValueError, match=f"{pitfall.__name__} wants tensors on a CUDA device, got them on cpu"):
        pitfall(torch.neg, X)


def test_a_lie_says_both_numbers():
    assert str(Pitfall("no warm-up", 2e-6, 5e-5)) == "no warm-up: measured 2 µs, actual 50 µs, 25 times as long"


def test_three_lies_run_on_a_cpu(monkeypatch):
    monkeypatch.setattr(environment, "cache_bytes", lambda device: 4096)
    x = torch.ones(100)
    pitfalls = [
        no_warm_up(lambda: torch.neg, x),
        mean_for_median(torch.neg, x, interruption=lambda: torch.ones(1000).sum()),
        cache_resident(torch.neg, lambda: (torch.randn(100),)),
    ]
    assert all(pitfall.measured > 0 and pitfall.actual > 0 for pitfall in pitfalls)
    assert measurement.CACHE_MULTIPLE * environment.cache_bytes("cpu") > 0
