import math
import re

import pytest

from blocklab_course.lessons.why_normalize.saturation import GUESS, panel, saturation


def numbers(line):
    return [float(number) for number in re.findall(r"deviation ([\d.]+): (\d+)% .* slope is ([\d.]+)\.$", line)[0]]


def beyond(scale):
    """The share of a normal distribution where |tanh| > 0.9, from its distribution function."""
    return 100 * math.erfc(math.atanh(0.9) / (scale * math.sqrt(2)))


def slope(scale, steps=20001, reach=10):
    """The mean of 1 - tanh² over a normal distribution, by the trapezoid rule."""
    grid = [reach * (2 * i / (steps - 1) - 1) for i in range(steps)]
    density = [math.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in grid]
    return sum(p * (1 - math.tanh(scale * z) ** 2) for p, z in zip(density, grid, strict=True)) * (grid[1] - grid[0])


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 20.0])
def test_share_and_slope_are_those_of_the_distribution(figure, scale):
    said, share, mean_slope = numbers(saturation(figure)(scale=scale, normalize=False))
    assert said == pytest.approx(scale)
    assert share == pytest.approx(beyond(scale), abs=0.6)
    assert mean_slope == pytest.approx(slope(scale), abs=0.006)


def test_standardized_inputs_do_not_saturate_whatever_their_size(figure):
    update = saturation(figure)
    assert update(scale=20.0, normalize=True) == update(scale=1.0, normalize=True) == update(scale=1.0, normalize=False)


def test_the_histogram_counts_every_output(figure):
    saturation(figure)(scale=20.0, normalize=False)
    heights = figure.axes[2].patches[0].get_data().values
    assert heights.max() == pytest.approx(1)
    assert heights[[0, -1]].min() == pytest.approx(1, rel=0.01)  # both ends, and next to nothing between
    assert heights[5:-5].max() < 0.05


def test_the_share_stands_at_the_lines_that_it_counts_beyond(figure):
    line = saturation(figure)(scale=2.0, normalize=False)
    outputs = figure.axes[2]
    _, share, _ = numbers(line)
    assert f"{share:.0f}% beyond ±0.9" in [text.get_text() for text in outputs.texts]
    assert sorted(segment[0][0] for segment in outputs.collections[0].get_segments()) == [-0.9, 0.9]


def test_the_right_guess_is_where_half_of_the_outputs_lie_beyond(figure):
    """The slider has a stop near it, and the explanation has the shares at all three options."""
    shares = {option: beyond(option) for option in GUESS.options.values()}
    assert shares[GUESS.right] == pytest.approx(50, abs=0.6)
    assert all(f"{share:.0f}%" in str(GUESS.explanation) for share in shares.values())
    scale, update = panel().controls["scale"], saturation(figure)
    stops = {stop: numbers(update(scale=stop, normalize=False))[1] for stop in map(scale.at, range(scale.last + 1))}
    assert min(stops, key=lambda stop: abs(stops[stop] - 50)) == pytest.approx(GUESS.right, abs=0.05)
    assert stops[1.0] == 14
