"""Timers: the average time of one call over one round through all sets of inputs.

A timer takes one call per set of inputs and warms them up. `method` describes what it times.
"""

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch.utils.benchmark import Timer

Call = Callable[[], object]

WARM_UP_CALLS = 3  # at least: compilers and libraries have to initialize before a graph is captured
MIN_GRAPH_SECONDS = 4e-3  # thousands of times the resolution of CUDA events


class CallTimer(Protocol):
    method: str

    def seconds_per_call(self) -> float: ...


class Rotation:
    """Runs the calls in turn and keeps each result for a round; otherwise the next result reuses cached memory."""

    def __init__(self, calls: Sequence[Call]):
        self.calls = calls
        self.clear()

    def clear(self) -> None:
        self.results: list[object] = [None] * len(self.calls)
        self._turn = itertools.cycle(range(len(self.calls)))

    def __call__(self) -> None:
        turn = next(self._turn)
        self.results[turn] = self.calls[turn]()


class CpuTimer:
    """`torch.utils.benchmark.Timer` with a given number of threads."""

    def __init__(self, calls: Sequence[Call], threads: int = 1):
        self._number = len(calls)
        rotation = Rotation(calls)
        for _ in range(max(WARM_UP_CALLS, self._number)):
            rotation()
        self._timer = Timer("call()", globals={"call": rotation}, num_threads=threads)
        self.method = f"Timer.timeit around {self._number} calls, {threads} thread{'' if threads == 1 else 's'}"

    def seconds_per_call(self) -> float:
        return self._timer.timeit(self._number).times[0]


class CudaTimer:
    """CUDA events around many calls captured in one graph: the work of the GPU without launch overhead.

    If capture fails, the calls are launched one by one, and `method` says why. Prepare the calls and use the timer on
    the same non-default stream: a backward pass runs on the stream of its forward pass.
    """

    def __init__(self, calls: Sequence[Call], pool: object = None):
        self._rotation = Rotation(calls)
        for _ in range(max(WARM_UP_CALLS, len(calls))):
            self._rotation()
        estimate = self._seconds(self._one_by_one, len(calls))
        self._number = len(calls) * math.ceil(MIN_GRAPH_SECONDS / (estimate * len(calls)))
        self._rotation.clear()
        try:
            self._play = self._capture(pool).replay
            self.method = f"CUDA events around a graph of {self._number} calls"
        except RuntimeError as error:
            torch.cuda.synchronize()
            reason = str(error).partition("\n")[0]
            self._play = lambda: self._one_by_one(self._number)
            self.method = f"CUDA events around {self._number} launches, their gaps included; no graph: {reason}"
        self._rotation.clear()  # the next graph may use this memory

    def seconds_per_call(self) -> float:
        self._play()  # untimed: keeps the GPU busy while the timed work is submitted
        return self._seconds(lambda _: self._play(), self._number)

    def _seconds(self, work: Callable[[int], None], calls: int) -> float:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work(calls)
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1000 / calls

    def _one_by_one(self, calls: int) -> None:
        for _ in range(calls):
            self._rotation()

    def _capture(self, pool: object) -> torch.cuda.CUDAGraph:
        check_no_synchronization(self._rotation.calls[0])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool, stream=torch.cuda.current_stream()):
            self._one_by_one(self._number)
        return graph


def check_no_synchronization(call: Call) -> None:
    """Raise RuntimeError if the call synchronizes with the GPU, which a graph can't.

    Checked before the capture, because a failed capture leaves torch 2.11 unable to capture or draw random numbers.
    """
    with warnings.catch_warnings(action="ignore"):  # a warning that this mode is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        call()
    finally:
        torch.cuda.set_sync_debug_mode("default")
