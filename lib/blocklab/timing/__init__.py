"""An honest stopwatch for what the lessons build, the bytes that ought to pass, and recordings made with both.

`measure` times, `bytes_moved` and `tiles_and_waves` predict, `lies` shows what goes wrong, `read_recordings` what was
measured elsewhere. `python -m blocklab.timing record` measures everything of lesson 14 on this machine.
"""

from blocklab.timing.byte_table import bytes_moved, bytes_per_number, traffic
from blocklab.timing.calls import prepare
from blocklab.timing.lies import (
    Lie,
    cache_resident,
    mean_for_median,
    no_synchronize,
    no_warm_up,
    zeros_for_numbers,
)
from blocklab.timing.measurement import Result, Roofs, Timing, measure, measure_roofs
from blocklab.timing.recording import Recording, read_recordings
from blocklab.timing.tiles import Waves, load_bits, tiles_and_waves

__all__ = [
    "Lie",
    "Recording",
    "Result",
    "Roofs",
    "Timing",
    "Waves",
    "bytes_moved",
    "bytes_per_number",
    "cache_resident",
    "load_bits",
    "mean_for_median",
    "measure",
    "measure_roofs",
    "no_synchronize",
    "no_warm_up",
    "prepare",
    "read_recordings",
    "tiles_and_waves",
    "traffic",
    "zeros_for_numbers",
]
