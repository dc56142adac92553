import math
import re

import numpy as np
import pytest

from blocklab_course.lessons.positional_encoding.signed_distance import FAR, REACH, panel, products, signed_distance


def by_hand(distance, d_model):
    return sum(math.cos(distance * 10000 ** (-2 * i / d_model)) for i in range(d_model // 2))


def curves(figure):
    """The height of both curves, by distance, in units of d/2."""
    return {line.get_label(): dict(zip(*line.get_data(), strict=True)) for line in figure.axes[0].lines[1:3]}


@pytest.mark.parametrize("d_model", [4, 16, 128])
@pytest.mark.parametrize("offset", [-REACH, -5, 0, 7])
def test_the_product_is_a_sum_of_cosines_of_the_distance_less_the_offset(d_model, offset):
    wanted = [by_hand(distance - offset, d_model) for distance in range(-FAR, FAR + 1)]
    assert products(offset, d_model) == pytest.approx(wanted, abs=1e-9)


def test_rows_alone_do_not_tell_before_from_after_and_a_shift_between_them_does(figure):
    signed_distance(figure)(offset=-5, d_model=16)
    alone, shifted = curves(figure).values()
    assert all(alone[-k] == pytest.approx(alone[k]) for k in range(FAR + 1))
    assert max(shifted, key=shifted.get) == -5
    assert shifted[-5] == pytest.approx(1)
    assert shifted[5] < 0.5


def test_the_line_tells_both_sides_and_the_peak(figure):
    update = signed_distance(figure)
    assert update(offset=0, d_model=16).endswith("highest at 0.")
    line = update(offset=-5, d_model=16)
    assert line.startswith("M shifts by −5. As they are: ")
    numbers = [float(n.replace("−", "-")) for n in re.findall(r"−?\d+\.\d\d", line)]
    assert numbers == pytest.approx([by_hand(5, 16) / 8, by_hand(5, 16) / 8, 1, by_hand(10, 16) / 8], abs=0.006)
    assert line.endswith("highest at −5.")


@pytest.mark.parametrize("d_model", [4, 128])
def test_no_curve_leaves_the_picture_and_the_dot_lies_on_its_peak(figure, d_model):
    update = signed_distance(figure)
    low, high = figure.axes[0].get_ylim()
    for offset in (-REACH, 0, REACH):
        update(offset=offset, d_model=d_model)
        heights = np.concatenate([list(curve.values()) for curve in curves(figure).values()])
        assert low < heights.min() < heights.max() < high
        (dot,) = figure.axes[0].lines[3:]
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == pytest.approx((offset, 1))


def test_the_panel_opens_where_nothing_is_given_away():
    assert panel().controls["offset"].default == 0
