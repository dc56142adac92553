"""Compare implementations fairly: interleaved, on inputs larger than the cache, against measured peaks."""

import contextlib
import functools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from blocklab._validation import check_integer
from blocklab_course.benchmarking import environment
from blocklab_course.benchmarking.calls import Function, prepare
from blocklab_course.benchmarking.timers import Call, CallTimer, CpuTimer, CudaTimer

CACHE_MULTIPLE = 4  # the size of all input sets over that of the cache: by its next turn a set has been evicted
MAX_COPIES = 256
ROUNDS = 20
WARM_UP = 0.2  # seconds, for clocks and power to settle
COPY_TOLERANCE = 1.03  # times the bandwidth of a copy; anything faster came from the cache
FASTER_THAN_COPY = "faster than a copy: cached"
FITS_IN_CACHE = "inputs fit in the cache"

TimerFactory = Callable[[Sequence[Call]], CallTimer]


class Spread(NamedTuple):
    """Median, 20th and 80th percentile."""

    median: float
    p20: float
    p80: float


def spread(values: Sequence[float]) -> Spread:
    """Median, 20th and 80th percentile of the values, interpolated."""
    low, _, _, high = statistics.quantiles(values, n=5, method="inclusive")
    return Spread(statistics.median(values), low, high)


@dataclass(frozen=True)
class Peaks:
    """What this device reached in the same run: bytes per second of a copy, flops per second of a matrix product."""

    copy: float
    matmul: float


@dataclass(frozen=True)
class Timing:
    """One function: seconds per call and the ratio to the first function's time, round by round.

    method: what was timed. moved, flops: bytes and operations of one call. mark: why this is no memory bandwidth.
    """

    name: str
    seconds: Sequence[float]
    ratios: Sequence[float]
    method: str
    moved: int | None = None
    flops: int | None = None
    mark: str = ""

    @property
    def time(self) -> Spread:
        return spread(self.seconds)

    @property
    def ratio(self) -> Spread:
        return spread(self.ratios)

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second; None without `moved`, and where a mark says that memory was not measured."""
        return None if self.moved is None or self.mark else self.moved / self.time.median

    @property
    def speed(self) -> float | None:
        """Flops per second; None without `flops`."""
        return None if self.flops is None else self.flops / self.time.median


@dataclass(frozen=True)
class Result:
    """What `measure` returns. `print(result)` shows a table, `result["fused"]` is the timing of one function.

    noise: the first function, timed a second time.
    """

    timings: Sequence[Timing]
    noise: Timing
    peaks: Peaks
    direction: str
    copies: int
    input_bytes: int
    clocks: tuple[int | None, int | None]
    provenance: Mapping[str, str] = field(repr=False)

    def __getitem__(self, name: str) -> Timing:
        return {timing.name: timing for timing in (*self.timings, self.noise)}[name]

    def __str__(self) -> str:
        head = [", ".join(f"{key} {value}" for key, value in self.provenance.items())]
        clocks = " then ".join("not read" if clock is None else f"{clock} MHz" for clock in self.clocks)
        head += [
            f"peaks in this run: copy {self.peaks.copy / 1e9:.1f} GB/s, matrix product "
            f"{self.peaks.matmul / 1e12:.3g} TFLOP/s; SM clock {clocks}",
            f"{self.direction}; {self.copies} copies of {self.input_bytes / 1e6:.3g} MB of inputs, in turn; "
            f"{len(self.noise.seconds)} rounds; ratios to {self.timings[0].name} in the same round",
        ]
        columns = f"{'function':18}{'median us':>11}{'20 %':>10}{'80 %':>10}{'ratio':>8}{'20 %':>7}{'80 %':>7}"
        columns += f"{'GB/s':>9}{'of copy':>9}{'TFLOP/s':>9}  what was timed"
        return "\n".join([*head, columns, *(self._line(timing) for timing in (*self.timings, self.noise))])

    def _line(self, timing: Timing) -> str:
        times = "".join(f"{1e6 * t:{w}.1f}" for t, w in zip(timing.time, (11, 10, 10), strict=True))
        ratios = "".join(f"{r:{w}.3f}" for r, w in zip(timing.ratio, (8, 7, 7), strict=True))
        rate = "" if timing.bandwidth is None else f"{timing.bandwidth / 1e9:.1f}"
        share = "" if timing.bandwidth is None else f"{timing.bandwidth / self.peaks.copy:.2f}"
        speed = "" if timing.speed is None else f"{timing.speed / 1e12:.3g}"
        mark = f"  {timing.mark}" if timing.mark else ""
        return f"{timing.name:18}{times}{ratios}{rate:>9}{share:>9}{speed:>9}  {timing.method}{mark}"


def measure(
    functions: Mapping[str, Function],
    make_inputs: Callable[[], Sequence[Tensor]],
    direction: str = "forward",
    *,
    moved: int | Mapping[str, int] | None = None,
    flops: int | Mapping[str, int] | None = None,
    rounds: int = ROUNDS,
    warm_up: float = WARM_UP,
    threads: int = 1,
    peaks: Peaks | None = None,
    make_timer: TimerFactory | None = None,
) -> Result:
    """Time every function on the same inputs and compare it with the first one.

    In every round each function runs once on every set of inputs, and each round starts one function later. The first
    function takes part twice: the difference is noise.

    Args:
        make_inputs: returns one set of new random inputs on the device to measure; called until the sets together
            exceed the cache.
        direction: see `calls.prepare`.
        moved, flops: bytes and operations of one call, for all functions or by name.
        threads: of a CPU. One by default: several threads wait for each other and for other programs.

    Raises ValueError without functions or input tensors, and for fewer than two rounds.
    """
    if not functions:
        raise ValueError("measure: expected at least one function, got none")
    check_integer("measure", "rounds", rounds, 2)
    sets, covered = _make_input_sets(make_inputs)
    device = sets[0][0].device
    peaks = measure_peaks(device, threads=threads) if peaks is None else peaks

    first = next(iter(functions))
    again = f"{first} again"
    with _timers_on(device, threads, make_timer) as start:
        timers = {
            name: start([prepare(function, inputs, direction) for inputs in sets])
            for name, function in {**functions, again: functions[first]}.items()
        }
        _warm_up(timers, warm_up)
        before = environment.sm_clock(device)  # after the warm-up: an idle GPU lowers its clock
        times = _interleave(timers, rounds)
        clocks = (before, environment.sm_clock(device))

    def timing(name: str) -> Timing:
        own = name if name in functions else first
        bytes_, operations = (each.get(own) if isinstance(each, Mapping) else each for each in (moved, flops))
        ratios = [mine / theirs for mine, theirs in zip(times[name], times[first], strict=True)]
        mark = _mark(bytes_, spread(times[name]).median, peaks, covered)
        return Timing(name, times[name], ratios, timers[name].method, bytes_, operations, mark)

    return Result(
        timings=[timing(name) for name in functions],
        noise=timing(again),
        peaks=peaks,
        direction=direction,
        copies=len(sets),
        input_bytes=_total_bytes(sets[0]),
        clocks=clocks,
        provenance=environment.describe(device, threads),
    )


def measure_peaks(
    device: torch.device | str,
    rounds: int = ROUNDS,
    warm_up: float = WARM_UP,
    threads: int = 1,
    make_timer: TimerFactory | None = None,
) -> Peaks:
    """Time a large copy within the device's memory and a large product of random matrices."""
    device = torch.device(device)
    on_gpu = device.type == "cuda"
    numbers = max(2**30 if on_gpu else 0, CACHE_MULTIPLE * environment.cache_bytes(device)) // 4
    size, dtype = (8192, environment.half_dtype(device)) if on_gpu else (1024, torch.float32)
    source, target = torch.randn(2, numbers, device=device)
    pairs = [torch.randn(2, size, size, device=device).to(dtype) for _ in range(2)]
    with _timers_on(device, threads, make_timer) as start:
        copy = start([lambda: target.copy_(source)])
        matmul = start([lambda a=a, b=b: a @ b for a, b in pairs])
        timers = {"copy": copy, "matmul": matmul}
        _warm_up(timers, warm_up)
        times = _interleave(timers, rounds)
    moved = 2 * source.nbytes  # read once, written once
    return Peaks(moved / statistics.median(times["copy"]), 2 * size**3 / statistics.median(times["matmul"]))


def rotate(names: Sequence[str], rounds: int) -> Iterator[list[str]]:
    """The order of every round: each starts one name later, so that no function always runs after the same one."""
    for turn in range(rounds):
        start = turn % len(names)
        yield [*names[start:], *names[:start]]


def _warm_up(timers: Mapping[str, CallTimer], seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for timer in timers.values():
            timer.seconds_per_call()


def _interleave(timers: Mapping[str, CallTimer], rounds: int) -> dict[str, list[float]]:
    times = {name: [] for name in timers}
    for order in rotate(list(timers), rounds):
        for name in order:
            times[name].append(timers[name].seconds_per_call())
    return times


def _make_input_sets(make_inputs: Callable[[], Sequence[Tensor]]) -> tuple[list[Sequence[Tensor]], bool]:
    """Sets of inputs, CACHE_MULTIPLE times the cache in total where MAX_COPIES sets suffice, and whether they do."""
    first = make_inputs()
    if not first or not all(isinstance(tensor, Tensor) for tensor in first):
        raise ValueError(f"measure: expected make_inputs to return a tuple of tensors, got {type(first).__name__}")
    wanted = CACHE_MULTIPLE * environment.cache_bytes(first[0].device)
    copies = min(max(2, math.ceil(wanted / max(_total_bytes(first), 1))), MAX_COPIES)
    sets = [first, *(make_inputs() for _ in range(copies - 1))]
    return sets, copies * _total_bytes(first) >= wanted


def _total_bytes(inputs: Sequence[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in inputs)


def _mark(moved: int | None, seconds: float, peaks: Peaks, covered: bool) -> str:
    if moved is not None and moved / seconds > COPY_TOLERANCE * peaks.copy:
        return FASTER_THAN_COPY
    return "" if covered else FITS_IN_CACHE


@contextlib.contextmanager
def _timers_on(device: torch.device, threads: int, make_timer: TimerFactory | None) -> Iterator[TimerFactory]:
    """A factory of timers for this device. On a GPU they share one stream and one memory pool."""
    if make_timer is not None or device.type != "cuda":
        yield make_timer or functools.partial(CpuTimer, threads=threads)
        return
    torch.cuda.synchronize(device)
    try:
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)):
            pool = torch.cuda.graph_pool_handle()
            yield lambda calls: CudaTimer(calls, pool)
    finally:
        torch.cuda.synchronize(device)
