"""How fast SmolLM2 generates tokens, with a key-value cache and without, compared with the memory bandwidth.

With a cache each token reads every weight matrix once and little else, so the bandwidth bounds the speed. Both are
measured in the same rounds, so that a busy machine slows them down alike. Loading runs in a separate process.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

import torch
from torch import Tensor

from blocklab_course.dependencies import skip_if_missing
from blocklab_course.pretrained import load_smollm2
from blocklab_course.pretrained.smollm2 import SmolLM2

from .ratios import seconds

TINY = {"tokens": 2, "numbers": 2**20}
PROMPT = "Name the capital of France."
CACHED_PER_UNCACHED = 5  # tokens generated with a cache for each one without

LOAD = """
import json, resource, sys, time
from blocklab_course.pretrained import load_smollm2
import torch
torch.set_num_threads(1)
start = time.perf_counter()
model = load_smollm2()
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([time.perf_counter() - start, unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def load_time_and_peak() -> tuple[float, float]:
    """Seconds to load the model, without importing torch; peak memory in bytes, torch included."""
    run = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True)
    return tuple(json.loads(run.stdout))


def generate(model: SmolLM2, ids: list[int], cached: bool) -> Iterator[None]:
    """Append the most probable token, endlessly: unlike `model.answer`, don't stop at the end of an answer."""
    caches, new = (model.new_caches() if cached else None), ids
    while True:
        x = model.states(torch.tensor([new]), caches)[0, -1]
        token = (model.tokens.weight @ x).argmax().item()
        ids = [*ids, token]
        new = [token] if cached else ids
        yield


def bandwidth(numbers: Tensor) -> float:
    """Bytes per second, from the fastest of three functions that read all numbers once."""
    reads = numbers.sum, numbers.max, lambda: numbers.view(2**13, -1) @ numbers[: len(numbers) // 2**13]
    return numbers.nbytes / min(map(seconds, reads))


@torch.no_grad()
def measure(tokens: int, numbers: int) -> None:
    load, peak = load_time_and_peak()
    torch.set_num_threads(1)
    model = load_smollm2()
    ids = model.chat(PROMPT)
    large = torch.ones(numbers)  # by default far larger than any cache
    with_cache, without_cache = (generate(model, ids, cached) for cached in (True, False))
    prefill = seconds(lambda: next(with_cache))
    next(without_cache)
    cached, uncached, bandwidths = [], [], []
    for n in range(tokens):
        cached.append(seconds(lambda: next(with_cache)))
        if n % CACHED_PER_UNCACHED == 0:
            uncached.append(seconds(lambda: next(without_cache)))
            bandwidths.append(bandwidth(large))

    weights = sum(x.nbytes for x in model.state_dict().values())
    fast, slow, read = (statistics.median(values) for values in (cached, uncached, bandwidths))
    low, _, high = statistics.quantiles(cached, n=4)
    print(f"torch {torch.__version__}, one thread, float32; a prompt of {len(ids)} tokens, read in {prefill:.2f} s")
    print(f"with a cache      {1 / fast:6.1f} tokens/s  {1000 * fast:6.1f} ms  ({1000 * low:.1f} to {1000 * high:.1f})")
    print(f"without           {1 / slow:6.1f} tokens/s  {1000 * slow:6.1f} ms")
    print(f"bandwidth allows  {read / weights:6.1f} tokens/s: {weights / 1e6:.0f} MB at {read / 1e9:.1f} GB/s")
    share, gain = weights / read / fast, slow / fast
    goals = {
        f"share of what bandwidth allows {share:5.2f}, goal at least 0.3": share >= 0.3,
        f"speed-up by the cache          {gain:5.2f}, goal at least 3.5": gain >= 3.5,
        f"seconds to load                {load:5.2f}, goal at most 2": load <= 2,
        f"MB of memory at the peak       {peak / 1e6:5.0f}, goal at most 900": peak <= 900e6,
    }
    for line, met in goals.items():
        print(f"{line}: {'met' if met else 'MISSED'}")


def main(tokens: int = 40, numbers: int = 2**27) -> None:
    with skip_if_missing():
        measure(tokens, numbers)
