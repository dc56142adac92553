import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from matplotlib.colors import to_hex

from blocklab_course.lessons.activations_and_gates.contours import (
    COLOURS,
    POINTS,
    SIDE,
    contours,
    direction,
    panel,
    turn,
)

AT_START = {"activation": "relu", "gate": False, "gate_angle": 0, "value_angle": 90}


def degrees(line):
    return float(re.search(r"lie (\d+)°", line)[1])


@pytest.mark.parametrize("activation", ["none", "sigmoid", "relu", "gelu", "silu"])
@pytest.mark.parametrize("angle", [-180, 0, 40, 135])
def test_without_a_gate_contours_are_straight_whatever_the_activation(figure, activation, angle):
    assert degrees(contours(figure)(**AT_START | {"activation": activation, "gate_angle": angle})) == 0


@pytest.mark.parametrize(("apart", "seen"), [(90, 45), (-90, 45), (0, 0), (180, 0)])
def test_with_a_gate_and_no_activation_only_parallel_arrows_give_straight_lines(figure, apart, seen):
    line = contours(figure)(**AT_START | {"activation": "none", "gate": True, "value_angle": apart})
    assert degrees(line) == seen


def test_the_contours_of_a_product_are_hyperbolas(figure):
    contours(figure)(**AT_START | {"activation": "none", "gate": True})
    above, below = figure.axes[2].collections[1].get_segments(), figure.axes[2].collections[0].get_segments()
    for lines, sign in ((above, 1), (below, -1)):
        levels = [points.prod(1) for points in lines if np.ptp(points, axis=0).any()]
        assert len(levels) == 2 * 8  # 0.25 to 2.00 in two corners; 2.25 is a corner itself
        for level in levels:
            assert np.sign(level[0]) == sign
            assert level == pytest.approx(round(level[0] * 4) / 4, abs=2e-3)


def test_the_pictures_show_two_factors_and_their_product(figure):
    contours(figure)(activation="silu", gate=True, gate_angle=30, value_angle=-75)
    left, middle, right = (np.asarray(axes.images[0].get_array()) for axes in figure.axes)
    assert right == pytest.approx(left * middle)
    corner = np.array([SIDE, SIDE])  # the last row is the highest
    u = corner @ [np.cos(np.pi / 6), 0.5]
    assert left[-1, -1] == pytest.approx(F.silu(torch.tensor(u)).item())
    assert middle[-1, -1] == pytest.approx(corner @ [np.cos(np.deg2rad(75)), -np.sin(np.deg2rad(75))])
    assert left.shape == (POINTS, POINTS)


def test_the_line_gives_the_range(figure):
    update = contours(figure)
    assert "u · v runs from −2.25 to 2.25." in update(**AT_START | {"activation": "none", "gate": True})
    assert "ReLU(u) runs from 0.00 to 1.50." in update(**AT_START)
    assert "SiLU(u) runs from −0.28 to 1.23." in update(**AT_START | {"activation": "silu"})


@pytest.mark.parametrize("gate", [False, True])
def test_both_arrows_are_there_to_be_turned_but_only_a_gate_brings_v_into_the_unit(figure, gate):
    contours(figure)(**AT_START | {"gate": gate})
    strokes = [len(axes.collections[3].get_segments()) for axes in figure.axes]
    assert strokes == [2, 2, 4 if gate else 2]
    assert figure.axes[1].texts[0].get_text() == ("v" if gate else "(v)")
    (colour,) = {to_hex(colour) for colour in figure.axes[1].collections[3].get_colors()}
    assert colour == COLOURS["v" if gate else "(v)"]


def test_turn_leaves_flat_places_out():
    slopes = torch.tensor([[1.0, 0.0], [0.0, -2.0], [0.0, 0.0], [-3.0, 3.0]]).double()
    assert turn(slopes, direction(0)) == pytest.approx((0 + 90 + 45) / 3)
    assert turn(slopes, direction(45)) == pytest.approx((45 + 45 + 90) / 3)


def test_the_right_guess_is_what_bends_the_contours():
    shown = panel()
    bent = {}
    for change in ({}, {"activation": "gelu"}, {"activation": "none", "gate": True}):
        shown.move(**AT_START | change)
        bent[tuple(change)] = degrees(shown.line) > 0
    smooth, gate = bent["activation",], bent["activation", "gate"]
    assert not bent[()]
    assert shown.prediction.right == {(1, 1): "either", (1, 0): "smooth", (0, 1): "gate", (0, 0): "both"}[smooth, gate]


def test_the_line_never_shows_minus_zero_nor_one_half_rounded_two_ways(figure):
    update = contours(figure)
    minus_zero = AT_START | {"activation": "none", "gate": True, "gate_angle": -180, "value_angle": 180}
    assert "from 0.00 to 2.25." in update(**minus_zero)
    halves = AT_START | {"gate": True, "gate_angle": 45, "value_angle": -45}
    assert "from −1.13 to 1.13." in update(**halves)


@pytest.mark.parametrize("value_angle", [-180, -90, 0, 15, 90, 135, 180])
def test_the_names_of_the_arrows_stay_inside_and_apart(figure, value_angle):
    contours(figure)(**AT_START | {"gate": True, "value_angle": value_angle})
    figure.canvas.draw()
    frame = figure.axes[2].get_window_extent()
    boxes = [t.get_window_extent() for t in figure.axes[2].texts[:2] if t.get_visible()]
    assert all(frame.x0 < b.x0 and b.x1 < frame.x1 and frame.y0 < b.y0 and b.y1 < frame.y1 for b in boxes)
    assert len(boxes) == (1 if value_angle == 0 else 2)
    assert len(boxes) == 1 or not boxes[0].overlaps(boxes[1])


def test_u_and_v_have_colours_of_their_own(figure):
    contours(figure)(activation="silu", gate=True, gate_angle=0, value_angle=90)
    left, middle, right = figure.axes
    colours = [[to_hex(colour) for colour in axes.collections[-1].get_colors()] for axes in (left, middle, right)]
    u, v = COLOURS["u"], COLOURS["v"]
    assert colours == [[u, u], [v, v], [u, u, v, v]]
    assert [(text.get_text(), text.get_color()) for text in right.texts[:2]] == [("u", u), ("v", v)]
