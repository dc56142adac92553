"""Several ways to compute the same, timed fairly: in turn, on inputs too large for the cache, beside the roofs."""

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
from blocklab_course.benchmarking.timers import Call, CpuTimer, CudaTimer, LapTimer

COVER = 4  # all copies of the inputs together are so many times the cache: what comes round again has left it
MOST_COPIES = 256
ROUNDS = 20
WARM_UP = 0.2  # seconds, for clocks and power to settle
TOLERANCE = 1.03  # over the copy roof. More is no memory traffic: inputs or results came from the cache
ABOVE = "above the roof: cache!"
CACHED = "inputs fit in the cache"

StartWatch = Callable[[Sequence[Call]], LapTimer]


class Spread(NamedTuple):
    """The middle of some numbers, and what a fifth of them lies below and above."""

    median: float
    p20: float
    p80: float


def spread(values: Sequence[float]) -> Spread:
    """Median, 20th and 80th percentile, between the neighbouring values where they fall there."""
    low, _, _, high = statistics.quantiles(values, n=5, method="inclusive")
    return Spread(statistics.median(values), low, high)


@dataclass(frozen=True)
class Peaks:
    """The best this device did in the same run: bytes per second of a copy, flops per second of a matrix product."""

    copy: float
    matmul: float


@dataclass(frozen=True)
class Timing:
    """One arm: seconds per call in every round, the ratio to the first arm in the same round, and what was timed."""

    name: str
    seconds: Sequence[float]
    ratios: Sequence[float]
    how: str
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
        """Bytes per second, or None if no bytes were given or the number would not be one of memory."""
        return None if self.moved is None or self.mark else self.moved / self.time.median

    @property
    def speed(self) -> float | None:
        """Flops per second, or None if none were given."""
        return None if self.flops is None else self.flops / self.time.median


@dataclass(frozen=True)
class Result:
    """What `measure` found. print(result) shows a table, result["fused"] is one arm, `noise` the first arm again."""

    timings: Sequence[Timing]
    noise: Timing
    roofs: Peaks
    direction: str
    copies: int
    input_bytes: int
    clocks: tuple[int | None, int | None]
    provenance: Mapping[str, str] = field(repr=False)

    def __getitem__(self, name: str) -> Timing:
        found = [timing for timing in (*self.timings, self.noise) if timing.name == name]
        if not found:
            raise KeyError(f"no arm {name!r}, only {', '.join(timing.name for timing in self.timings)}")
        return found[0]

    def __str__(self) -> str:
        head = [", ".join(f"{key} {value}" for key, value in self.provenance.items())]
        clocks = " then ".join("not read" if clock is None else f"{clock} MHz" for clock in self.clocks)
        head += [
            f"roofs in this run: copy {self.roofs.copy / 1e9:.1f} GB/s, matrix product "
            f"{self.roofs.matmul / 1e12:.3g} TFLOP/s; SM clock {clocks}",
            f"{self.direction}; {self.copies} copies of {self.input_bytes / 1e6:.3g} MB of inputs, in turn; "
            f"{len(self.noise.seconds)} rounds; ratios to {self.timings[0].name} in the same round",
        ]
        columns = f"{'arm':18}{'median us':>11}{'20 %':>10}{'80 %':>10}{'ratio':>8}{'20 %':>7}{'80 %':>7}"
        columns += f"{'GB/s':>9}{'of copy':>9}{'TFLOP/s':>9}  what was timed"
        return "\n".join([*head, columns, *(self._line(timing) for timing in (*self.timings, self.noise))])

    def _line(self, timing: Timing) -> str:
        times = "".join(f"{1e6 * t:{w}.1f}" for t, w in zip(timing.time, (11, 10, 10), strict=True))
        ratios = "".join(f"{r:{w}.3f}" for r, w in zip(timing.ratio, (8, 7, 7), strict=True))
        rate = "" if timing.bandwidth is None else f"{timing.bandwidth / 1e9:.1f}"
        share = "" if timing.bandwidth is None else f"{timing.bandwidth / self.roofs.copy:.2f}"
        speed = "" if timing.speed is None else f"{timing.speed / 1e12:.3g}"
        mark = f"  {timing.mark}" if timing.mark else ""
        return f"{timing.name:18}{times}{ratios}{rate:>9}{share:>9}{speed:>9}  {timing.how}{mark}"


def measure(
    arms: Mapping[str, Function],
    make_inputs: Callable[[], Sequence[Tensor]],
    direction: str = "forward",
    *,
    moved: int | Mapping[str, int] | None = None,
    flops: int | Mapping[str, int] | None = None,
    rounds: int = ROUNDS,
    warm_up: float = WARM_UP,
    threads: int = 1,
    roofs: Peaks | None = None,
    start_watch: StartWatch | None = None,
) -> Result:
    """Time every arm on the same inputs; the first one is what the others are compared with.

    make_inputs() gives one set of inputs, on the device that is wanted, with new numbers at every call; so many sets
    are made that together they exceed the cache. direction: see `calls.prepare`. In every round each arm runs a lap
    through all sets, and the next round starts with the next arm; the first arm takes part twice, which shows the
    noise. moved, flops: bytes and operations of one call, of all arms or by name. threads: of a CPU; one, for two wait
    for each other, and on a busy machine for others.

    Raises ValueError for no arms, no input tensors and fewer than two rounds.
    """
    if not arms:
        raise ValueError("measure wants at least one arm, got none")
    check_integer("measure", "rounds", rounds, 2)
    sets, covered = copies_of(make_inputs)
    device = sets[0][0].device
    roofs = measure_peaks(device, threads=threads) if roofs is None else roofs

    first = next(iter(arms))
    again = f"{first} again"
    with _watches(device, threads, start_watch) as start:
        watches = {
            name: start([prepare(function, inputs, direction) for inputs in sets])
            for name, function in {**arms, again: arms[first]}.items()
        }
        _warm_up(watches, warm_up)
        before = environment.sm_clock(device)  # not earlier: a GPU at rest has a clock of its own
        laps = _take_turns(watches, rounds)
        clocks = (before, environment.sm_clock(device))

    def timing(name: str) -> Timing:
        own = name if name in arms else first
        bytes_, operations = (each.get(own) if isinstance(each, Mapping) else each for each in (moved, flops))
        ratios = [mine / theirs for mine, theirs in zip(laps[name], laps[first], strict=True)]
        mark = _mark(bytes_, spread(laps[name]).median, roofs, covered)
        return Timing(name, laps[name], ratios, watches[name].how, bytes_, operations, mark)

    return Result(
        timings=[timing(name) for name in arms],
        noise=timing(again),
        roofs=roofs,
        direction=direction,
        copies=len(sets),
        input_bytes=_bytes(sets[0]),
        clocks=clocks,
        provenance=environment.describe(device, threads),
    )


def measure_peaks(
    device: torch.device | str,
    rounds: int = ROUNDS,
    warm_up: float = WARM_UP,
    threads: int = 1,
    start_watch: StartWatch | None = None,
) -> Peaks:
    """Time a large copy within this device's memory and a large matrix product of random numbers."""
    device = torch.device(device)
    on_gpu = device.type == "cuda"
    numbers = max(2**30 if on_gpu else 0, COVER * environment.cache_bytes(device)) // 4
    size, dtype = (8192, environment.half_type(device)) if on_gpu else (1024, torch.float32)
    source, target = torch.randn(2, numbers, device=device)
    pairs = [torch.randn(2, size, size, device=device).to(dtype) for _ in range(2)]
    with _watches(device, threads, start_watch) as start:
        copy = start([lambda: target.copy_(source)])
        matmul = start([lambda a=a, b=b: a @ b for a, b in pairs])
        watches = {"copy": copy, "matmul": matmul}
        _warm_up(watches, warm_up)
        laps = _take_turns(watches, rounds)
    moved = 2 * source.nbytes  # read here, written there
    return Peaks(moved / statistics.median(laps["copy"]), 2 * size**3 / statistics.median(laps["matmul"]))


def rotated(names: Sequence[str], rounds: int) -> Iterator[list[str]]:
    """The order of every round: each starts one arm later, so that no arm always follows the same silence."""
    for turn in range(rounds):
        start = turn % len(names)
        yield [*names[start:], *names[:start]]


def _warm_up(watches: Mapping[str, LapTimer], seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for watch in watches.values():
            watch.lap()


def _take_turns(watches: Mapping[str, LapTimer], rounds: int) -> dict[str, list[float]]:
    laps = {name: [] for name in watches}
    for order in rotated(list(watches), rounds):
        for name in order:
            laps[name].append(watches[name].lap())
    return laps


def copies_of(make_inputs: Callable[[], Sequence[Tensor]]) -> tuple[list[Sequence[Tensor]], bool]:
    """So many sets of inputs that they exceed the cache COVER times, and whether they do."""
    first = make_inputs()
    if not first or not all(isinstance(tensor, Tensor) for tensor in first):
        raise ValueError(f"measure wants make_inputs to give a tuple of tensors, got {type(first).__name__}")
    wanted = COVER * environment.cache_bytes(first[0].device)
    copies = min(max(2, math.ceil(wanted / max(_bytes(first), 1))), MOST_COPIES)
    sets = [first, *(make_inputs() for _ in range(copies - 1))]
    return sets, copies * _bytes(first) >= wanted


def _bytes(inputs: Sequence[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in inputs)


def _mark(moved: int | None, seconds: float, roofs: Peaks, covered: bool) -> str:
    if moved is not None and moved / seconds > TOLERANCE * roofs.copy:
        return ABOVE
    return "" if covered else CACHED


@contextlib.contextmanager
def _watches(device: torch.device, threads: int, start_watch: StartWatch | None) -> Iterator[StartWatch]:
    """What makes a watch for this device. On a GPU, one stream and one pool of memory serve all graphs within."""
    if start_watch is not None or device.type != "cuda":
        yield start_watch or functools.partial(CpuTimer, threads=threads)
        return
    torch.cuda.synchronize(device)
    try:
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)):
            pool = torch.cuda.graph_pool_handle()
            yield lambda calls: CudaTimer(calls, pool)
    finally:
        torch.cuda.synchronize(device)
