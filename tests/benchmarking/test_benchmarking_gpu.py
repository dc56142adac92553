"""`measure` on a GPU: it captures graphs, forward and backward, and times without one what it can't capture."""

import statistics
import time

import pytest
import torch
import torch.nn.functional as F

from blocklab import fused
from blocklab_course.benchmarking import (
    Peaks,
    bytes_moved,
    eager,
    environment,
    measure,
    measure_peaks,
)
from blocklab_course.benchmarking.recording import read
from blocklab_course.benchmarking.suite import Plan, record
from lesson_functions import function_of

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

ROWS, WIDTH = 8192, 4096
HALF = environment.half_dtype("cuda") if torch.cuda.is_available() else None
PEAKS = Peaks(1e15, 1e15)  # higher than any measurement


def inputs(*gradient):
    shapes = [(ROWS, WIDTH), (WIDTH,), *gradient]
    return lambda: [torch.randn(shape, dtype=HALF, device="cuda") for shape in shapes]


def functions():
    compiled = torch.compile(eager.rms_norm, fullgraph=True, dynamic=False)
    return {
        "torch": lambda x, weight: F.rms_norm(x, (WIDTH,), weight, 1e-6),
        "eager": eager.rms_norm,
        "compiled": compiled,
        "fused": lambda x, weight: fused.rms_norm(x, (WIDTH,), weight, 1e-6),
    }


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_every_implementation_is_captured(direction):
    make = inputs(*[(ROWS, WIDTH)] if direction == "backward" else [])
    moved = bytes_moved("rms_norm", (ROWS, WIDTH), HALF, direction)
    result = measure(functions(), make, direction, moved=moved, rounds=3, peaks=PEAKS)
    for timing in (*result.timings, result.noise):
        assert timing.method.startswith("CUDA events around a graph of ")
        assert timing.bandwidth > 0
    assert result.copies * result.input_bytes > environment.cache_bytes("cuda")
    assert result.provenance["cuda"] == torch.version.cuda


def test_synchronizing_functions_are_launched_without_a_graph():
    def waits(x, weight):
        return x * weight.sum().item()

    result = measure({"waits": waits, "torch": lambda x, w: x * w}, inputs(), rounds=2, peaks=PEAKS)
    assert "no graph: called a synchronizing CUDA operation" in result["waits"].method
    assert result["torch"].method.startswith("CUDA events around a graph of ")
    assert torch.ones(3, device="cuda").sum().item() == 3


@pytest.fixture
def lesson_timer():
    """The timer of lesson 14, with CUDA events around a graph: the median seconds of a call."""
    function = function_of("14_cuda_timing", "events_around_a_graph")
    function.__globals__["torch"] = torch
    return lambda layer, copies: statistics.median(function(layer, copies) for _ in range(9))


def test_lesson_timer_agrees_with_measure(lesson_timer):
    make = inputs()
    copies = [make() for _ in range(8)]
    assert sum(x.nbytes for x, _ in copies) > environment.cache_bytes("cuda")
    rms_norm = functions()["torch"]
    measured = measure({"torch": rms_norm}, make, rounds=5, peaks=PEAKS)["torch"].time.median
    assert lesson_timer(rms_norm, copies) == pytest.approx(measured, rel=0.15)


def test_lesson_timer_excludes_launch_overhead(lesson_timer):
    copies = [[torch.randn(16, WIDTH, dtype=HALF, device="cuda"), torch.ones(WIDTH, dtype=HALF, device="cuda")]] * 50
    rms_norm = functions()["torch"]

    def from_idle_to_idle(x, weight):
        torch.cuda.synchronize()
        start = time.perf_counter()
        rms_norm(x, weight)
        torch.cuda.synchronize()
        return time.perf_counter() - start

    synchronized = statistics.median(from_idle_to_idle(*each) for each in copies)
    assert 0 < lesson_timer(rms_norm, copies) < 0.7 * synchronized


def test_peaks_of_a_gpu():
    peaks = measure_peaks("cuda", rounds=3)
    assert 1e11 < peaks.copy < 1e14
    assert 1e12 < peaks.matmul < 1e16


def test_records_on_a_gpu(tmp_path):
    sizes = ((HALF, 1024), (HALF, 4097))
    plan = Plan(torch.device("cuda"), sizes, 4096, 3, True, (512, 256), 600.0)
    record(plan, tmp_path / "a.csv", "command")
    recording = read(tmp_path / "a.csv")
    assert recording.left_out == []
    rows = [row for row in recording.rows if row.op != "matmul"]
    assert {row.implementation for row in rows} >= {"torch", "eager", "compiled", "fused"}
    assert all("around a graph" in row.what_was_timed for row in rows)
