import re

import pytest
import torch

from blocklab.pictures.guess_then_bytes import DTYPES, GUESSES, guess_then_bytes
from blocklab.timing import recordings
from blocklab.timing.measured_bytes import Measured, from_recording, measured_here, recorded
from blocklab.timing.recording import COLUMNS, PROVENANCE, Recording

# Reads and writes of a matrix, counted by hand from the formulas: (LayerNorm, RMSNorm), each (reads, writes).
PASSES = {
    ("eager_", "forward"): ((6, 4), (4, 3)),
    ("", "forward"): ((1, 1), (1, 1)),
    ("", "backward"): ((2, 1), (2, 1)),
}


def shown(figure, hatched, row):
    """The widths of the visible blocks of one norm: row 2 is LayerNorm, 0 RMSNorm."""
    [axes] = figure.axes
    blocks = [patch for patch in axes.patches if patch.get_visible() and bool(patch.get_hatch()) == hatched]
    return [block.get_width() for block in blocks if abs(block.get_y() + block.get_height() / 2 - row) < 0.1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("way", "direction"), PASSES)
def test_every_read_and_write_is_a_block(figure, way, direction, dtype):
    guess_then_bytes()(figure)(guess=None, way=way, direction=direction, dtype=dtype)
    for row, (reads, writes) in zip((2, 0), PASSES[way, direction], strict=True):
        size = DTYPES[dtype].itemsize
        assert shown(figure, False, row) == [size] * reads
        assert shown(figure, True, row) == [size] * writes


@pytest.mark.parametrize("way", ["eager_", ""])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_lie_end_to_end_inside_the_axes(figure, way, direction, dtype):
    line = guess_then_bytes()(figure)(guess=None, way=way, direction=direction, dtype=dtype)
    [axes] = figure.axes
    counts = map(int, re.findall(r"LayerNorm (\d+) bytes a number, RMSNorm (\d+)", line)[0])
    for row, count in zip((2, 0), counts, strict=True):
        blocks = [p for p in axes.patches if p.get_visible() and abs(p.get_y() + p.get_height() / 2 - row) < 0.1]
        ends = sorted((block.get_x(), block.get_x() + block.get_width()) for block in blocks)
        assert [end for _, end in ends[:-1]] == [start for start, _ in ends[1:]]
        assert (ends[0][0], ends[-1][1]) == (0, count)
        assert count < 0.95 * axes.get_xlim()[1]


def test_the_lesson_predicts_what_is_seen(figure):
    update = guess_then_bytes()(figure)
    guess = list(GUESSES)[2]
    steps = update(guess=None, way="eager_", direction="forward", dtype="bfloat16")
    assert "LayerNorm 20 bytes a number, RMSNorm 14" in steps
    assert "1.43 times as fast. Nothing here is measured." in steps
    kernel = update(guess=guess, way="", direction="forward", dtype="bfloat16")
    assert "LayerNorm 4 bytes a number, RMSNorm 4" in kernel
    assert kernel.endswith(f"You said: {guess}.")
    assert "LayerNorm 68 bytes a number, RMSNorm 58" in update(None, "eager_", "backward", "bfloat16")
    assert "LayerNorm 6 bytes a number, RMSNorm 6" in update(None, "", "backward", "bfloat16")
    assert "LayerNorm 40 bytes a number, RMSNorm 28" in update(None, "eager_", "forward", "float32")


def marks(figure):
    [axes] = figure.axes
    return {
        (line.get_marker(), round(line.get_xdata()[0], 6))
        for line in axes.lines
        if line.get_visible() and line.get_marker() in ("D", "o")
    }


def test_measured_times_are_marks(figure):
    times = Measured("A", {("layer_norm", "torch", "forward", "bfloat16"): 6.0})
    mine = Measured("B", {("rms_norm", "fused", "forward", "bfloat16"): 4.5, ("rms_norm", "eager", "forward", "x"): 1})
    update = guess_then_bytes(times, mine)(figure)
    assert "Diamonds: measured on A. Circles: your B." in update(None, "", "forward", "bfloat16")
    assert marks(figure) == {("D", 6.0), ("o", 4.5)}
    update(None, "", "forward", "float32")
    assert marks(figure) == set()
    update(None, "eager_", "forward", "bfloat16")
    assert marks(figure) == set()


def row(**values):
    return dict.fromkeys(COLUMNS, None) | {
        "op": "rms_norm",
        "implementation": "fused",
        "direction": "forward",
        "dtype": "bfloat16",
        "rows": 1000,
        "width": 4096,
        "median_us": 8.192,
        "mark": "",
        **values,
    }


def test_a_time_becomes_the_bytes_that_a_copy_moves_in_it():
    # 2000 GB/s for 8.192 µs are 16384000 bytes, 4 for each of 1000 · 4096 numbers
    provenance = dict.fromkeys(PROVENANCE, "x") | {"device": "made up", "copy_roof_GBs": "2000"}
    rows = [row(), row(width=1024), row(op="swiglu"), row(implementation="torch", mark="inputs fit in the cache")]
    found = from_recording(Recording(provenance, [], rows))
    assert found.device == "made up"
    assert found.bytes == {("rms_norm", "fused", "forward", "bfloat16"): pytest.approx(4.0)}


def test_only_recordings_of_a_gpu_are_shown():
    on_gpus = [recording for recording in recordings() if recording.provenance["cuda"] != "none"]
    assert (recorded() is None) == (not on_gpus)


def test_this_machine_is_measured_in_the_same_unit():
    found = measured_here("cpu", rows=16, width=64, rounds=2, dtype=torch.float32)
    assert set(found.bytes) >= {
        (op, arm, direction, "float32")
        for op in ("layer_norm", "rms_norm")
        for arm in ("torch", "eager")
        for direction in ("forward", "backward")
    }
    assert all(value > 0 for value in found.bytes.values())
