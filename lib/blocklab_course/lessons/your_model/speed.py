"""How fast SmolLM2 writes on this machine, with what it kept and without, and how fast memory would let it."""

import math
import statistics
from collections.abc import Callable

import torch

from blocklab_course.benchmarking import Peaks, measure
from blocklab_course.benchmarking.timers import CpuTimer
from blocklab_course.i18n import Text
from blocklab_course.pretrained.decoder import Decoder

LAPS = 7
UNKNOWN = Peaks(copy=float("inf"), matmul=float("inf"))  # the copy is not asked for: reading alone is what is timed
FLOATS = 2**23
CACHED = Text(en="with the cache {ms:.1f} ms a token", zh="有缓存，每个词元 {ms:.1f} ms")
WHOLE = Text(en="all read again {ms:.1f} ms", zh="全部重读，每个词元 {ms:.1f} ms")
ROOF = Text(
    en="the roof {ms:.1f} ms, to read {size:.0f} MB", zh="屋顶线，每个词元至少 {ms:.1f} ms，用来读 {size:.0f} MB"
)
SHARES = {  # up to which share of the roof which words are said
    0.25: Text(en="less than a quarter of what memory allows", zh="速度不到内存所允许的四分之一"),
    0.5: Text(en="less than half of what memory allows", zh="速度不到内存所允许的一半"),
    0.75: Text(en="more than half of what memory allows", zh="速度超过内存所允许的一半"),
    math.inf: Text(en="more than three quarters of what memory allows", zh="速度超过内存所允许的四分之三"),
}


def seconds(call: Callable[[], object]) -> float:
    """The median of some calls on one thread, after others that warm up."""
    timer = CpuTimer([call])
    return statistics.median(timer.seconds_per_call() for _ in range(LAPS))


@torch.no_grad()
def seconds_per_token(model: Decoder, ids: list[int]) -> tuple[float, float]:
    """One more token behind these: with keys and values kept, and with all read again."""
    caches, whole, last = model.new_caches(), torch.tensor([ids]), torch.tensor([ids[-1:]])
    model.states(whole[:, :-1], caches)

    def next_token(x: torch.Tensor) -> torch.Tensor:
        return model.tokens.weight @ x[0, -1]

    with torch.inference_mode():
        cached = seconds(lambda: next_token(model.states(last, caches)))
        return cached, seconds(lambda: next_token(model.states(whole)))


def bytes_per_second() -> float:
    """What one thread reads from memory, timed on more numbers than the cache holds."""
    read = measure({"read": torch.sum}, lambda: (torch.randn(FLOATS),), moved=4 * FLOATS, rounds=5, peaks=UNKNOWN)
    return 4 * FLOATS / read["read"].time.median


def told(model: Decoder, ids: list[int]) -> str:
    """What a token takes in both ways and at the roof of memory, and how much of the roof is reached."""
    cached, whole = seconds_per_token(model, ids)
    size = 4 * sum(weight.numel() for weight in model.parameters())
    roof = size / bytes_per_second()
    share = next(words for most, words in SHARES.items() if roof / cached <= most)
    lines = CACHED.format(ms=1e3 * cached), WHOLE.format(ms=1e3 * whole), ROOF.format(ms=1e3 * roof, size=size / 1e6)
    return "\n".join([*lines, str(share)])
