import math
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from blocklab_course.lessons.layer_norm.blind_comparison import (
    CUSP,
    EPS,
    FORMULAS,
    LARGEST,
    OPENING,
    ROW,
    SMALLEST,
    TENTH,
    blind_comparison,
    differences,
    outside,
    panel,
    right,
)


def at(sigma, formula=outside, dtype=torch.float64):
    return differences(torch.tensor([sigma], dtype=torch.float64), formula, dtype)[0]


def test_the_formula_outside_the_root_is_right_at_one_place_only():
    assert at(CUSP) < 1e-15
    assert at(1.7e-4) == pytest.approx(0.8908, abs=1e-4)
    assert at(12**-0.5) == pytest.approx(2.5e-5, rel=0.02)
    assert at(1e-3) == pytest.approx(0.6886, abs=1e-4)


@pytest.mark.parametrize("sigma", [1e-5, 0.3, 20.0])
def test_differences_are_those_from_torch(sigma):
    x = sigma * ROW
    error = (outside(x) - F.layer_norm(x, (20,), eps=EPS)).abs().max() / ROW.abs().max()
    assert at(sigma) == pytest.approx(error.item(), rel=1e-6)


def test_the_right_formula_differs_in_float16_only():
    assert max(at(sigma, right) for sigma in (1e-6, 1e-3, 1.0, 1e4)) < 1e-12
    assert 1e-5 < at(0.3, right, torch.float16) < 2e-3
    assert at(1000.0, right, torch.float16) == pytest.approx(1.0)  # the squares overflow


def test_the_line_says_what_the_dots_show(figure):
    update = blind_comparison(figure)
    line = update(sigma=1e-3, dtype="float64")
    assert "std + ε differs by 0.69, ε twice by 0.083, no ε by 0.7, d − 1 by 0.00072" in line
    dots = figure.axes[0].lines[-1]
    assert len(dots.get_ydata()) == len(FORMULAS) - 1
    assert np.isclose(dots.get_ydata()[0], at(1e-3))


def test_float16_shows_the_right_formula_too(figure):
    update = blind_comparison(figure)
    update(sigma=1.0, dtype="float16")
    assert "The right formula" in update(sigma=1.0, dtype="float16")
    assert len(figure.axes[0].lines[-1].get_ydata()) == len(FORMULAS)
    update(sigma=1.0, dtype="float64")
    assert len(figure.axes[0].get_legend().get_texts()) == len(FORMULAS) - 1


@pytest.mark.parametrize(("sigma", "from_here"), [(1e-6, 1e-6), (0.01, 0.01), (1.0, 1.0), (100.0, 1.0)])
def test_the_curves_reach_as_far_left_as_the_slider(figure, sigma, from_here):
    blind_comparison(figure)(sigma=sigma, dtype="float64")
    axes = figure.axes[0]
    [cover] = axes.patches
    curves = [line for line in axes.lines if len(line.get_xdata()) > 100]
    covered = axes.transAxes.inverted().transform(cover.get_extents())  # of the axes, from corner to corner
    assert covered == pytest.approx(
        np.array([[0, 0], [math.log10(from_here / SMALLEST) / math.log10(LARGEST / SMALLEST), 1]]), abs=1e-6
    )
    assert [line.get_zorder() < cover.get_zorder() for line in curves] == [True] * (len(FORMULAS) - 1)


def test_the_opening_state_gives_nothing_away_and_the_guess_is_judged_by_what_the_slider_finds():
    shown = panel()
    guess, sigma = shown.prediction, shown.controls["sigma"]
    assert sigma.default >= OPENING  # from where the curves are drawn
    stops = [sigma.at(number) for number in range(sigma.last + 1)]
    first = max(size for size in stops if at(size) >= TENTH)
    offered = {option: float(re.search(r"[\d.]+", str(said))[0]) for said, option in guess.options.items()}
    nearest = min(offered, key=lambda option: abs(math.log(offered[option] / first)))
    assert guess.right == nearest
    assert offered[nearest] == pytest.approx(first, rel=0.06)


def test_words_stand_where_no_curve_is_yet(figure):
    update = blind_comparison(figure)
    [waiting] = [text for text in figure.axes[0].texts if "drag" in text.get_text()]
    for sigma, there in ((10.0, True), (0.01, True), (1e-4, False)):
        update(sigma=sigma, dtype="float64")
        assert waiting.get_visible() == there


def test_the_slider_reaches_the_cusp(figure):
    line = blind_comparison(figure)(sigma=0.501187, dtype="float64")
    assert line.startswith("σ = 0.499995")


def test_overflow_is_called_infinite(figure):
    line = blind_comparison(figure)(sigma=1e-6, dtype="float16")
    assert "no ε by infinity" in line
