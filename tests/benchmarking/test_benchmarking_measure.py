"""The stopwatch's logic, with timers that tell what they are told to: no test here depends on how fast anything is."""

import itertools
import time

import pytest
import torch
from torch.testing import assert_close

from blocklab_course.benchmarking import Peaks, environment, measure, measure_peaks, measurement, prepare, timers
from blocklab_course.benchmarking.measurement import FASTER_THAN_COPY, FITS_IN_CACHE, rotate, spread
from blocklab_course.benchmarking.timers import CpuTimer, CudaTimer, Rotation

PEAKS = Peaks(copy=100e9, matmul=1e12)


class FakeTimers:
    """Watches that say given seconds, and a log of which one was asked when."""

    def __init__(self, *seconds):
        self.seconds, self.log, self.calls = seconds, [], []

    def __call__(self, calls):
        number = len(self.calls)
        self.calls.append(calls)
        given = self.seconds[number]
        times = itertools.cycle(given if isinstance(given, list) else [given])

        class Fake:
            method = f"fake {number}"

            def seconds_per_call(_):
                self.log.append(number)
                return next(times)

        return Fake()


def ones(megabytes=1):
    return lambda: (torch.ones(megabytes * 250_000),)


def timed(*seconds, **options):
    """Call `measure` with one function for each given time; the last time is the noise of the first function."""
    timers = FakeTimers(*seconds)
    functions = dict.fromkeys("abcdefg"[: len(seconds) - 1], torch.neg)
    options = {"rounds": 6, "warm_up": 0, "peaks": PEAKS, "make_inputs": ones()} | options
    return measure(functions, make_timer=timers, **options), timers


@pytest.fixture(autouse=True)
def _small_cache(monkeypatch):
    monkeypatch.setattr(environment, "cache_bytes", lambda device: 1_000_000)


# Order and repetition


def test_every_round_starts_one_arm_later():
    assert list(rotate("abc", 4)) == [list("abc"), list("bca"), list("cab"), list("abc")]


def test_arms_take_turns_and_the_first_takes_part_twice():
    _, timers = timed(1.0, 2.0, 1.0, rounds=3)
    assert timers.log == [0, 1, 2, 1, 2, 0, 2, 0, 1]


def test_the_noise_is_that_of_the_first_arm():
    timers = FakeTimers(1.0, 1.0, 1.0)
    functions = {"a": torch.neg, "b": torch.exp}
    measure(functions, ones(), rounds=2, warm_up=0, peaks=PEAKS, make_timer=timers)
    assert [calls[0]()[0].item() for calls in timers.calls] == pytest.approx([-1, 2.718282, -1])


def test_a_cpu_uses_the_threads_asked_for(monkeypatch):
    seen = []
    monkeypatch.setattr(
        measurement, "CpuTimer", lambda calls, threads: seen.append(threads) or CpuTimer(calls, threads)
    )
    result = measure({"a": torch.neg}, ones(), rounds=2, warm_up=0, peaks=PEAKS, threads=2)
    assert seen == [2, 2]
    assert result.provenance["threads"] == "2"
    assert result["a"].method.endswith("2 threads")


def test_each_arm_runs_on_every_copy_of_the_inputs():
    _, timers = timed(1.0, 2.0, 1.0)
    assert [len(calls) for calls in timers.calls] == [4, 4, 4]
    assert_close(timers.calls[1][2](), -torch.ones(250_000))


def test_warm_up_lasts_as_long_as_asked(monkeypatch):
    clock = itertools.count(0.0, 0.1)
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    _, timers = timed(1.0, 1.0, warm_up=0.45, rounds=2)
    assert timers.log == [0, 1] * 4 + [0, 1, 1, 0]


# Numbers


def test_spread():
    assert spread(range(1, 12)) == (6, 3, 9)
    assert spread([9.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx((3.5, 2, 5))


def test_a_ratio_is_that_of_the_same_round():
    result, _ = timed([1.0, 2.0, 4.0], [2.0, 2.0, 2.0], 1.0, rounds=3)
    # Round by round 2, 1, 0.5: as often above 1 as below.
    assert result["b"].ratios == [2.0, 1.0, 0.5]
    assert result["b"].ratio.median == 1.0
    assert result["a"].ratio == (1, 1, 1)
    assert result["b"].time == (2, 2, 2)


def test_noise_is_the_first_arm_against_itself():
    result, _ = timed(1.0, 3.0, [1.1, 0.9], rounds=4)
    assert result.noise.name == "a again"
    assert result.noise.ratios == [1.1, 0.9, 1.1, 0.9]
    assert result["a again"] is result.noise
    assert [timing.name for timing in result.timings] == ["a", "b"]


def test_rates_come_from_the_median():
    result, _ = timed([0.1, 0.2, 9.0], 0.5, rounds=3, moved=10**9, flops={"a": 4 * 10**9})
    assert result["a"].bandwidth == pytest.approx(5e9)
    assert result["a"].speed == pytest.approx(2e10)
    assert result.noise.moved == 10**9


# Roofs and caches


@pytest.mark.parametrize(("gigabytes", "mark"), [(102, ""), (104, FASTER_THAN_COPY)])
def test_what_is_faster_than_memory_is_no_number_of_memory(gigabytes, mark):
    result, _ = timed(1.0, 1.0, moved=gigabytes * 10**9)
    assert result["a"].mark == result.noise.mark == mark
    assert (result["a"].bandwidth is None) == bool(mark)
    assert (FASTER_THAN_COPY in str(result)) == bool(mark)
    assert (f"{gigabytes}.0" in str(result)) != bool(mark)


@pytest.mark.parametrize(("megabytes", "copies"), [(1, 4), (3, 2), (7, 2)])
def test_inputs_in_turn_exceed_the_cache(megabytes, copies):
    result, _ = timed(1.0, 1.0, make_inputs=ones(megabytes))
    assert result.copies == copies
    assert result.copies * result.input_bytes >= measurement.CACHE_MULTIPLE * environment.cache_bytes("cpu")
    assert result["a"].mark == ""


def test_inputs_that_cannot_exceed_it_are_marked():
    result, _ = timed(1.0, 1.0, make_inputs=lambda: (torch.ones(10),), moved=80)
    assert result.copies == measurement.MAX_COPIES
    assert result["a"].mark == FITS_IN_CACHE
    assert result["a"].bandwidth is None


def test_copies_hold_other_numbers():
    made = itertools.count()
    _, timers = timed(1.0, 1.0, make_inputs=lambda: (torch.full((250_000,), float(next(made))),))
    assert [call()[0].item() for call in timers.calls[0]] == [0, -1, -2, -3]


def test_roofs_are_bytes_and_flops_of_the_median():
    timers = FakeTimers([0.001, 0.002, 0.003], 0.5)
    peaks = measure_peaks("cpu", rounds=3, warm_up=0, make_timer=timers)
    numbers = measurement.CACHE_MULTIPLE * 1_000_000 // 4
    assert peaks.copy == pytest.approx(2 * 4 * numbers / 0.002)
    assert peaks.matmul == pytest.approx(2 * 1024**3 / 0.5)
    assert timers.calls[0][0]().numel() == numbers


def test_roofs_are_measured_unless_given(monkeypatch):
    monkeypatch.setattr(measurement, "measure_peaks", lambda device, threads: Peaks(7.0, 8.0))
    result, _ = timed(1.0, 1.0, peaks=None)
    assert result.peaks == Peaks(7.0, 8.0)


# The calls that are timed


def test_forward_keeps_nothing_for_a_way_back():
    x = torch.ones(3, requires_grad=True)
    assert not prepare(torch.exp, [x])().requires_grad


def test_backward_alone_again_and_again(rng):
    x, weight, dy = torch.randn(3, 4, generator=rng), torch.randn(4, generator=rng), torch.randn(3, 4, generator=rng)
    forwards = []

    def scale(x, weight):
        forwards.append(1)
        return x * weight

    call = prepare(scale, [x, weight, dy], "backward")
    for _ in range(3):
        dx, dweight = call()
        assert_close(dx, dy * weight)
        assert_close(dweight, (dy * x).sum(0))
    assert len(forwards) == 1
    assert x.grad is None
    assert not x.requires_grad


def test_direction_is_one_of_two():
    with pytest.raises(ValueError, match="forward, backward, got 'sideways'"):
        prepare(torch.neg, [torch.ones(1)], "sideways")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"functions": {}}, "at least one function"),
        ({"make_inputs": lambda: ()}, "tuple of tensors, got tuple"),
        ({"make_inputs": lambda: (1, 2)}, "tuple of tensors"),
        ({"rounds": 1}, "rounds to be at least 2, got 1"),
    ],
)
def test_measure_says_what_it_wants(change, message):
    with pytest.raises(ValueError, match=message):
        measure(**{"functions": {"a": torch.neg}, "make_inputs": ones(), "peaks": PEAKS} | change)


def test_an_unknown_arm_is_named():
    result, _ = timed(1.0, 2.0, 1.0)
    with pytest.raises(KeyError, match="expected one of a, b, got 'c'"):
        result["c"]


# Watches


def test_results_live_for_one_lap():
    made = iter("abcdef")
    rotation = Rotation([lambda: next(made)] * 3)
    for _ in range(4):
        rotation()
    assert rotation.results == ["d", "b", "c"]
    rotation.clear()
    assert rotation.results == [None] * 3


@pytest.fixture
def two_threads():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("two_threads")
def test_cpu_watch_runs_every_call_with_the_threads_it_states():
    seen = []
    calls = [lambda i=i: seen.append((i, torch.get_num_threads())) for i in range(5)]
    timer = CpuTimer(calls, threads=1)
    seen.clear()
    assert timer.seconds_per_call() > 0
    assert {i for i, _ in seen} == set(range(5))
    assert {threads for _, threads in seen} == {1}
    assert torch.get_num_threads() == 2
    assert timer.method == "Timer.timeit around 5 calls, 1 thread"


class FakeCuda:
    """Events that read a clock which only the calls move, and a graph that runs what was captured."""

    now = 0.0

    def __init__(self, monkeypatch, capture_fails=False):
        self.captured = 0
        monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: self.Event(self))
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)

        def capture(cuda_timer, _pool):
            if capture_fails:
                raise RuntimeError("operation not permitted when stream is capturing\nand much more")
            self.captured = cuda_timer._number
            return type("Graph", (), {"replay": lambda _: cuda_timer._one_by_one(cuda_timer._number)})()

        monkeypatch.setattr(CudaTimer, "_capture", capture)

    def call(self):
        self.now += 1e-4
        self.calls = getattr(self, "calls", 0) + 1

    class Event:
        def __init__(self, cuda):
            self.cuda = cuda

        def record(self):
            self.at = self.cuda.now

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return 1000 * (end.at - self.at)


def test_a_lap_on_a_gpu_is_a_graph_that_lasts_long_enough(monkeypatch):
    cuda = FakeCuda(monkeypatch)
    cuda_timer = CudaTimer([cuda.call] * 3)
    assert cuda.captured == 42  # 3 calls of 0.1 ms: 14 turns until 4 ms are over
    assert cuda_timer.method == "CUDA events around a graph of 42 calls"
    cuda.calls = 0
    assert cuda_timer.seconds_per_call() == pytest.approx(1e-4)
    assert cuda.calls == 84  # once untimed


def test_without_a_graph_the_reason_is_said(monkeypatch):
    cuda = FakeCuda(monkeypatch, capture_fails=True)
    cuda_timer = CudaTimer([cuda.call] * 2)
    assert cuda_timer.method.endswith("no graph: operation not permitted when stream is capturing")
    assert cuda_timer.seconds_per_call() == pytest.approx(1e-4)


@pytest.mark.parametrize("waits", [False, True])
def test_a_call_that_waits_is_not_captured(monkeypatch, waits):
    modes = []
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)

    def call():
        assert modes == ["error"]
        if waits:
            raise RuntimeError("called a synchronizing CUDA operation")

    if waits:
        with pytest.raises(RuntimeError, match="synchronizing"):
            timers.check_no_synchronization(call)
    else:
        timers.check_no_synchronization(call)
    assert modes == ["error", "default"]


def test_three_calls_at_least_come_before_capture(monkeypatch):
    cuda = FakeCuda(monkeypatch)
    monkeypatch.setattr(CudaTimer, "_seconds", lambda *_: 1.0)
    CudaTimer([cuda.call])
    assert cuda.calls == timers.WARM_UP_CALLS == 3


# Provenance


def test_provenance_of_a_cpu(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", "13.0")  # there may be a GPU beside it
    said = environment.describe("cpu", threads=2)
    assert said["torch"] == torch.__version__
    assert (said["cuda"], said["driver"]) == ("none", "none")
    assert (said["threads"], said["cache"]) == ("2", "0.953674 MiB")
    assert said["device"]
    assert said["date"].endswith("+00:00")
    assert environment.sm_clock("cpu") is None


def test_the_table_names_device_versions_and_date():
    result, _ = timed(1e-3, 2e-3, 1e-3, moved=10**6)
    shown = str(result)
    said = environment.describe("cpu")
    assert all(said[key] in shown for key in ("device", "torch", "triton", "python", "cache"))
    assert "copy 100.0 GB/s" in shown
    assert "SM clock not read then not read" in shown
    assert "4 copies of 1 MB of inputs, in turn; 6 rounds; ratios to a in the same round" in shown
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines[-3:]] == ["a", "b", "a"]
    assert lines[-2].split()[1:9] == ["2000.0", "2000.0", "2000.0", "2.000", "2.000", "2.000", "0.5", "0.01"]


@pytest.mark.parametrize(("answer", "clock"), [("1980\n", 1980), ("[N/A]\n", None)])
def test_the_clock_is_read_of_the_very_device(monkeypatch, answer, clock):
    asked = []

    def smi(command, **_):
        asked.append(command)
        return type("Done", (), {"returncode": 0, "stdout": answer})()

    monkeypatch.setattr(environment.subprocess, "run", smi)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: type("P", (), {"uuid": "ab-12"})())
    assert environment.sm_clock("cuda:0") == clock
    assert asked[0][:3] == ["nvidia-smi", "--id=GPU-ab-12", "--query-gpu=clocks.sm"]


def test_no_nvidia_smi_is_no_clock(monkeypatch):
    def absent(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(environment.subprocess, "run", absent)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: type("P", (), {"uuid": "ab-12"})())
    assert environment.sm_clock("cuda:0") is None
