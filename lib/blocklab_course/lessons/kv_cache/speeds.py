"""The lines of the lesson's tables of traffic and of speed."""

import math
from collections.abc import Callable, Sequence

from blocklab_course.benchmarking.timers import CpuTimer
from blocklab_course.i18n import Text

READS, COMPUTES = 3350e9, 989e12
"""What an H100 can do in a second: bytes that it reads, operations in bfloat16. NVIDIA's data sheet."""

TRAFFIC = Text(
    en="each token: {billions:.1f} · 10⁹ operations\n"
    "texts   GB a token: weights  cache   H100, ms a step: reading  computing",
    zh="每个词元：{billions:.1f} · 10⁹ 次运算\n文本数    每个词元 GB：权重   缓存       H100，每步 ms：读取       运算",
)
ROW = "{texts:5}{weights:22.2f}{cache:7.2f}{reading:27.1f}{computing:11.2f}"
WITHOUT = Text(en="glassllm, no cache:  {ms:7.2f} ms a token", zh="glassllm，不用缓存，每个词元 {ms:7.2f} ms")
CACHED = Text(en="glassllm, cache:     {ms:7.2f} ms, {times}", zh="glassllm，使用缓存，每个词元 {ms:7.2f} ms，{times}")
ROOF = Text(
    en="SmolLM2, at least    {ms:7.2f} ms, in which one core reads {size} MB, its weights in float32 (memory roof)",
    zh="SmolLM2，每个词元至少 {ms:7.2f} ms，一个核用来读 {size} MB 的 float32 权重（内存的屋顶线）",
)
TIMES = {  # up to which ratio which words are said
    1.0: Text(en="not faster: if the machine was busy, run this again", zh="没有变快：如果机器正忙，请再运行一次"),
    1.25: Text(en="hardly faster", zh="几乎没有变快"),
    1.75: Text(en="about one and a half times as fast", zh="速度约为一倍半"),
    2.5: Text(en="about twice as fast", zh="速度约为两倍"),
    3.5: Text(en="about three times as fast", zh="速度约为三倍"),
    math.inf: Text(en="more than three times as fast", zh="速度超过三倍"),
}
SMOLLM2 = 538
"""Its weights in float32, in megabytes. Those of glassllm fit in a processor's own cache: memory is no limit to it."""


def show_traffic(together: Sequence[int], weights: float, cache: float, shared: int) -> None:
    """together: how many texts are written at once, a row each; weights, cache: bytes that a step reads for all of
    them, and for each; shared: how many queries' heads share one of keys and values.

    Two bytes are one number, which takes part in two operations: a weight once for each text, a kept number `shared`
    times.
    """
    operations = weights + shared * cache
    print(TRAFFIC.format(billions=operations / 1e9))
    for texts in together:
        reading, computing = (weights + texts * cache) / READS, texts * operations / COMPUTES
        row = {"texts": texts, "weights": weights / texts / 1e9, "cache": cache / 1e9}
        print(ROW.format(**row, reading=1e3 * reading, computing=1e3 * computing))


def fastest(call: Callable[[], object]) -> float:
    """The seconds of the fastest of a few laps, on one thread: what else the machine does can only make one longer."""
    timer = CpuTimer([call])
    return min(timer.seconds_per_call() for _ in range(5))


def show_speeds(seconds: dict[bool, float], bandwidth: float) -> None:
    """seconds: a token's, by whether there is a cache; bandwidth in bytes a second."""
    ratio = seconds[False] / seconds[True]
    print(WITHOUT.format(ms=1e3 * seconds[False]))
    print(CACHED.format(ms=1e3 * seconds[True], times=next(words for most, words in TIMES.items() if ratio <= most)))
    print(ROOF.format(size=SMOLLM2, ms=1e9 * SMOLLM2 / bandwidth))
