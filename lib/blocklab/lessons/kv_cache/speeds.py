"""The lines of the lesson's tables of traffic and of speed."""

from blocklab.language import Text

TRAFFIC = Text(
    en="{texts:4} texts: weights {weights:6.2f} GB a token, {flop:3} operations a byte; cache {cache:.2f} GB, {shared}",
    zh="{texts:4} 个文本：每个词元读权重 {weights:6.2f} GB，每字节 {flop:3} 次运算；读缓存 {cache:.2f} GB，{shared} 次",
)
MEMORY = Text(en="memory is read at {speed:.0f} GB a second", zh="内存每秒读 {speed:.0f} GB")
WRITING = Text(
    en="glassllm: {without:.0f} tokens a second without a cache, {cached:.0f} with one: {times:.1f} times as fast",
    zh="glassllm：不用缓存每秒 {without:.0f} 个词元，用缓存每秒 {cached:.0f} 个，是前者的 {times:.1f} 倍",
)
ROOF = Text(
    en="SmolLM2, 538 MB of weights: on this machine at most {roof:.0f} tokens a second",
    zh="SmolLM2 的权重是 538 MB：在这台机器上，每秒最多 {roof:.0f} 个词元",
)


def traffic(texts: int, weights: float, cache: float, shared: int) -> str:
    """texts: how many are written at once; weights, cache: bytes that are read for a token of one of them."""
    return TRAFFIC.format(texts=texts, weights=weights / 1e9, flop=texts, cache=cache / 1e9, shared=shared)


def show_speeds(seconds: dict[bool, float], bandwidth: float) -> None:
    """seconds: a token's, by whether there is a cache; bandwidth in bytes a second."""
    without, cached = 1 / seconds[False], 1 / seconds[True]
    print(WRITING.format(without=without, cached=cached, times=cached / without))
    print(MEMORY.format(speed=bandwidth / 1e9))
    print(ROOF.format(roof=bandwidth / 538e6))
