import math

import numpy as np
import pytest

from blocklab_course.lessons.positional_encoding.position_table import position_table, steady_columns

START = {"length": 50, "d_model": 128, "base": 10000.0, "row": 20, "column": 24, "apart": False}


def number(k, column, d_model, base):
    """One entry of the paper's table, in Python floats."""
    wave = math.cos if column % 2 else math.sin
    return wave(k / base ** (2 * (column // 2) / d_model))


def shown(figure):
    """The heat map, the column's curve, and the row's dots by column."""
    heat, beside, below = figure.axes[:3]
    row = {}
    for dots in below.lines[:2]:
        row |= dict(zip(dots.get_xdata().tolist(), dots.get_ydata().tolist(), strict=True))
    return np.asarray(heat.images[0].get_array()), beside.lines[0].get_xdata().tolist(), row


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("base", [1.0, 100.0, 10000.0])
def test_every_number_is_that_of_the_paper(figure, apart, base):
    position_table(figure)(length=10, d_model=16, base=base, row=7, column=3, apart=apart)
    table, column, row = shown(figure)
    columns = [*range(0, 16, 2), *range(1, 16, 2)] if apart else range(16)
    by_hand = np.array([[number(k, j, 16, base) for j in columns] for k in range(10)])
    assert table == pytest.approx(by_hand, abs=1e-12)
    assert column == pytest.approx(by_hand[:, 3])
    assert [row[j] for j in range(16)] == pytest.approx(by_hand[7])


@pytest.mark.parametrize(("length", "d_model", "count"), [(50, 512, 208), (200, 512, 130), (50, 128, 51)])
def test_steady_columns_are_counted(figure, length, d_model, count):
    line = position_table(figure)(**START | {"length": length, "d_model": d_model})
    assert f"In {count} of the {d_model} columns" in line
    columns = [[number(k, j, d_model, 10000) for k in range(length)] for j in range(d_model)]
    assert sum(max(column) - min(column) < 0.1 for column in columns) == count


def test_a_column_that_moves_by_a_tenth_is_not_steady():
    assert steady_columns(np.array([[0.0, 0.0, 1.0], [0.09, 0.11, 1.0]])) == 2


def test_the_line_names_the_column(figure):
    update = position_table(figure)
    assert update(**START).startswith("Column 24: the sine of pair 12, one turn takes 35.3 positions.")
    assert update(**START | {"column": 25}).startswith("Column 25: the cosine of pair 12, one turn takes 35.3")
    apart = update(**START | {"column": 64 + 12, "apart": True})
    assert apart.startswith("Column 76: the cosine of pair 12, one turn takes 35.3")
    assert "turn takes 60611 positions" in update(**START | {"d_model": 512, "column": 511})
    assert "(41%)" in update(**START | {"d_model": 512})


def test_beyond_the_table_its_last_row_and_column_are_shown(figure):
    update = position_table(figure)
    last = update(length=10, d_model=16, base=10000.0, row=9, column=15, apart=False)
    numbers = shown(figure)
    assert update(length=10, d_model=16, base=10000.0, row=199, column=511, apart=False) == last
    again = shown(figure)
    assert again[1:] == numbers[1:]
    assert again[1] == pytest.approx([number(k, 15, 16, 10000) for k in range(10)])
    assert [again[2][j] for j in range(16)] == pytest.approx([number(9, j, 16, 10000) for j in range(16)])
    heat, beside, below = figure.axes[:3]
    assert heat.get_xlim() == below.get_xlim() == (-0.5, 15.5)
    assert heat.get_ylim() == beside.get_ylim() == (9.5, -0.5)
