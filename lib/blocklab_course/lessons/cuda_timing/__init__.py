"""The lesson cuda_timing: how fast it is, and how a stopwatch lies."""

from ..manifest import Lesson

LESSON = Lesson(
    minutes=45,
    side_trip=True,
    exercises=("time_function", "bytes_in_two_kernels", "merge_block"),
    runs=("layer_norm", "rms_norm"),
    effort={"time_function": (8, 2), "bytes_in_two_kernels": (3, 2), "merge_block": (20, 3)},
    data=("timings",),
    starter_code={
        "time_function": """
def my_time_function(function, synchronize, clock, warm_up=3, repeats=5):
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return mean(times)

check("time_function", my_time_function)
""",
    },
)
