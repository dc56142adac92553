import numpy as np
import pytest
from matplotlib.colors import to_hex

from blocklab_course.lessons.norm_axes.broadcasting import COLUMNS, ROWS, TABLES, broadcasting
from blocklab_course.panel.palette import MOVED, PAPER, STILL

CELLS = ROWS * COLUMNS


def tables(figure):
    """The three tables as they are seen: for each its numbers and its colours, row by row."""
    [axes] = figure.axes
    found = []
    for grid in range(3):
        cells = axes.patches[grid * CELLS : (grid + 1) * CELLS]
        seen = [cell for cell in cells if cell.get_visible()]
        inside = {cell: next((t for t in axes.texts if holds(cell, t)), None) for cell in seen}
        found.append(
            (
                [float(text.get_text().replace("−", "-")) for text in inside.values()],
                [to_hex(cell.get_facecolor()) for cell in seen],
            )
        )
    return found


def holds(cell, text):
    x, y = text.get_position()
    left, bottom = cell.get_xy()
    return text.get_visible() and 0 < x - left < 1 and 0 < y - bottom < 1


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_picture_shows_what_torch_subtracts(figure, axis, keepdim):
    broadcasting(figure)(table="square", axis=axis, keepdim=keepdim)
    square = TABLES["square"]
    mean = square.mean(axis, keepdim=keepdim)
    (whole, _), (aligned, _), (result, _) = tables(figure)
    assert whole == square.flatten().tolist()
    assert aligned == mean.expand(3, 3).flatten().tolist()
    assert result == (square - mean).flatten().tolist()


@pytest.mark.parametrize(("keepdim", "own"), [(False, [[1, 1, 1], [0, 0, 0], [0, 0, 0]]), (True, [[1, 0, 0]] * 3)])
def test_copies_are_pale(figure, keepdim, own):
    broadcasting(figure)(table="square", axis=1, keepdim=keepdim)
    assert tables(figure)[1][1] == [STILL if each else PAPER for each in np.ravel(own)]


def test_row_means_without_keepdim_go_wrong_in_silence(figure):
    line = broadcasting(figure)(table="square", axis=1, keepdim=False)
    assert line == "square - square.mean(1): the means have the shape (3,). 6 of 9 results are wrong."
    numbers, colours = tables(figure)[2]
    assert [colour == MOVED for colour in colours] == [number != 0 for number in numbers]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("axis", [0, 1])
def test_nothing_is_wrong_with_keepdim(figure, table, axis):
    line = broadcasting(figure)(table=table, axis=axis, keepdim=True)
    assert f"0 of {TABLES[table].numel()} results are wrong" in line
    assert MOVED not in tables(figure)[2][1]


def test_means_that_do_not_fit_are_refused(figure):
    update = broadcasting(figure)
    line = update(table="x", axis=1, keepdim=False)
    assert line.startswith("x - x.mean(1): shapes (2, 4) and (2,). torch refuses: “The size of tensor a (4)")
    assert tables(figure)[2] == ([], [])
    [error] = [text for text in figure.axes[0].texts if text.get_text() == "error: no output"]
    assert error.get_visible()
    update(table="x", axis=0, keepdim=False)
    assert not error.get_visible()
