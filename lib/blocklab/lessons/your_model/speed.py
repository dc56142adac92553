"""How fast SmolLM2 writes on this machine, with what it kept and without, and how fast memory would let it."""

import statistics
from collections.abc import Callable

import torch

from blocklab.language import Text
from blocklab.real_models.decoder import Decoder
from blocklab.timing import Roofs, measure
from blocklab.timing.watch import CpuWatch

LAPS = 7
UNKNOWN = Roofs(copy=float("inf"), matmul=float("inf"))  # the copy is not asked for: reading alone is what is timed
FLOATS = 2**23
TOLD = Text(
    en="a prompt of {length} tokens, one thread\nwith the cache {cached:.1f} tokens a second, without {whole:.1f}\n"
    "memory: {read:.2f} GB a token at {bandwidth:.0f} GB/s, at most {roof:.0f} tokens a second; with the cache "
    "{share:.0%} of that",
    zh="提示有 {length} 个词元，单线程\n有缓存，每秒 {cached:.1f} 个词元；没有缓存，{whole:.1f} 个\n"
    "内存：每个词元读 {read:.2f} GB，速度 {bandwidth:.0f} GB/s，每秒最多 {roof:.0f} 个词元；"
    "有缓存时达到了它的 {share:.0%}",
)


def seconds(call: Callable[[], object]) -> float:
    """The median of some calls on one thread, after others that warm up."""
    watch = CpuWatch([call])
    return statistics.median(watch.lap() for _ in range(LAPS))


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
    read = measure({"read": torch.sum}, lambda: (torch.randn(FLOATS),), moved=4 * FLOATS, rounds=5, roofs=UNKNOWN)
    return 4 * FLOATS / read["read"].time.median


def told(model: Decoder, ids: list[int]) -> str:
    """Both speeds beside the roof of memory."""
    cached, whole = seconds_per_token(model, ids)
    bandwidth, read = bytes_per_second(), 4 * sum(weight.numel() for weight in model.parameters())
    return TOLD.format(
        length=len(ids),
        cached=1 / cached,
        whole=1 / whole,
        read=read / 1e9,
        bandwidth=bandwidth / 1e9,
        roof=bandwidth / read,
        share=read / bandwidth / cached,
    )
