"""How a matrix of numbers is shared out: what one program of a kernel takes, and how many programs there are.

A program takes a tile: ROWS rows of BLOCK columns, powers of two, with num_warps times 32 threads. Plain arithmetic
instead of a search at run time, so that a first call compiles one kernel and a test can compile them all without a GPU.
"""

import math

import torch
from torch import Tensor

SMALLEST = 2048  # numbers in a tile: below that, several rows share one
PER_THREAD = 16  # numbers: two 16-byte loads of bfloat16 under way, and still two float32 sums in registers


def as_rows(x: Tensor) -> Tensor:
    """x (rows, width) with the numbers of a row side by side. Rows may lie anywhere; other layouts are copied."""
    return x if x.stride(1) == 1 else x.contiguous()


def as_vector(parameter: Tensor | None) -> Tensor | None:
    """The parameter (width,) with its numbers side by side."""
    return None if parameter is None else parameter.contiguous()


def alignment(*rows: Tensor) -> int:
    """The power of two, 16 at most, that divides the width and how far apart the rows lie, in numbers.

    A thread loads 16 bytes at once only if the compiler can prove that every row starts and ends at a multiple of them.
    """
    return math.gcd(16, rows[0].shape[1], *(x.stride(0) for x in rows))


def tile(width: int, most: int) -> dict[str, int]:
    """The tile for rows of that width, as a kernel takes it, with so many columns at most."""
    block = min(1 << (width - 1).bit_length(), most)
    rows = max(1, SMALLEST // block)
    return {"ROWS": rows, "BLOCK": block, "num_warps": min(32, rows * block // PER_THREAD // 32)}


def loads_wide(x: Tensor, align: int) -> bool:
    """Whether 16 bytes can be loaded at once. Smaller loads take more registers."""
    return align * x.element_size() >= 16


def keeps_rows(x: Tensor, align: int) -> bool:
    """Whether a program on the way back can keep whole rows in registers."""
    return x.shape[1] <= (8192 if loads_wide(x, align) else 4096)


def few_programs(x: Tensor, tile: dict[str, int]) -> tuple[int, int]:
    """A grid of programs that each take many rows, by columns: as many as the GPU of x holds at once."""
    rows, width = x.shape
    columns = -(-width // tile["BLOCK"])
    return min(-(-rows // tile["ROWS"]), max(1, resident(x, tile) // columns)), columns


def resident(x: Tensor, tile: dict[str, int]) -> int:
    """How many programs the GPU of x holds at once if each multiprocessor takes 16 warps."""
    if x.device.type != "cuda":
        return 3  # in the interpreter: rows rarely divide by it, so that programs get unequal shares
    processors = torch.cuda.get_device_properties(x.device).multi_processor_count
    return processors * max(1, 16 // tile["num_warps"])
