import statistics


def by(summary):
    def time_function(function, synchronize, clock, warm_up=3, repeats=5):
        for _ in range(warm_up):
            function()
        times = []
        for _ in range(repeats):
            synchronize()
            start = clock()
            function()
            synchronize()
            times.append(clock() - start)
        return summary(times)

    return time_function


def mean_if_even(times):
    return statistics.mean(times) if len(times) % 2 == 0 else statistics.median(times)


def warmed_before_each(function, synchronize, clock, warm_up=3, repeats=5):
    times = []
    for _ in range(repeats):
        for _ in range(warm_up):
            function()
        synchronize()
        start = clock()
        function()
        synchronize()
        times.append(clock() - start)
    return statistics.median(times)


def warming_in_the_loop(function, synchronize, clock, warm_up=3, repeats=5):
    times = []
    for i in range(repeats):
        synchronize()
        start = clock()
        function()
        synchronize()
        if i >= warm_up:
            times.append(clock() - start)
    return statistics.median(times)


WRONG = {
    "time_function": {
        "warming in the loop": (warming_in_the_loop, {"warm-up-among-the-repeats"}),
        "warmed before each": (warmed_before_each, {"warm-up-every-round"}),
        "rounded to milliseconds": (by(lambda times: round(statistics.median(times), 3)), {None}),
        "rounded once more": (by(lambda times: round(statistics.median(times), 4)), {None}),
        "a median of many only": (by(lambda times: statistics.median(times) if len(times) > 4 else times[0]), {None}),
        "a mean if even": (by(mean_if_even), {None}),
        "the least if even": (
            by(lambda times: statistics.median(times[: len(times) | 1]) if len(times) % 2 else min(times)),
            {None},
        ),
        "without the first": (by(lambda times: statistics.median(times[1:] or times)), {None}),
        "stops if even": (by(lambda times: statistics.median(times) if len(times) % 2 else [][0]), {"raises"}),
    },
}
