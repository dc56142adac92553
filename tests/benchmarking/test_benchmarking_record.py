"""The benchmark suite: only accurate implementations are timed, and recordings survive a round trip."""

import csv

import pytest
import torch

from blocklab_course.benchmarking import Peaks, Result, Timing, environment, measurement, read_recordings, suite
from blocklab_course.benchmarking.__main__ import main
from blocklab_course.benchmarking.accuracy import is_accurate, relative_errors
from blocklab_course.benchmarking.implementations import Operation, operations
from blocklab_course.benchmarking.products import PRODUCTS
from blocklab_course.benchmarking.recording import COLUMNS, FOLDER, PROVENANCE, Writer, read, rows_from_result
from blocklab_course.benchmarking.suite import HIDDEN, CannotRecord, Plan, make_plan, record

CPU = torch.device("cpu")
HEADER = dict.fromkeys(PROVENANCE, "known")
RMS_NORM = {"op": "rms_norm", "rows": 8, "dtype": "float32"}
TINY = Plan(CPU, ((torch.float32, 24), (torch.float32, 36)), 256, 2, False, (4, 3), 600.0)


@pytest.fixture
def hurry(monkeypatch):
    """A small cache, given peaks and no warm-up make every measurement fast."""
    monkeypatch.setattr(environment, "cache_bytes", lambda device: 4000)
    for module in (suite, measurement):
        monkeypatch.setattr(module, "measure_peaks", lambda *_, **__: Peaks(1e15, 1e15))
    real = suite.measure
    monkeypatch.setattr(suite, "measure", lambda *a, **k: real(*a, warm_up=0, **k))


def result(mark="", moved=10**6):
    def timing(name, seconds):
        ratios = [s / 1e-3 for s in seconds]
        return Timing(name, seconds, ratios, f"{name}: events, 3 calls", moved, None, mark)

    return Result(
        timings=[timing("torch", [1e-3] * 3), timing("fused", [5e-4, 4e-4, 6e-4])],
        noise=timing("torch again", [1.1e-3, 1e-3, 1e-3]),
        peaks=Peaks(4e9, 1e12),
        direction="backward",
        copies=2,
        input_bytes=10,
        clocks=(1980, None),
        provenance={},
    )


# Files


def test_recordings_survive_a_round_trip(tmp_path):
    with Writer(tmp_path / "b.csv", HEADER | {"device": "NVIDIA: H200"}) as writer:
        for row in rows_from_result(result(), {"torch": 0.002}, **RMS_NORM, width={"torch": 4, "fused": 5}):
            writer.row(row)
        writer.left_out("liger, rms_norm", "ImportError: no\nsuch package, it seems")
    Writer(tmp_path / "a.csv", HEADER).__exit__()
    first, second = read_recordings(tmp_path)
    assert first.rows == []
    assert second.provenance == HEADER | {"device": "NVIDIA: H200"}
    assert second.left_out == ["liger, rms_norm: ImportError: no such package, it seems"]
    torchs, fused = second.rows
    assert (fused.op, fused.role, fused.implementation, fused.direction) == ("rms_norm", None, "fused", "backward")
    assert fused.microseconds == pytest.approx((500, 440, 560))
    assert (fused.ratio, fused.compared_with, fused.noise_p80) == (0.5, "torch", 1.06)
    assert (fused.bytes, fused.GBs, fused.share_of_copy_roof) == (10**6, 2, 0.5)
    assert (fused.clock_before_MHz, fused.clock_after_MHz, fused.flops) == (1980, None, None)
    assert (torchs.width, fused.width, torchs.rows) == (4, 5, 8)
    assert (torchs.error, fused.error, fused.first_arm_error) == (0.002, None, 0.002)
    assert fused.what_was_timed == "fused: events, 3 calls"


@pytest.mark.parametrize("role", PRODUCTS)
def test_stores_the_role_of_a_matrix_product_in_op(tmp_path, role):
    with Writer(tmp_path / "a.csv", HEADER) as writer:
        for row in rows_from_result(result(), {}, op="matmul", role=role, rows=8, width=4, dtype="float32"):
            writer.row(row)
    [head, first, _] = (tmp_path / "a.csv").read_text("utf-8").splitlines()[len(PROVENANCE) :]
    assert head == ",".join(COLUMNS)
    assert first.startswith(f'"matmul, hidden is {role}: {PRODUCTS[role].formula}",torch,')
    assert {(row.op, row.role) for row in read_recordings(tmp_path)[0].rows} == {("matmul", role)}


def test_bundled_recording_survives_a_round_trip():
    [path] = FOLDER.glob("*.csv")
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("# ")]
    assert [row.texts() for row in read(path).rows] == list(csv.DictReader(lines))


def test_role_names_the_axis_of_the_hidden_width():
    for role, product in PRODUCTS.items():
        first, second = (torch.ones(shape) for shape in product.shapes(2, 3, 5))
        result = product.compute(first, second)
        axes = {"M": result.shape[0], "N": result.shape[1], "K": int(result[0, 0])}  # a sum of K ones
        assert {axis for axis, length in axes.items() if length == 5} == {role}


def test_marked_rows_have_no_bandwidth(tmp_path):
    with Writer(tmp_path / "a.csv", HEADER) as writer:
        for row in rows_from_result(result(mark="faster than a copy: cached"), {}, **RMS_NORM, width=4):
            writer.row(row)
    for row in read_recordings(tmp_path)[0].rows:
        assert row.mark == "faster than a copy: cached"
        assert row.GBs is row.share_of_copy_roof is None


@pytest.mark.parametrize("key", PROVENANCE)
def test_missing_provenance_is_an_error(tmp_path, key):
    with pytest.raises(ValueError, match=f"expected provenance with {key}$"):
        Writer(tmp_path / "a.csv", HEADER | {key: ""})
    assert not (tmp_path / "a.csv").exists()
    Writer(tmp_path / "a.csv", HEADER).__exit__()
    lines = (tmp_path / "a.csv").read_text("utf-8").splitlines()
    (tmp_path / "a.csv").write_text("\n".join(line for line in lines if not line.startswith(f"# {key}:")), "utf-8")
    with pytest.raises(ValueError, match=f"a.csv: expected header lines '# KEY: …' for {key}$"):
        read_recordings(tmp_path)


def test_unknown_columns_are_an_error(tmp_path):
    head = "\n".join(f"# {key}: known" for key in PROVENANCE)
    (tmp_path / "a.csv").write_text(f"{head}\nop,GB/s\n", "utf-8")
    with pytest.raises(ValueError, match=r"a.csv: expected columns op, implementation.* got \['op', 'GB/s'\]"):
        read_recordings(tmp_path)


# Accuracy


def test_relative_errors_by_hand():
    # 3 and 4 are off by one each: sqrt(2) of 5. The sum over rows, 7, is off by 2.
    inputs = [torch.tensor([[3.0], [4.0]])]
    assert relative_errors(lambda x: x + 1, lambda x: x, inputs) == [pytest.approx(2**0.5 / 5)]
    sums = relative_errors(lambda x: (x, x.sum(0) + 2), lambda x: (x, x.sum(0)), inputs)
    assert sums == [0, pytest.approx(2 / 7)]


def test_chunks_of_rows_do_not_change_the_error(monkeypatch, rng):
    operation = operations(CPU, compiled=False)[0]
    inputs = [torch.randn(shape, generator=rng).bfloat16() for shape in [(7, 5), (5,), (5,), (7, 5)]]
    eager = operation.implementations["eager"]
    whole = relative_errors(eager, operation.exact, inputs, "backward")
    monkeypatch.setattr("blocklab_course.benchmarking.accuracy.ROWS_PER_CHUNK", 3)
    assert relative_errors(eager, operation.exact, inputs, "backward") == pytest.approx(whole)
    assert 1e-4 < min(whole) < max(whole) < 0.02


@pytest.mark.parametrize(
    ("errors", "reference", "passes"),
    [
        ([0.014], [0.010], True),
        ([0.016], [0.010], False),
        ([0.001, 0.016], [0.010, 0.010], False),
        ([0.0029], [0.0], True),  # 1.5 times a quarter of bfloat16's eps, 1/128
        ([0.0030], [0.0], False),
        ([float("nan")], [1.0], False),
    ],
)
def test_accuracy_limit(errors, reference, passes):
    assert is_accurate(errors, reference, torch.bfloat16) == passes


def test_float32_limit_allows_another_order_of_summation():
    assert is_accurate([1.4e-6], [1e-7], torch.float32)
    assert not is_accurate([1.6e-6], [1e-7], torch.float32)


@pytest.mark.usefixtures("hurry")
def test_wrong_and_broken_implementations_are_not_timed(tmp_path, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("no number")

    right = operations(CPU, compiled=False)[1]
    functions = right.implementations | {"wrong": lambda x, weight: x * weight, "broken": broken}
    operation = Operation(right.name, right.shapes, right.exact, functions)
    alone = Operation(right.name, right.shapes, right.exact, {"broken": broken})
    monkeypatch.setattr(suite, "operations", lambda *_: [operation, alone])
    record(TINY, tmp_path / "a.csv", "command", say=lambda line: None)
    recording = read(tmp_path / "a.csv")
    timed = {row.implementation for row in recording.rows if row.op == "rms_norm"}
    assert timed == {"torch", "eager", "plain"}
    assert any(text.startswith("wrong, rms_norm forward (256, 24): relative error") for text in recording.left_out)
    assert "broken, rms_norm backward (256, 36): ZeroDivisionError: no number" in recording.left_out


def test_inputs_have_one_dtype():
    for operation in operations(CPU, compiled=False):
        tensors = operation.inputs(4, 6, torch.bfloat16, CPU, "backward")
        assert {tensor.dtype for tensor in tensors} == {torch.bfloat16}
        assert tensors[-1].shape == (4, 6)
        assert len(tensors) == 1 + len(operation.inputs(4, 6, torch.bfloat16, CPU, "forward"))
        assert all(tensor.std() > 0 for tensor in tensors)


def test_liger_gets_clones_in_the_backward_pass():
    def overwrite(x, weight):
        return x.mul_(weight)

    operation = Operation("rms_norm", None, None, {"liger": overwrite})
    x, weight = torch.ones(2), torch.full((2,), 3.0)
    assert operation.for_direction("backward")["liger"](x, weight).tolist() == [3, 3]
    assert x.tolist() == [1, 1]
    assert operation.for_direction("forward")["liger"] is overwrite


# The suite and its command


@pytest.mark.usefixtures("hurry")
def test_records_every_implementation_of_every_case(tmp_path):
    lines = []
    record(TINY, tmp_path / "a.csv", "python -m blocklab_course.benchmarking record", lines.append)
    recording = read(tmp_path / "a.csv")
    assert recording.left_out == []
    assert recording.provenance["torch"] == torch.__version__
    assert recording.provenance["command"] == "python -m blocklab_course.benchmarking record"
    products = {(row.role, row.width) for row in recording.rows if row.op == "matmul"}
    assert len(products) == 3 * len(HIDDEN)
    counts = {"layer_norm": 3, "rms_norm": 3, "swiglu": 2}
    cases = [(row.op, row.direction, row.width) for row in recording.rows]
    for op, count in counts.items():
        for direction in ("forward", "backward"):
            for width in (24, 36):
                assert cases.count((op, direction, width)) == count
    for row in recording.rows:
        assert row.median_us > 0
        assert (row.rows, row.dtype) == (4 if row.op == "matmul" else 256, "float32")
        assert (row.bytes is None) == (row.flops is not None) == (row.role is not None)
        assert row.what_was_timed.startswith("Timer.timeit")
    product = next(row for row in recording.rows if row.width == 10923)
    assert product.flops == 2 * 4 * 3 * 10923
    assert product.compared_with == "11008"
    assert len(lines) == 1 + len(recording.rows)
    assert lines[1].startswith("matmul, hidden is N: h = x @ w1.T forward 4 x 11008 float32      torch    ")


@pytest.mark.usefixtures("hurry")
def test_time_limit_names_what_was_left_out(tmp_path):
    over = Plan(*[getattr(TINY, name) for name in list(TINY.__dataclass_fields__)[:-1]], seconds=-1.0)
    record(over, tmp_path / "a.csv", "command", say=lambda line: None)
    recording = read(tmp_path / "a.csv")
    assert recording.rows == []
    assert len(recording.left_out) == 3 + 2 * 3 * 2
    assert "swiglu backward 36 float32: time limit of -0.0166667 minutes reached" in recording.left_out


@pytest.mark.usefixtures("hurry")
def test_failed_measurements_are_left_out(tmp_path, monkeypatch):
    real = suite.measure

    def fail(functions, inputs, direction="forward", **options):
        if direction == "backward":
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(functions, inputs, direction, **options)

    monkeypatch.setattr(suite, "measure", fail)
    record(TINY, tmp_path / "a.csv", "command", say=lambda line: None)
    recording = read(tmp_path / "a.csv")
    assert "rms_norm backward 24 float32: OutOfMemoryError: CUDA out of memory" in recording.left_out
    assert {row.direction for row in recording.rows} == {"forward"}


def test_plans_for_gpu_cpu_and_quick_runs(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    whole, quick = make_plan(), make_plan(quick=True)
    widths = {1024, 2048, 4096, 8192, 16384, 32768, 65536, 4097, 4100, 4104}
    assert set(whole.sizes) == {(torch.bfloat16, width) for width in widths} | {(torch.float32, 4096)}
    assert set(quick.sizes) < set(whole.sizes)
    assert (whole.device.type, whole.compiled) == ("cuda", True)
    assert whole.sizes[:2] == ((torch.bfloat16, 4096), (torch.float32, 4096))
    assert make_plan(cpu=True).device == CPU
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    assert {dtype for dtype, _ in make_plan().sizes} == {torch.float16, torch.float32}
    assert set(HIDDEN) == {10912, 10920, 10922, 10923, 10924, 10944, 11008}


def test_command_fails_without_a_gpu(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(CannotRecord, match="no CUDA device found"):
        make_plan()
    assert main(["record", "--out", str(tmp_path / "a.csv")]) == 1
    assert "error: record: no CUDA device found" in capsys.readouterr().err
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.usefixtures("hurry")
def test_command_records_and_does_not_overwrite(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("blocklab_course.benchmarking.__main__.make_plan", lambda cpu, quick, minutes: TINY)
    path = tmp_path / "a.csv"
    assert main(["record", "--cpu", "--quick", "--out", str(path)]) == 0
    assert read(path).provenance["command"] == "python -m blocklab_course.benchmarking record --quick --cpu --minutes 8"
    assert "rms_norm forward 256 x 36" in capsys.readouterr().out
    written = path.read_bytes()
    assert main(["record", "--cpu", "--out", str(path)]) == 1
    assert "a.csv" in capsys.readouterr().err
    assert path.read_bytes() == written
