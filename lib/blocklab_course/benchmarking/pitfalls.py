"""Five ways in which a stopwatch lies, each beside the truth, which comes from the same calls.

No timer here is better than `measure`: these are the mistakes that it avoids, one at a time.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from blocklab_course.benchmarking.calls import Function
from blocklab_course.benchmarking.measurement import make_input_sets

CALLS = 20


@dataclass(frozen=True)
class Pitfall:
    """What the stopwatch says and what is so, in seconds per call."""

    name: str
    measured: float
    actual: float

    def __str__(self) -> str:
        measured, actual = 1e6 * self.measured, 1e6 * self.actual
        return f"{self.name}: measured {measured:.3g} µs, actual {actual:.3g} µs, {actual / measured:.3g} times as long"


def no_synchronize(function: Function, *inputs: Tensor) -> Pitfall:
    """Stop the clock when the call returns, and once more when the GPU is done. A CPU's call returns when it is."""
    _check_cuda("no_synchronize", inputs)
    _seconds(function, *inputs)  # the first call compiles
    start = time.perf_counter()
    function(*inputs)
    measured = time.perf_counter() - start
    torch.cuda.synchronize()
    return Pitfall("no synchronize", measured, time.perf_counter() - start)


def no_warm_up(make_function: Callable[[], Function], *inputs: Tensor, calls: int = CALLS) -> Pitfall:
    """The first call of a new function, and the median of those after it. make_function() gives the new one.

    A first call compiles, loads libraries, or has the system find memory for its result.
    """
    first, *later = _times(make_function(), [inputs], calls)
    return Pitfall("no warm-up", first, statistics.median(later))


def mean_for_median(
    function: Function, *inputs: Tensor, calls: int = CALLS, interruption: Callable[[], object] | None = None
) -> Pitfall:
    """The mean and the median of the same times. One interruption moves the mean of 20 calls and not their median.

    interruption: stands for what else a machine does, and takes part in the last call; None leaves it to chance.
    """
    _seconds(function, *inputs)
    times = _times(function, [inputs], calls)
    if interruption is not None:
        times[-1] += _seconds(interruption)
    return Pitfall("mean for median", statistics.fmean(times), statistics.median(times))


def cache_resident(function: Function, make_inputs: Callable[[], Sequence[Tensor]], calls: int = CALLS) -> Pitfall:
    """The same inputs again and again, and as many others in between as push them out of the cache."""
    sets, _ = make_input_sets(make_inputs)
    measured = statistics.median(_times(function, sets[:1], calls + 1)[1:])
    turns = _times(function, sets, len(sets) + calls)
    return Pitfall("cache-resident inputs", measured, statistics.median(turns[len(sets) :]))


def zeros_for_numbers(function: Function, *inputs: Tensor, calls: int = CALLS) -> Pitfall:
    """Zeros, and the numbers given. Zeros cost a GPU's matrix units less power, and its clock may rise."""
    _check_cuda("zeros_for_numbers", inputs)
    zeros = [torch.zeros_like(tensor) for tensor in inputs]
    measured, actual = (statistics.median(_times(function, [each], calls)[calls // 2 :]) for each in (zeros, inputs))
    return Pitfall("zeros for numbers", measured, actual)


def _times(function: Function, sets: Sequence[Sequence[Tensor]], calls: int) -> list[float]:
    return [_seconds(function, *inputs) for inputs in itertools.islice(itertools.cycle(sets), calls)]


def _seconds(function: Function, *inputs: Tensor) -> float:
    """One call, from a GPU that has nothing to do to one that has nothing left to do."""
    _synchronize()
    start = time.perf_counter()
    function(*inputs)
    _synchronize()
    return time.perf_counter() - start


def _synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _check_cuda(function: str, inputs: Sequence[Tensor]) -> None:
    devices = {tensor.device.type for tensor in inputs}
    if devices != {"cuda"}:
        raise ValueError(
            f"{function} wants tensors on a CUDA device, got them on {', '.join(sorted(devices)) or 'none'}"
        )
