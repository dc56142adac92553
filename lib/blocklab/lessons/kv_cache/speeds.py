"""The lines of the lesson's tables of traffic and of speed."""

import math

from blocklab.language import Text

TRAFFIC = Text(
    en="texts {texts:2}: a token reads {weights:5.2f} GB of weights, {flop:2} operations a byte; "
    "{cache:.2f} GB of cache, {shared} a byte",
    zh="{texts:2} 段文本：每个词元读权重 {weights:5.2f} GB，每字节 {flop:2} 次运算；"
    "读缓存 {cache:.2f} GB，每字节 {shared} 次",
)
WITHOUT = Text(en="glassllm, no cache:  {ms:7.2f} ms a token", zh="glassllm，不用缓存，每个词元 {ms:7.2f} ms")
CACHED = Text(en="glassllm, cache:     {ms:7.2f} ms, {times}", zh="glassllm，使用缓存，每个词元 {ms:7.2f} ms，{times}")
ROOF = Text(
    en="SmolLM2, at least    {ms:7.2f} ms, to read {size} MB of weights (memory roof)",
    zh="SmolLM2，每个词元至少 {ms:7.2f} ms，用来读 {size} MB 权重（内存的屋顶线）",
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


def traffic(texts: int, weights: float, cache: float, shared: int) -> str:
    """texts: how many are written at once; weights, cache: bytes that are read for a token of one of them; shared: how
    many queries' heads share one of keys and values.
    """
    return TRAFFIC.format(texts=texts, weights=weights / 1e9, flop=texts, cache=cache / 1e9, shared=shared)


def show_speeds(seconds: dict[bool, float], bandwidth: float) -> None:
    """seconds: a token's, by whether there is a cache; bandwidth in bytes a second."""
    ratio = seconds[False] / seconds[True]
    print(WITHOUT.format(ms=1e3 * seconds[False]))
    print(CACHED.format(ms=1e3 * seconds[True], times=next(words for most, words in TIMES.items() if ratio <= most)))
    print(ROOF.format(size=SMOLLM2, ms=1e9 * SMOLLM2 / bandwidth))
