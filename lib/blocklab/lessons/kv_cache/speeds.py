"""The lines of the lesson's tables of traffic and of speed."""

import math

from blocklab.language import Text

TRAFFIC = Text(
    en="texts {texts:2}: a token reads {weights:5.2f} GB of weights, {flop:2} operations a byte; "
    "{cache:.2f} GB of cache, {shared} a byte",
    zh="文本 {texts:2} 个：每个词元读权重 {weights:5.2f} GB，每字节 {flop:2} 次运算；"
    "读缓存 {cache:.2f} GB，每字节 {shared} 次",
)
WITHOUT = Text(en="glassllm, no cache:  {ms:7.2f} ms a token", zh="glassllm，不用缓存：每个词元 {ms:7.2f} ms")
CACHED = Text(en="glassllm, cache:     {ms:7.2f} ms, {times}", zh="glassllm，用缓存：  每个词元 {ms:7.2f} ms，{times}")
ROOF = Text(
    en="roof of {name:9} {ms:7.2f} ms, to read {size} MB of weights",
    zh="{name} 的屋顶线：每个词元 {ms:7.2f} ms，用来读 {size} MB 权重",
)
TIMES = {  # up to which ratio which words are said
    1.25: Text(en="hardly faster", zh="几乎没有变快"),
    1.75: Text(en="half as fast again", zh="快了一半左右"),
    2.5: Text(en="about twice as fast", zh="大约快到两倍"),
    3.5: Text(en="about three times as fast", zh="大约快到三倍"),
    math.inf: Text(en="more than three times as fast", zh="快到三倍以上"),
}
SIZES = {"glassllm": 3.4, "SmolLM2": 538}
"""Weights in float32, in megabytes."""


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
    for name, size in SIZES.items():
        print(ROOF.format(name=name, size=size, ms=1e9 * size / bandwidth))
