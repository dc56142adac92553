"""An honest stopwatch for what the lessons build, the bytes that ought to pass, and recordings made with both.

`measure` times, `bytes_moved` and `tiles_and_waves` predict, `lies` shows what goes wrong, `read_recordings` what was
measured elsewhere. `python -m blocklab_course.benchmarking record` measures everything of lesson 14 on this machine.
"""

from blocklab_course.benchmarking.calls import prepare
from blocklab_course.benchmarking.measurement import Peaks, Result, Timing, measure, measure_peaks
from blocklab_course.benchmarking.memory_traffic import bytes_moved, bytes_per_number, traffic
from blocklab_course.benchmarking.recording import Recording, read_recordings
from blocklab_course.benchmarking.tile_quantization import TileQuantization, load_bits, tiles_and_waves

__all__ = [
    "Peaks",
    "Recording",
    "Result",
    "TileQuantization",
    "Timing",
    "bytes_moved",
    "bytes_per_number",
    "load_bits",
    "measure",
    "measure_peaks",
    "prepare",
    "read_recordings",
    "tiles_and_waves",
    "traffic",
]
