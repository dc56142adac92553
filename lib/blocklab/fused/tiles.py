"""How a matrix is divided into tiles, one for each program of a kernel, and how many programs there are.

A tile has ROWS rows of BLOCK columns, powers of two, and num_warps times 32 threads. Its size is computed, not found by
autotuning, so that the first call compiles one kernel and a test can compile all of them without a GPU.
"""

import math

import torch
from torch import Tensor

SMALLEST = 2048  # elements of a tile: shorter rows share one
PER_THREAD = 16  # elements: two 16-byte loads of bfloat16 in flight, and room for two float32 sums in registers


def as_rows(x: Tensor) -> Tensor:
    """x (rows, width) with contiguous rows, at any distance from each other; other layouts are copied."""
    return x if x.stride(1) == 1 else x.contiguous()


def as_vector(parameter: Tensor | None) -> Tensor | None:
    """The parameter (width,), contiguous."""
    return None if parameter is None else parameter.contiguous()


def alignment(*rows: Tensor) -> int:
    """The largest power of two, at most 16, that divides the width and the row strides, in elements.

    A thread loads 16 bytes at once only if the compiler can prove that every row starts and ends at a multiple of them.
    """
    return math.gcd(16, rows[0].shape[1], *(x.stride(0) for x in rows))


def tile(width: int, most: int) -> dict[str, int]:
    """The tile for rows of that width, as keyword arguments of a kernel, with at most so many columns."""
    block = min(1 << (width - 1).bit_length(), most)
    rows = max(1, SMALLEST // block)
    return {"ROWS": rows, "BLOCK": block, "num_warps": min(32, rows * block // PER_THREAD // 32)}


def loads_wide(x: Tensor, align: int) -> bool:
    """Whether 16 bytes can be loaded at once. Smaller loads take more registers."""
    return align * x.element_size() >= 16


def keeps_rows(x: Tensor, align: int) -> bool:
    """Whether a program of the backward pass can keep whole rows in registers."""
    return x.shape[1] <= (8192 if loads_wide(x, align) else 4096)


def few_programs(x: Tensor, tile: dict[str, int]) -> tuple[int, int]:
    """A grid of as many programs as the GPU of x holds at once, each for many rows; second axis: blocks of columns."""
    rows, width = x.shape
    columns = -(-width // tile["BLOCK"])
    return min(-(-rows // tile["ROWS"]), max(1, resident(x, tile) // columns)), columns


def resident(x: Tensor, tile: dict[str, int]) -> int:
    """How many programs the GPU of x holds at once if each multiprocessor takes 16 warps."""
    if x.device.type != "cuda":
        return 3  # in the interpreter: rarely divides the rows, so that programs get different numbers of them
    processors = torch.cuda.get_device_properties(x.device).multi_processor_count
    return processors * max(1, 16 // tile["num_warps"])
