"""Measured times in the unit of their prediction: the bytes a number that the device copies in the same time.

A kernel at the memory roof takes exactly what it has to move; one that wastes time takes more.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from blocklab.timing.arms import operations
from blocklab.timing.calls import DIRECTIONS
from blocklab.timing.machine import describe
from blocklab.timing.measurement import measure, measure_roofs
from blocklab.timing.recording import Recording, recordings

WIDTH = 4096
NORMS = ("layer_norm", "rms_norm")


@dataclass(frozen=True)
class Measured:
    """A device, and bytes a number by (operation, arm, direction, dtype)."""

    device: str
    bytes: Mapping[tuple[str, str, str, str], float]


def recorded() -> Measured | None:
    """The first recording of a GPU that comes with the package, None where there is none."""
    found = [recording for recording in recordings() if recording.provenance["cuda"] != "none"]
    return from_recording(found[0]) if found else None


def from_recording(recording: Recording) -> Measured:
    """The rows of both norms at WIDTH. Marked ones are left out: they did not measure memory."""
    copy = float(recording.provenance["copy_roof_GBs"]) * 1e9
    return Measured(
        recording.provenance["device"],
        {
            (row["op"], row["implementation"], row["direction"], row["dtype"]): (
                row["median_us"] * 1e-6 * copy / (row["rows"] * row["width"])
            )
            for row in recording.rows
            if row["op"] in NORMS and row["width"] == WIDTH and not row["mark"]
        },
    )


def measured_here(
    device: str = "cuda", rows: int = 32768, width: int = WIDTH, rounds: int = 10, dtype: torch.dtype = torch.bfloat16
) -> Measured:
    """Time both norms on this machine, forward and backward, step by step, torch's and ours."""
    on = torch.device(device)
    roofs = measure_roofs(on, rounds)
    found = {}
    for operation in operations(on, compiled=False):
        for direction in DIRECTIONS if operation.name in NORMS else ():
            inputs = functools.partial(operation.inputs, rows, width, dtype, on, direction)
            result = measure(operation.ready(direction), inputs, direction, rounds=rounds, roofs=roofs)
            for timing in result.timings:
                key = (operation.name, timing.name, direction, str(dtype).removeprefix("torch."))
                found[key] = timing.time.median * roofs.copy / (rows * width)
    return Measured(describe(on)["device"], found)
