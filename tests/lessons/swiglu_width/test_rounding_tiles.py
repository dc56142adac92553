import math
import re

import pytest

from blocklab.lessons.swiglu_width.rounding_tiles import FAINT, MOST, WIDEST, rounding_tiles


def drawn(figure):
    """Of the visible patches: how many squares, how many of them faint, and the frames as (start, width)."""
    patches = [patch for patch in figure.axes[0].patches if patch.get_visible()]
    squares = [patch for patch in patches if patch.get_width() < 1]
    frames = [(patch.get_x(), patch.get_width()) for patch in patches if patch.get_width() >= 1]
    return len(squares), sum(square.get_alpha() == FAINT for square in squares), frames


def test_every_position_is_the_next_multiple(figure):
    update = rounding_tiles(figure)
    for n in range(MOST + 1):
        for m in range(1, WIDEST + 1):
            tiles, width = map(int, re.findall(r"(\d+) × \d+ = (\d+)", update(n=n, m=m))[0])
            assert tiles == math.ceil(n / m)
            assert width == next(w for w in range(n, n + m) if w % m == 0)
            squares, faint, frames = drawn(figure)
            assert squares == n + m - 1
            assert faint == squares - width
            assert frames == [(i * m, m) for i in range(tiles)]


@pytest.mark.parametrize(("n", "tiles"), [(15, 3), (16, 4), (0, 0)])
def test_the_lesson_predicts_what_is_seen(figure, n, tiles):
    assert f"= {tiles}, left over" in rounding_tiles(figure)(n=n, m=5)
