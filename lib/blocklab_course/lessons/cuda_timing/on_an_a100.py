"""What the authors of Liger timed on an A100, beside what bytes foretell.

https://github.com/linkedin/Liger-Kernel/blob/main/benchmark/data/all_benchmark_data.csv, version 0.2.1, NVIDIA
A100-SXM4-80GB, forward, medians in µs. RMSNorm has 2048 rows in bfloat16, LayerNorm 4096 rows in float32.
"""

import torch

from blocklab_course.benchmarking import bytes_per_number
from blocklab_course.i18n import Text

RMS_NORM = {1024: 13.6, 2048: 20.0, 4096: 31.1, 8192: 51.7, 16384: 95.3, 32768: 182.2}
LAYER_NORM = {1024: 30.3, 2048: 49.9, 4096: 88.2, 8192: 165.2, 16384: 322.3}
LLAMA = {1024: 78.2, 2048: 136.3, 4096: 279.9, 8192: 519.0, 16384: 985.6, 32768: 1919.1}
"""Times by width: both norms in one kernel, and RMSNorm step by step, as in the first Llama."""

TIMED = {"rms_norm": (2048, torch.bfloat16), "layer_norm": (4096, torch.float32)}
"""The rows of the matrix and the type of its numbers."""

FUSING = Text(
    en="width {:5}: step by step {:6.1f} µs, one kernel {:5.1f} µs: {:4.1f} times as fast",
    zh="宽度 {:5}：一步一步 {:6.1f} µs，一个核函数 {:5.1f} µs，速度是前者的 {:4.1f} 倍",
)
SPEEDS = Text(
    en="bytes moved a second at width {}: step by step {:.2f} · 10¹², one kernel {:.2f} · 10¹²",
    zh="宽度 {} 时每秒传的字节数：一步一步 {:.2f} · 10¹²，一个核函数 {:.2f} · 10¹²",
)
BOTH = Text(
    en="{:3.0f} MB: LayerNorm {:5.1f} µs, RMSNorm {:5.1f} µs",
    zh="{:3.0f} MB：层归一化 {:5.1f} µs，RMSNorm {:5.1f} µs",
)


def show_fusing() -> None:
    """Print RMSNorm's times step by step and in one kernel, and how many bytes a second each moves at the end."""
    for width, slow in LLAMA.items():
        print(FUSING.format(width, slow, RMS_NORM[width], slow / RMS_NORM[width]))
    ways = ((LLAMA, "llama"), (RMS_NORM, "fused"))
    print(SPEEDS.format(width, *(megabytes("rms_norm", width, way) / times[width] for times, way in ways)))


def show_mean() -> None:
    """Print the times of both norms, each in one kernel, for matrices that have the same bytes."""
    rms_norms = {megabytes("rms_norm", width): time for width, time in RMS_NORM.items()}
    for width, time in LAYER_NORM.items():
        if (moved := megabytes("layer_norm", width)) in rms_norms:
            print(BOTH.format(moved, time, rms_norms[moved]))


def megabytes(op: str, width: int, way: str = "fused") -> float:
    """What a norm moves of its matrix."""
    rows, dtype = TIMED[op]
    return rows * width * bytes_per_number(op, dtype, variant=way) / 1e6
