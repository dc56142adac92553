"""What a width costs on a GPU, by tile quantization and by the alignment of its rows."""

import math
from typing import NamedTuple

import torch

from blocklab._validation import check_integer

WIDEST_LOAD = 128  # bits that a GPU thread loads at once


class TileQuantization(NamedTuple):
    """Tiles of a matrix, waves in which a GPU computes them, and the share of computed elements that is useful."""

    tiles: int
    waves: int
    share: float


def tiles_and_waves(
    rows: int, width: int, tile: tuple[int, int] = (128, 256), processors: int = 132
) -> TileQuantization:
    """How well a result of shape (rows, width) fills a GPU that computes one tile per multiprocessor at a time.

        tiles = ceil(rows / 128) * ceil(width / 256),   waves = ceil(tiles / 132),
        share = rows * width / (waves * 132 * 128 * 256)

    Partial tiles at the edges and idle processors in the last wave are lost. H100 and H200 (SXM) have 132 processors.

    Raises ValueError for values below 1, TypeError for values that are no integers.
    """
    high, wide = tile
    for name, value in {"rows": rows, "width": width, "tile": min(tile), "processors": processors}.items():
        check_integer("tiles_and_waves", name, value, 1)
    tiles = math.ceil(rows / high) * math.ceil(width / wide)
    waves = math.ceil(tiles / processors)
    return TileQuantization(tiles, waves, rows * width / (waves * processors * high * wide))


def load_bits(width: int, dtype: torch.dtype) -> int:
    """The widest load, up to 128 bits, that is aligned in every row of a matrix of shape (*, width).

    128 for 10920 in bfloat16, 64 for 10924, 32 for 10922, 16 for 10923.

    Raises ValueError for a width below 1, TypeError if it is no integer.
    """
    check_integer("load_bits", "width", width, 1)
    return math.gcd(8 * dtype.itemsize * width, WIDEST_LOAD)
