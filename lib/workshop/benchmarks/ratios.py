"""Ratios of our times to torch's, which survive a slow or busy machine: all arms in turn, in one run.

glibc's malloc is told to keep its pages: otherwise mapping them anew for every result is what gets timed.
"""

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable

import torch

MALLOC = "glibc.malloc.mmap_threshold=4294967295:glibc.malloc.trim_threshold=8589934592"

Call = Callable[[], object]
Arms = dict[str, tuple[Call, list[tuple[str, Call, float | None]]]]  # name: (torch's, [(how, ours, goal or none)])


def seconds(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(arms: Callable[[], Arms], what: str, rounds: int) -> None:
    """Print, for every arm, the median and the quartiles of the ratios of its time to torch's in the same round."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table = arms()
    for torchs, ours in table.values():
        for call in (torchs, *(call for _, call, _ in ours)):
            call(), call()  # compile, and touch the memory
    ratios = {(name, how): [] for name, (_, ours) in table.items() for how, _, _ in ours}
    base = {name: [] for name in table}
    for _ in range(rounds):
        for name, (torchs, ours) in table.items():
            base[name].append(seconds(torchs))
            for how, call, _ in ours:
                ratios[name, how].append(seconds(call) / base[name][-1])

    malloc = os.environ.get("GLIBC_TUNABLES", "not tuned: no glibc")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} thread, {what}")
    print(f"median of {rounds} ratios to torch's own in the same round; malloc: {malloc}\n")
    print(f"{'what':28}{'how':12}{'torch ms':>9}{'ratio':>8}{'quartiles':>15}{'goal':>7}")
    for name, (_, ours) in table.items():
        for how, _, goal in ours:
            low, ratio, high = statistics.quantiles(ratios[name, how], n=4)
            met = "" if goal is None else "  met" if ratio <= goal else "  NOT MET"
            milliseconds = 1000 * statistics.median(base[name])
            print(
                f"{name:28}{how:12}{milliseconds:9.1f}{ratio:8.2f}{f'{low:.2f} to {high:.2f}':>15}"
                f"{'' if goal is None else goal:>7}{met}",
                flush=True,
            )


def run(main: Callable[[], None]) -> None:
    """Run a bench. malloc reads its tunables when a process starts, so the script starts itself again with them."""
    if os.environ.get("GLIBC_TUNABLES") != MALLOC and platform.libc_ver()[0] == "glibc":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"GLIBC_TUNABLES": MALLOC})
    with torch.no_grad():
        main()
