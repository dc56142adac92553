"""How fast SmolLM2 writes, with its cache and without, beside what memory allows:  python -m workshop.benchmarks.chat

One thread, float32, a prompt of 36 tokens. For each token with a cache every matrix is read once, and hardly anything
else: the roof is the time in which so many bytes can be read. It is measured in the same rounds, as the other arms are,
so that what slows the machine slows them all. Loading is measured in a process of its own.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

import torch
from torch import Tensor

from blocklab.packages import if_installed
from blocklab.real_models import load_smollm2
from blocklab.real_models.smollm2 import SmolLM2

from .ratios import seconds

PROMPT = "Name the capital of France."
LENGTH, ROUNDS, EVERY = 36, 40, 5
"""Tokens of the prompt, tokens that are timed with a cache, and of how many one is timed without."""

SHARE, BETTER, GAIN, LOAD, PEAK = 0.3, 0.6, 3.5, 2.0, 900e6
"""Wanted: at least this share of the roof, better the next, and so many times the speed without a cache; at most so
many seconds to load, and bytes at the peak."""

LOADING = """
import json, resource, sys, time
from blocklab.real_models import load_smollm2
import torch
torch.set_num_threads(1)
start = time.perf_counter()
model = load_smollm2()
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([time.perf_counter() - start, unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def loading() -> tuple[float, float]:
    """Seconds, torch being there already, and bytes at the peak, torch's included."""
    run = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True)
    return tuple(json.loads(run.stdout))


def answering(model: SmolLM2, ids: list[int], cached: bool) -> Iterator[None]:
    """One token more each time: the most probable one, and no other, so that it never ends."""
    caches, new = (model.new_caches() if cached else None), ids
    while True:
        x = model.states(torch.tensor([new]), caches)[0, -1]
        token = (model.tokens.weight @ x).argmax().item()
        ids = [*ids, token]
        new = [token] if cached else ids
        yield


def reading(numbers: Tensor) -> float:
    """Bytes a second: the fastest of three ways to read all of them once."""
    ways = numbers.sum, numbers.max, lambda: numbers.view(2**13, -1) @ numbers[: len(numbers) // 2**13]
    return numbers.nbytes / min(map(seconds, ways))


def main() -> int:
    load, peak = loading()  # first: what this process takes would be counted
    torch.set_num_threads(1)
    model = load_smollm2()
    ids = model.chat(PROMPT)
    assert len(ids) == LENGTH, f"the prompt wants {LENGTH} tokens, got {len(ids)}"
    large = torch.ones(2**27)  # far more than any cache of the processor holds
    with_cache, without = (answering(model, ids, cached) for cached in (True, False))
    prefill = seconds(lambda: next(with_cache))
    next(without)
    cached, uncached, roofs = [], [], []
    for n in range(ROUNDS):
        cached.append(seconds(lambda: next(with_cache)))
        if n % EVERY == 0:
            uncached.append(seconds(lambda: next(without)))
            roofs.append(reading(large))
    matrices = sum(x.nbytes for x in model.state_dict().values())
    step, slow, read = (statistics.median(times) for times in (cached, uncached, roofs))
    share = matrices / read / step
    print(f"torch {torch.__version__}, {torch.get_num_threads()} thread, prompt of {LENGTH} tokens, float32")
    print(f"median of {len(cached)} tokens with a cache, of {len(uncached)} without; prompt read in {prefill:.2f} s\n")
    low, _, high = statistics.quantiles(cached, n=4)
    print(
        f"with a cache        {1 / step:6.1f} tokens/s  {1000 * step:6.1f} ms  ({1000 * low:.1f} to {1000 * high:.1f})"
    )
    print(f"without             {1 / slow:6.1f} tokens/s  {1000 * slow:6.1f} ms")
    print(f"roof                {read / matrices:6.1f} tokens/s: {matrices / 1e6:.0f} MB at {read / 1e9:.1f} GB/s")
    goals = {
        f"share of the roof   {share:6.2f}, wanted at least {SHARE}, better {BETTER}": share >= SHARE,
        f"gain by the cache   {slow / step:6.2f} times, wanted at least {GAIN}": slow / step >= GAIN,
        f"load                {load:6.2f} s, wanted at most {LOAD}": load <= LOAD,
        f"peak of memory      {peak / 1e6:6.0f} MB, wanted at most {PEAK / 1e6:.0f}": peak <= PEAK,
    }
    for line, met in goals.items():
        print(f"{line}: {'met' if met else 'NOT MET'}")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    with if_installed(), torch.no_grad():
        sys.exit(main())
