import re

import numpy as np
import pytest
import torch
from torch import nn

from blocklab_course.lessons.small_batches.saturating_batch import (
    LARGEST,
    NEAR,
    batch,
    panel,
    place_after,
    place_before,
    saturating_batch,
    still,
    through,
)


def output(line):
    return float(re.search(r"becomes (-?[\d.]+)\.", line)[1])


@pytest.mark.parametrize("m", [2, 3, 4, 8, 32])
@pytest.mark.parametrize("x", [0.001, 0.1, 1.0, 1000.0])
def test_the_output_is_torchs(figure, m, x):
    layer = nn.BatchNorm1d(1, affine=False, dtype=torch.float64)
    torchs = layer(torch.from_numpy(batch(m, x))[:, None])[:, 0].numpy()
    assert np.allclose(through(m, x), torchs, atol=1e-12)
    assert output(saturating_batch(figure)(m=m, x=x)) == pytest.approx(torchs[0], abs=0.0006)


@pytest.mark.parametrize(
    ("m", "near", "far"), [(2, 0.998, 1.0), (4, 0.106, 1.732), (32, 0.165, 5.568)], ids=["m=2", "m=4", "m=32"]
)
def test_the_numbers_of_the_lesson(figure, m, near, far):
    update = saturating_batch(figure)
    assert output(update(m=m, x=0.1)) == near
    assert output(update(m=m, x=1000.0)) == far


def test_the_curve_of_two_values_rises_only_where_they_nearly_agree(figure):
    """The lesson's argument: level elsewhere, and the curve of four values is not."""
    update = saturating_batch(figure)
    rises = {}
    for m in (2, 4):
        update(m=m, x=1000.0)
        x, y = figure.axes[1].lines[-3].get_data()
        assert (x[0], x[-1]) == (-1, pytest.approx(1000))
        assert (np.diff(x) > 0).all()
        rises[m] = np.interp([-0.1, 0.1], x, y)
    assert rises[2] == pytest.approx([-1, 1], abs=0.005)
    assert np.abs(rises[4]).max() < 0.2
    outputs = [output(update(m=2, x=x)) for x in (0.001, 0.01)]
    assert outputs == [0.156, 0.845]
    shown = panel()
    shown.move(m=2, x=0.001)
    assert output(shown.line) == 0.156


@pytest.mark.parametrize("narrow", [False, True])
def test_the_inset_shows_the_rise_of_two_values_as_a_slope(narrow):
    """On the large axis it is vertical."""
    shown = panel()
    shown.arrange(narrow=narrow)
    inset = shown.canvas.figure.axes[2]
    curve, dot = inset.lines
    assert inset.get_xlim() == (-NEAR, NEAR)
    shown.move(m=2, x=0.01)
    x, y = curve.get_data()
    assert np.interp([-0.01, 0, 0.001, 0.01], x, y) == pytest.approx([-0.845, 0, 0.156, 0.845], abs=0.002)
    assert ((x > -NEAR) & (x < NEAR) & (np.abs(y) < 0.9)).sum() > 40
    assert dot.get_visible()
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == pytest.approx((0.01, through(2, 0.01)[0]))
    shown.move(x=1000.0)
    assert not dot.get_visible()


@pytest.mark.parametrize("m", [1, 2, 32])
@pytest.mark.parametrize("narrow", [False, True])
def test_the_inset_covers_neither_the_curves_nor_the_name_of_the_ceiling(m, narrow):
    shown = panel()
    shown.arrange(narrow=narrow)
    shown.move(m=m, x=10.0)
    right, inset = shown.canvas.figure.axes[1:]
    frame, name = inset.get_tightbbox(), right.texts[-1]
    assert name.get_visible()
    assert not frame.overlaps(name.get_window_extent())
    *_, ceiling, _dot = right.lines
    for line in right.lines[: len(right.lines) - 2]:
        x, y = line.get_data()
        assert (right.transData.transform(np.stack([x, y], 1)[x > 0.5])[:, 1] > frame.y1).all()
    assert right.transData.transform(ceiling.get_xydata())[0, 1] > frame.y1


@pytest.mark.parametrize("m", range(2, 33))
def test_no_output_exceeds_the_ceiling(m):
    assert np.abs(through(m, 1e6)).max() <= (m - 1) ** 0.5
    assert through(m, 1e6)[0] > 0.999 * (m - 1) ** 0.5


def test_one_value_alone_gives_zero_and_torch_refuses(figure):
    line = saturating_batch(figure)(m=1, x=50.0)
    assert through(1, 50.0) == 0
    assert "torch refuses" in line
    with pytest.raises(ValueError, match="more than 1 value"):
        nn.BatchNorm1d(1)(torch.ones(1, 1))


def test_each_value_is_joined_to_its_output(figure):
    saturating_batch(figure)(m=4, x=10.0)
    left, right = figure.axes[:2]
    (lines,) = left.collections
    before, after = place_before(batch(4, 10.0)), place_after(through(4, 10.0))
    assert np.allclose([segment[:, 0] for segment in lines.get_segments()], np.stack([before, after], 1)[1:])
    assert np.allclose(left.lines[-1].get_xdata(), [before[0], after[0]])
    dot = right.lines[-1]
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (10.0, through(4, 10.0)[0])


def test_where_the_panel_opens_nothing_answers_the_question(figure):
    """Neither the ceiling, which is 1 for two values, nor a curve that goes beyond x₁."""
    update = saturating_batch(figure)
    assert update(**panel().values) == "m = 32: x₁ = 2 becomes 2.835."
    right = figure.axes[1]
    curve, ceiling, dot = right.lines[-3:]
    assert [line for line in right.lines if line.get_visible()] == [curve, dot]
    assert not any(text.get_visible() for text in right.texts)
    assert curve.get_xdata().max() == pytest.approx(dot.get_xdata()[0])
    assert curve.get_ydata()[-1] == pytest.approx(dot.get_ydata()[0])
    assert "No output can exceed" in update(m=32, x=1.0)
    assert all(line.get_visible() for line in (curve, ceiling, dot))
    assert curve.get_xdata().max() == pytest.approx(1000)


def test_the_still_shows_every_curve_and_the_ceiling_of_two_values():
    shown = still()
    assert not shown.controls
    assert shown.line.startswith("m = 2: x₁ = 1000 becomes 1.000.")
    right = shown.canvas.figure.axes[1]
    assert [text.get_text() for text in right.texts[:5]] == [f"m = {n}" for n in (2, 4, 8, 16, 32)]
    assert all(artist.get_visible() for artist in (*right.lines, *right.texts))


@pytest.mark.parametrize(("m", "marked"), [(32, [32]), (31, [32]), (8, [8, 16, 32]), (1, [2, 4, 8, 16, 32])])
def test_the_curves_of_larger_m_stay(figure, m, marked):
    """Where the panel opens, at the largest m, none of a smaller one answers the question."""
    saturating_batch(figure)(m=m, x=10.0)
    right = figure.axes[1]
    assert [text.get_text() for text in right.texts if text.get_visible()][: len(marked)] == [
        f"m = {n}" for n in marked
    ]
    thin = [line.get_ydata()[-1] for line in right.lines if line.get_visible()][: len(marked)]
    assert thin == [through(n, 1000.0)[0] for n in marked]
    assert panel().values["m"] == LARGEST


def test_the_upper_ruler_has_decades_far_out_and_no_kink_and_so_has_the_axis_of_inputs(figure):
    places = place_before(np.array([-1.0, 0, 1, 10, 100, 1000]))
    assert np.allclose(places[[0, -1]], [0, 1])
    assert np.allclose(places[2] - places[1], places[1] - places[0])
    assert np.allclose(np.diff(places)[-2:], np.diff(places)[-1], rtol=0.002)
    saturating_batch(figure)
    xs = np.linspace(0, 2, 201)
    along = figure.axes[1].transData.transform([(x, 0) for x in xs])[:, 0]
    assert np.allclose(
        (along - along[0]) / np.ptp(along), (place_before(xs) - place_before(0)) / np.ptp(place_before(xs))
    )
    steps = np.diff(along)
    assert np.abs(np.diff(steps)).max() < 0.02 * steps.max()


def test_the_right_guess_is_the_output_for_1000_where_two_values_share_a_mean():
    shown = panel()
    shown.move(m=2, x=1000.0)
    assert output(shown.line) == shown.prediction.right
    values = torch.from_numpy(batch(2, 1000.0))
    assert f"mean is {values.mean():.0f}" in str(shown.prediction.explanation)
    assert values.std(correction=0) == values.mean()
    unbiased = (values[0] - values.mean()) / values.std()
    assert round(unbiased.item(), 2) in shown.prediction.options.values()
