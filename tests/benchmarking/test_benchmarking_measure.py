"""The logic of `measure`, with fake timers: no test depends on how fast anything is."""

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
    """A factory of timers that return given seconds; `log` holds the order in which they run."""

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


def test_each_round_starts_one_function_later():
    assert list(rotate("abc", 4)) == [list("abc"), list("bca"), list("cab"), list("abc")]


def test_functions_are_interleaved_and_the_first_runs_twice():
    _, timers = timed(1.0, 2.0, 1.0, rounds=3)
    assert timers.log == [0, 1, 2, 1, 2, 0, 2, 0, 1]


def test_noise_repeats_the_first_function():
    timers = FakeTimers(1.0, 1.0, 1.0)
    functions = {"a": torch.neg, "b": torch.exp}
    measure(functions, ones(), rounds=2, warm_up=0, peaks=PEAKS, make_timer=timers)
    assert [calls[0]()[0].item() for calls in timers.calls] == pytest.approx([-1, 2.718282, -1])


def test_uses_the_requested_cpu_threads(monkeypatch):
    seen = []
    monkeypatch.setattr(
        measurement, "CpuTimer", lambda calls, threads: seen.append(threads) or CpuTimer(calls, threads)
    )
    result = measure({"a": torch.neg}, ones(), rounds=2, warm_up=0, peaks=PEAKS, threads=2)
    assert seen == [2, 2]
    assert result.provenance["threads"] == "2"
    assert result["a"].method.endswith("2 threads")


def test_each_function_runs_on_every_set_of_inputs():
    _, timers = timed(1.0, 2.0, 1.0)
    assert [len(calls) for calls in timers.calls] == [4, 4, 4]
    assert_close(timers.calls[1][2](), -torch.ones(250_000))


def test_warm_up_lasts_as_long_as_requested(monkeypatch):
    clock = itertools.count(0.0, 0.1)
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    _, timers = timed(1.0, 1.0, warm_up=0.45, rounds=2)
    assert timers.log == [0, 1] * 4 + [0, 1, 1, 0]


# Numbers


def test_spread_is_median_and_percentiles():
    assert spread(range(1, 12)) == (6, 3, 9)
    assert spread([9.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx((3.5, 2, 5))


def test_ratios_compare_the_same_round():
    result, _ = timed([1.0, 2.0, 4.0], [2.0, 2.0, 2.0], 1.0, rounds=3)
    assert result["b"].ratios == [2.0, 1.0, 0.5]
    assert result["b"].ratio.median == 1.0
    assert result["a"].ratio == (1, 1, 1)
    assert result["b"].time == (2, 2, 2)


def test_noise_compares_the_first_function_with_itself():
    result, _ = timed(1.0, 3.0, [1.1, 0.9], rounds=4)
    assert result.noise.name == "a again"
    assert result.noise.ratios == [1.1, 0.9, 1.1, 0.9]
    assert result["a again"] is result.noise
    assert [timing.name for timing in result.timings] == ["a", "b"]


def test_rates_use_the_median():
    result, _ = timed([0.1, 0.2, 9.0], 0.5, rounds=3, moved=10**9, flops={"a": 4 * 10**9})
    assert result["a"].bandwidth == pytest.approx(5e9)
    assert result["a"].speed == pytest.approx(2e10)
    assert result.noise.moved == 10**9


# Peaks and caches


@pytest.mark.parametrize(("gigabytes", "mark"), [(102, ""), (104, FASTER_THAN_COPY)])
def test_bandwidth_above_a_copy_is_marked(gigabytes, mark):
    result, _ = timed(1.0, 1.0, moved=gigabytes * 10**9)
    assert result["a"].mark == result.noise.mark == mark
    assert (result["a"].bandwidth is None) == bool(mark)
    assert (FASTER_THAN_COPY in str(result)) == bool(mark)
    assert (f"{gigabytes}.0" in str(result)) != bool(mark)


@pytest.mark.parametrize(("megabytes", "copies"), [(1, 4), (3, 2), (7, 2)])
def test_input_sets_exceed_the_cache(megabytes, copies):
    result, _ = timed(1.0, 1.0, make_inputs=ones(megabytes))
    assert result.copies == copies
    assert result.copies * result.input_bytes >= measurement.CACHE_MULTIPLE * environment.cache_bytes("cpu")
    assert result["a"].mark == ""


def test_inputs_that_fit_in_the_cache_are_marked():
    result, _ = timed(1.0, 1.0, make_inputs=lambda: (torch.ones(10),), moved=80)
    assert result.copies == measurement.MAX_COPIES
    assert result["a"].mark == FITS_IN_CACHE
    assert result["a"].bandwidth is None


def test_every_set_of_inputs_is_new():
    made = itertools.count()
    _, timers = timed(1.0, 1.0, make_inputs=lambda: (torch.full((250_000,), float(next(made))),))
    assert [call()[0].item() for call in timers.calls[0]] == [0, -1, -2, -3]


def test_peaks_use_the_median():
    timers = FakeTimers([0.001, 0.002, 0.003], 0.5)
    peaks = measure_peaks("cpu", rounds=3, warm_up=0, make_timer=timers)
    numbers = measurement.CACHE_MULTIPLE * 1_000_000 // 4
    assert peaks.copy == pytest.approx(2 * 4 * numbers / 0.002)
    assert peaks.matmul == pytest.approx(2 * 1024**3 / 0.5)
    assert timers.calls[0][0]().numel() == numbers


def test_peaks_are_measured_unless_given(monkeypatch):
    monkeypatch.setattr(measurement, "measure_peaks", lambda device, threads: Peaks(7.0, 8.0))
    result, _ = timed(1.0, 1.0, peaks=None)
    assert result.peaks == Peaks(7.0, 8.0)


# The calls that are timed


def test_forward_runs_without_gradients():
    x = torch.ones(3, requires_grad=True)
    assert not prepare(torch.exp, [x])().requires_grad


def test_backward_runs_repeatedly_without_forward(rng):
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


def test_unknown_direction_is_an_error():
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
def test_measure_rejects_missing_functions_inputs_and_rounds(change, message):
    with pytest.raises(ValueError, match=message):
        measure(**{"functions": {"a": torch.neg}, "make_inputs": ones(), "peaks": PEAKS} | change)


# Timers


def test_rotation_keeps_results_for_one_round():
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
def test_cpu_timer_runs_every_call_with_its_threads():
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
    """Events that read a clock advanced only by the calls, and a graph that repeats the captured calls."""

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


def test_cuda_timer_captures_a_graph_that_lasts_long_enough(monkeypatch):
    cuda = FakeCuda(monkeypatch)
    cuda_timer = CudaTimer([cuda.call] * 3)
    assert cuda.captured == 42  # 14 rounds of 3 calls of 0.1 ms exceed 4 ms
    assert cuda_timer.method == "CUDA events around a graph of 42 calls"
    cuda.calls = 0
    assert cuda_timer.seconds_per_call() == pytest.approx(1e-4)
    assert cuda.calls == 84  # once untimed


def test_cuda_timer_reports_why_capture_failed(monkeypatch):
    cuda = FakeCuda(monkeypatch, capture_fails=True)
    cuda_timer = CudaTimer([cuda.call] * 2)
    assert cuda_timer.method.endswith("no graph: operation not permitted when stream is capturing")
    assert cuda_timer.seconds_per_call() == pytest.approx(1e-4)


@pytest.mark.parametrize("waits", [False, True])
def test_synchronizing_calls_are_not_captured(monkeypatch, waits):
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


def test_cuda_timer_warms_up_before_capture(monkeypatch):
    cuda = FakeCuda(monkeypatch)
    monkeypatch.setattr(CudaTimer, "_seconds", lambda *_: 1.0)
    CudaTimer([cuda.call])
    assert cuda.calls == timers.WARM_UP_CALLS == 3


# Provenance


def test_provenance_of_a_cpu_names_no_gpu(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", "13.0")  # the machine may have a GPU as well
    provenance = environment.describe("cpu", threads=2)
    assert provenance["torch"] == torch.__version__
    assert (provenance["cuda"], provenance["driver"]) == ("none", "none")
    assert (provenance["threads"], provenance["cache"]) == ("2", "0.953674 MiB")
    assert provenance["device"]
    assert provenance["date"].endswith("+00:00")
    assert environment.sm_clock("cpu") is None


def test_table_shows_provenance_and_timings():
    result, _ = timed(1e-3, 2e-3, 1e-3, moved=10**6)
    shown = str(result)
    provenance = environment.describe("cpu")
    assert all(provenance[key] in shown for key in ("device", "torch", "triton", "python", "cache"))
    assert "copy 100.0 GB/s" in shown
    assert "SM clock not read then not read" in shown
    assert "4 copies of 1 MB of inputs, in turn; 6 rounds; ratios to a in the same round" in shown
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines[-3:]] == ["a", "b", "a"]
    assert lines[-2].split()[1:9] == ["2000.0", "2000.0", "2000.0", "2.000", "2.000", "2.000", "0.5", "0.01"]


@pytest.mark.parametrize(("answer", "clock"), [("1980\n", 1980), ("[N/A]\n", None)])
def test_clock_is_read_from_the_device_by_uuid(monkeypatch, answer, clock):
    asked = []

    def smi(command, **_):
        asked.append(command)
        return type("Done", (), {"returncode": 0, "stdout": answer})()

    monkeypatch.setattr(environment.subprocess, "run", smi)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: type("P", (), {"uuid": "ab-12"})())
    assert environment.sm_clock("cuda:0") == clock
    assert asked[0][:3] == ["nvidia-smi", "--id=GPU-ab-12", "--query-gpu=clocks.sm"]


def test_clock_is_none_without_nvidia_smi(monkeypatch):
    def absent(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(environment.subprocess, "run", absent)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: type("P", (), {"uuid": "ab-12"})())
    assert environment.sm_clock("cuda:0") is None
