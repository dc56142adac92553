import itertools
import statistics

import numpy as np


def synchronized_around_each(function, synchronize, clock, warm_up=3, repeats=5):
    for _ in range(warm_up):
        function()
    times = []
    for _ in range(repeats):
        synchronize()
        start = clock()
        function()
        synchronize()
        times.append(clock() - start)
    return statistics.median(times)


def synchronized_once_before(function, synchronize, clock, warm_up=3, repeats=5):
    for _ in range(warm_up):
        function()
    synchronize()
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        synchronize()
        end = clock()
        times.append(end - start)
    return sorted(times)[repeats // 2] if repeats % 2 else sum(sorted(times)[repeats // 2 - 1 :][:2]) / 2


def one_reading_a_round(function, synchronize, clock, n_warm_up=3, n=5):
    [function() for _ in range(n_warm_up)]
    synchronize()
    readings = [clock()]
    for _ in range(n):
        function()
        synchronize()
        readings.append(clock())
    return statistics.median(b - a for a, b in itertools.pairwise(readings))


def anxious(function, synchronize, clock, warm_up=3, repeats=5):
    synchronize()
    for _ in range(warm_up):
        function()
        synchronize()
    synchronize()

    def once():
        synchronize()
        start = clock()
        function()
        synchronize()
        synchronize()
        return clock() - start

    return float(np.median([once() for _ in range(repeats)]))


def all_timed_and_cut(function, synchronize, clock, warm_up=3, repeats=5):
    times = []
    while len(times) < warm_up + repeats:
        synchronize()
        times.append(-clock())
        function()
        synchronize()
        times[-1] += clock()
    return statistics.median(times[warm_up:])


class Watch:
    def __init__(self, synchronize, clock):
        self.synchronize, self.clock = synchronize, clock

    def __enter__(self):
        self.synchronize()
        self.start = self.clock()
        return self

    def __exit__(self, *_error):
        self.synchronize()
        self.seconds = self.clock() - self.start


def by_context(function, synchronize, clock, warm_up=3, repeats=5):
    for _ in range(warm_up):
        function()
    watches = [Watch(synchronize, clock) for _ in range(repeats)]
    for watch in watches:
        with watch:
            function()
    return np.median([watch.seconds for watch in watches])


def upper_median(function, synchronize, clock, warm_up=3, repeats=5):
    for _ in range(warm_up):
        function()
    synchronize()
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        synchronize()
        times.append(clock() - start)
    return sorted(times)[len(times) // 2]


RIGHT = {
    "time_function": {
        "synchronized around each": synchronized_around_each,
        "synchronized once before": synchronized_once_before,
        "one reading a round": one_reading_a_round,
        "anxious": anxious,
        "all timed and cut": all_timed_and_cut,
        "by a context manager": by_context,
    }
}
ADVISED = {"time_function": {"upper median": (upper_median, ("even-repeats",))}}
