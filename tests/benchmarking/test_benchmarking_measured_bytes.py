"""Measured times as bytes: what the device copies in the same time."""

from dataclasses import replace

import pytest
import torch

from blocklab_course.benchmarking import Peaks, measured_bytes, measurement, read_recordings
from blocklab_course.benchmarking.measured_bytes import Key, from_recording, measure_here, shipped_recording
from blocklab_course.benchmarking.recording import PROVENANCE, Recording, TimedRow

HEADER = dict.fromkeys(PROVENANCE, "x") | {"device": "made up"}


ROW = TimedRow(
    op="rms_norm",
    implementation="fused",
    direction="forward",
    rows=1000,
    width=4096,
    dtype="bfloat16",
    median_us=8.192,
    p20_us=6.144,
    p80_us=12.288,
    compared_with="torch",
    ratio=1.0,
    ratio_p20=1.0,
    ratio_p80=1.0,
    noise_p20=1.0,
    noise_p80=1.0,
    bytes=16384000,
    GBs=1000.0,
    share_of_copy_roof=0.5,
)


def test_converts_a_time_to_bytes_copied_in_it():
    # 2000 GB/s for 8.192 µs are 16384000 bytes, 4 for each of 1000 · 4096 numbers
    rows = [
        ROW,
        replace(ROW, width=1024, dtype="float32"),
        replace(ROW, op="matmul", role="K", bytes=None),
        replace(ROW, implementation="torch", mark="inputs fit in the cache"),
    ]
    found = from_recording(Recording(HEADER, [], rows))
    assert found.provenance["device"] == "made up"
    assert set(found.bytes) == {
        Key("rms_norm", "fused", "forward", "bfloat16", 4096),
        Key("rms_norm", "fused", "forward", "float32", 1024),
    }
    spread = found.bytes[Key("rms_norm", "fused", "forward", "bfloat16")]
    assert (spread.p20, spread.median, spread.p80) == pytest.approx((3.0, 4.0, 6.0))


def test_prefers_a_gpu_recording(monkeypatch):
    cpu, gpu = (Recording(HEADER | {"cuda": cuda}, [], []) for cuda in ("none", "13.0"))
    for found, first in (([cpu], cpu), ([cpu, gpu], gpu), ([gpu, cpu], gpu)):
        monkeypatch.setattr(measured_bytes, "read_recordings", lambda found=found: found)
        assert shipped_recording() is first


def test_bundled_recording_is_complete():
    assert shipped_recording() in read_recordings()
    assert {key.implementation for key in from_recording(shipped_recording()).bytes} >= {"torch", "eager", "compiled"}
    assert {row.mark for row in shipped_recording().rows} == {""}
    assert shipped_recording().left_out == []


def test_measures_this_machine_in_the_same_unit(monkeypatch):
    # a copy of four times a large cache takes longer than all the rest; the peaks have their own tests
    monkeypatch.setattr(measurement, "measure_peaks", lambda device, threads: Peaks(1e10, 1e12))
    found = measure_here("cpu", rows=16, width=64, rounds=2, dtype=torch.float32)
    wanted = {"layer_norm": ("torch", "eager"), "rms_norm": ("torch", "eager"), "swiglu": ("eager",)}
    assert set(found.bytes) >= {
        Key(op, name, direction, "float32", 64)
        for op, names in wanted.items()
        for name in names
        for direction in ("forward", "backward")
    }
    assert all(0 < low <= middle <= high for middle, low, high in found.bytes.values())
