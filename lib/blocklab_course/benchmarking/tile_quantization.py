"""Two rules of arithmetic that say what a width costs, before it is timed."""

import math
from typing import NamedTuple

import torch

from blocklab._validation import check_integer

WIDEST_LOAD = 128  # bits that one thread of a GPU loads at once


class TileQuantization(NamedTuple):
    """Tiles of a matrix, the rounds in which a GPU works them off, and the share of its places that did useful work."""

    tiles: int
    waves: int
    share: float


def tiles_and_waves(
    rows: int, width: int, tile: tuple[int, int] = (128, 256), processors: int = 132
) -> TileQuantization:
    """How well a result (rows, width) fills a GPU that computes one tile per processor at a time.

        tiles = ceil(rows / 128) * ceil(width / 256),   waves = ceil(tiles / 132),
        share = rows * width / (waves * 132 * 128 * 256)

    Lost is what hangs over at the edges, and what stands idle in the last wave. 132 processors: H100 and H200 (SXM).

    Raises ValueError for anything below 1, TypeError for anything but integers.
    """
    high, wide = tile
    for name, value in {"rows": rows, "width": width, "tile": min(tile), "processors": processors}.items():
        check_integer("tiles_and_waves", name, value, 1)
    tiles = math.ceil(rows / high) * math.ceil(width / wide)
    waves = math.ceil(tiles / processors)
    return TileQuantization(tiles, waves, rows * width / (waves * processors * high * wide))


def load_bits(width: int, dtype: torch.dtype) -> int:
    """The widest load, 128 bits at most, that starts at a multiple of itself in every row of a matrix (*, width).

    128 for 10920 in bfloat16, 64 for 10924, 32 for 10922, 16 for 10923.

    Raises ValueError for a width below 1, TypeError for anything but an integer.
    """
    check_integer("load_bits", "width", width, 1)
    return math.gcd(8 * dtype.itemsize * width, WIDEST_LOAD)
