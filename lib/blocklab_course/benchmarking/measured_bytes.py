"""Measured times in the unit of their prediction: how many bytes per number the device copies in the same time.

A memory-bound kernel at peak bandwidth takes exactly the bytes that it has to move; a slower one takes more.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch

from blocklab_course.benchmarking.calls import DIRECTIONS
from blocklab_course.benchmarking.environment import describe
from blocklab_course.benchmarking.implementations import operations
from blocklab_course.benchmarking.measurement import Spread, measure
from blocklab_course.benchmarking.recording import Recording, TimedRow, read_recordings

WIDTH = 4096


class Key(NamedTuple):
    """What was timed."""

    op: str
    implementation: str
    direction: str
    dtype: str
    width: int = WIDTH


@dataclass(frozen=True)
class Measured:
    """Bytes per number, and the provenance of the measurement as from `environment.describe`."""

    provenance: Mapping[str, str]
    bytes: Mapping[Key, Spread]


def shipped_recording() -> Recording:
    """The first GPU recording that comes with the package, or else a CPU recording."""
    return min(read_recordings(), key=lambda each: each.provenance["cuda"] == "none")


def from_recording(recording: Recording) -> Measured:
    """All rows that have bytes, without marked ones, which didn't measure memory."""
    return Measured(
        recording.provenance,
        {
            Key(row.op, row.implementation, row.direction, row.dtype, row.width): Spread(
                *(time * _copied_per_microsecond(row) for time in row.microseconds)
            )
            for row in recording.rows
            if row.bytes is not None and not row.mark
        },
    )


def _copied_per_microsecond(row: TimedRow) -> float:
    """Bytes per number of the matrix, at the bandwidth of the copy timed beside this row."""
    return 1e3 * row.GBs / row.share_of_copy_roof / (row.rows * row.width)


def measure_here(
    device: str = "cuda", rows: int = 8192, width: int = WIDTH, rounds: int = 10, dtype: torch.dtype = torch.bfloat16
) -> Measured:
    """Time all operations on this machine, forward and backward, without torch.compile, which takes long."""
    on = torch.device(device)
    found = {}
    for operation in operations(on, compiled=False):
        for direction in DIRECTIONS:
            inputs = functools.partial(operation.inputs, rows, width, dtype, on, direction)
            result = measure(operation.for_direction(direction), inputs, direction, rounds=rounds)
            for timing in result.timings:
                key = Key(operation.name, timing.name, direction, str(dtype).removeprefix("torch."), width)
                found[key] = Spread(*(seconds * result.peaks.copy / (rows * width) for seconds in timing.time))
    return Measured(describe(on), found)
