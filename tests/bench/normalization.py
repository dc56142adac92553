"""How long our normalizations take beside torch's:  python tests/bench/normalization.py

Forward, one thread, 4096 x 4096 float32, all arms in turn in one run, so that what slows the machine slows them all.
glibc's malloc is told to keep its pages: otherwise mapping them anew for every result is what gets timed.
"""

import os
import platform
import statistics
import sys
import time

import torch
import torch.nn.functional as F

from blocklab.normalization import batch_norm, layer_norm, rms_norm

MALLOC = "glibc.malloc.mmap_threshold=4294967295:glibc.malloc.trim_threshold=8589934592"
SIZE = 4096
ROUNDS = 31


def arms():
    """name -> (torch's, [(how, ours, goal or None)]); with weight and bias, and without."""
    x, weight, bias = torch.randn(SIZE, SIZE), torch.randn(SIZE), torch.randn(SIZE)
    ours, theirs = ((torch.zeros(SIZE), torch.ones(SIZE)) for _ in range(2))
    compiled_layer_norm, compiled_rms_norm = (torch.compile(f, fullgraph=True) for f in (layer_norm, rms_norm))
    d = (SIZE,)
    return {
        "layer_norm, weight and bias": (
            lambda: F.layer_norm(x, d, weight, bias),
            [
                ("as written", lambda: layer_norm(x, d, weight, bias), 3.0),
                ("compiled", lambda: compiled_layer_norm(x, d, weight, bias), 1.4),
            ],
        ),
        "layer_norm, bare": (
            lambda: F.layer_norm(x, d),
            [
                ("as written", lambda: layer_norm(x, d), 3.0),
                ("compiled", lambda: compiled_layer_norm(x, d), 1.4),
            ],
        ),
        "rms_norm, weight": (
            lambda: F.rms_norm(x, d, weight, 1e-5),
            [
                ("as written", lambda: rms_norm(x, d, weight, 1e-5), 1.1),
                ("compiled", lambda: compiled_rms_norm(x, d, weight, 1e-5), 0.5),
            ],
        ),
        "rms_norm, bare": (
            lambda: F.rms_norm(x, d, None, 1e-5),
            [
                ("as written", lambda: rms_norm(x, d, None, 1e-5), 1.1),
                ("compiled", lambda: compiled_rms_norm(x, d, None, 1e-5), 0.5),
            ],
        ),
        "batch_norm, training, all": (
            lambda: F.batch_norm(x, *theirs, weight, bias, training=True),
            [("as written", lambda: batch_norm(x, *ours, weight, bias, training=True), 2.0)],
        ),
        "batch_norm, training, bare": (
            lambda: F.batch_norm(x, None, None, training=True),
            [("as written", lambda: batch_norm(x, None, None, training=True), 2.0)],
        ),
    }


def seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table = arms()
    for torchs, ours in table.values():
        for call in (torchs, *(call for _, call, _ in ours)):
            call(), call()  # compile, and touch the memory
    ratios = {(name, how): [] for name, (_, ours) in table.items() for how, _, _ in ours}
    base = {name: [] for name in table}
    for _ in range(ROUNDS):
        for name, (torchs, ours) in table.items():
            base[name].append(seconds(torchs))
            for how, call, _ in ours:
                ratios[name, how].append(seconds(call) / base[name][-1])

    malloc = os.environ.get("GLIBC_TUNABLES", "not tuned: no glibc")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} thread, {SIZE} x {SIZE} float32, forward, no gradient")
    print(f"median of {ROUNDS} ratios to torch's own in the same round; malloc: {malloc}\n")
    print(f"{'what':28}{'how':12}{'torch ms':>9}{'ratio':>8}{'quartiles':>15}{'goal':>7}")
    for name, (_, ours) in table.items():
        for how, _, goal in ours:
            low, ratio, high = statistics.quantiles(ratios[name, how], n=4)
            met = "met" if ratio <= goal else "NOT MET"
            milliseconds = 1000 * statistics.median(base[name])
            print(
                f"{name:28}{how:12}{milliseconds:9.1f}{ratio:8.2f}{f'{low:.2f} to {high:.2f}':>15}{goal:>7}  {met}",
                flush=True,
            )


if __name__ == "__main__":
    # malloc reads its tunables when a process starts, so the script starts itself again with them.
    if os.environ.get("GLIBC_TUNABLES") != MALLOC and platform.libc_ver()[0] == "glibc":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"GLIBC_TUNABLES": MALLOC})
    with torch.no_grad():
        main()
