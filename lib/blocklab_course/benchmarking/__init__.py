"""Fair timing, predictions of memory traffic, and recordings of both.

`measure` times functions, `bytes_moved` and `tiles_and_waves` predict, `read_recordings` reads what other machines
measured. `python -m blocklab_course.benchmarking record` measures everything in lesson 14 on this machine.
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
