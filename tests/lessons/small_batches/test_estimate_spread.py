import itertools
import re

import numpy as np
import pytest
import torch

from blocklab_course.lessons.small_batches.estimate_spread import (
    SIDE,
    estimate_spread,
    pool,
    spread_of_mean,
    spread_of_variance,
    sums,
    worth,
)


def found(line):
    """Of the means and of the variances: the spread measured, and the one in theory."""
    return [float(number) for number in re.findall(r"(?:deviation|variances|theory) (\d+\.\d+)", line)]


@pytest.mark.parametrize("images", [2, 4, 32])
@pytest.mark.parametrize("side", [1, 5, 14])
def test_independent_values_obey_the_theory(figure, images, side):
    line = estimate_spread(figure)(images=images, side=side, alike=False)
    m = images * side**2
    mean, mean_theory, variance, variance_theory = found(line)
    assert f"m = {m}." in line
    assert mean_theory == pytest.approx(m**-0.5, abs=6e-4)
    assert variance_theory == pytest.approx((2 / (m - 1)) ** 0.5, abs=6e-4)
    assert mean == pytest.approx(mean_theory, rel=0.05)
    assert variance == pytest.approx(variance_theory, rel=0.05, abs=1.1e-3)  # three decimals are shown


def test_the_theory_is_that_of_a_simulation():
    x = torch.randn(200000, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert spread_of_mean(5) == pytest.approx(x.mean(1).std().item(), rel=0.01)
    assert spread_of_variance(5) == pytest.approx(x.var(1).std().item(), rel=0.01)


def test_the_lesson_predicts_what_is_seen(figure):
    update = estimate_spread(figure)
    assert found(update(images=4, side=4, alike=False))[1] > 0.1
    assert found(update(images=4, side=5, alike=False))[1] == 0.1
    line = update(images=4, side=14, alike=True)
    mean, theory, *_ = found(line)
    assert mean > 2 * theory == 0.072
    assert "these 784 values are worth 99 independent ones" in line


@pytest.mark.parametrize("side", [1, 2, 5, 14])
def test_what_pixels_are_worth_is_what_their_means_vary(side):
    total, _ = sums(pool(True))
    assert worth(side) == pytest.approx(1 / (total[side - 1] / side**2).var(), rel=0.05)
    assert worth(1) == 1


def test_single_pixels_are_independent_even_if_neighbours_are_alike(figure):
    line = estimate_spread(figure)(images=8, side=1, alike=True)
    assert "worth" not in line
    assert found(line)[0] == pytest.approx(8**-0.5, rel=0.05)


def test_alike_pixels_share_two_thirds_with_the_next():
    for alike, wanted in ((False, 0.0), (True, 2 / 3)):
        images = pool(alike)
        assert images.shape[1:] == (SIDE, SIDE)
        assert images.var().item() == pytest.approx(1, abs=0.02)
        assert (images[:, :, 1:] * images[:, :, :-1]).mean().item() == pytest.approx(wanted, abs=0.02)


def test_sums_are_those_of_the_corner():
    images = pool(False)[:3]
    total, squares = sums(images)
    for side in (1, 3, SIDE):
        corner = images[:, :side, :side]
        assert np.allclose(total[side - 1], corner.sum((1, 2)))
        assert np.allclose(squares[side - 1], corner.square().sum((1, 2)))


def test_the_dots_are_what_the_line_says_and_within_the_picture(figure):
    update = estimate_spread(figure)
    for images, side, alike in itertools.product((2, 8, 32), (1, 2, 14), (False, True)):
        said = found(update(images=images, side=side, alike=alike))[::2]
        for axes, spread in zip(figure.axes, said, strict=True):
            theory, trail, here = axes.lines
            assert here.get_ydata()[0] == pytest.approx(spread, abs=6e-4)
            assert list(trail.get_xdata()) == [images * s**2 for s in range(1, side + 1)]
            low, high = axes.get_ylim()
            assert all(low < y < high for line in (theory, trail) for y in line.get_ydata())


def test_means_of_independent_values_lie_on_the_line_of_theory_those_of_like_ones_above(figure):
    update = estimate_spread(figure)
    for alike, least, most in ((False, 0.95, 1.05), (True, 1.2, 3.0)):
        update(images=4, side=14, alike=alike)
        trail = figure.axes[0].lines[1]
        m, spread = (values[1:] for values in trail.get_data())
        assert all(least < y * x**0.5 < most for x, y in zip(m, spread, strict=True))
