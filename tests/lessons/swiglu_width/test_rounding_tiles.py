import math

import pytest

from blocklab_course.lessons.swiglu_width.rounding_tiles import FAINT, NUMBERS, TILE, rounding_tiles


def rows(figure):
    """By n: the patches of its row, from the left: squares, then frames."""
    found = {}
    for patch in figure.axes[0].patches:
        is_frame = patch.get_width() == TILE
        low = patch.get_y() + (0.1 if is_frame else 0)
        found.setdefault(round(low, 6), ([], []))[is_frame].append(patch)
    return dict(zip(NUMBERS, found.values(), strict=True))


def test_every_row_is_cut_into_the_tiles_that_n_needs(figure):
    line = rounding_tiles(figure)()
    for n, (squares, frames) in rows(figure).items():
        assert len(frames) == math.ceil(n / TILE)
        assert [frame.get_x() for frame in frames] == [TILE * tile for tile in range(len(frames))]
        assert len(squares) == n + TILE - 1
        assert sum(square.get_hatch() is None for square in squares) == n
        assert sum(square.get_alpha() == FAINT for square in squares) == len(squares) - TILE * len(frames)
    assert line.endswith("15 squares make 3 whole tiles, 16 to 19 make 4.")


def test_there_is_a_row_for_every_remainder(figure):
    rounding_tiles(figure)
    assert [n % TILE for n in NUMBERS] == list(range(TILE))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [f"n = {n}" for n in NUMBERS]
    counted = [text.get_text() for text in figure.axes[0].texts]
    assert counted == [f"whole tiles: {math.ceil(n / TILE)}, left over: {(n - 1) % TILE}" for n in NUMBERS]


@pytest.mark.parametrize("n", NUMBERS)
def test_nothing_lies_beyond_the_picture(figure, n):
    rounding_tiles(figure)
    (left, right), (bottom, top) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    for part in (0, 1):
        for patch in rows(figure)[n][part]:
            assert left < patch.get_x() + 1e-9
            assert patch.get_x() + patch.get_width() < right
            assert bottom <= patch.get_y()
            assert patch.get_y() + patch.get_height() <= top
