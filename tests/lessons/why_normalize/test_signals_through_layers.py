import re

import numpy as np
import pytest
import torch

from blocklab.lessons.why_normalize.signals_through_layers import (
    BATCH,
    WIDTH,
    draws,
    outline,
    panel,
    rounded,
    signals,
    signals_through_layers,
)


def by_hand(gain, depth):
    """The last activations of a tanh network and the gradients' norms, each derivative written out."""
    x, weights, back = (tensor.double() for tensor in draws())
    layers, slopes, used = [], [], []
    for weight in weights[:depth] * gain / WIDTH**0.5:
        z = x @ weight
        x = torch.tanh(z)
        layers.append(x)
        slopes.append(1 - x.square())
        used.append(weight)
    gradient, norms = back, [back.norm().item()]
    for slope, weight in zip(slopes[:0:-1], used[:0:-1], strict=True):
        gradient = (gradient * slope) @ weight.T
        norms.append(gradient.norm().item())
    return layers[-1], norms[::-1]


@pytest.mark.parametrize(("gain", "depth"), [(0.5, 20), (1.0, 7), (3.0, 20)])
def test_signals_are_what_the_chain_rule_gives(gain, depth):
    layers, gradients = signals(gain, depth, "tanh", "none")
    last, expected = by_hand(gain, depth)
    assert layers[-1].std().item() == pytest.approx(last.std().item(), rel=1e-3)
    # float32 against float64: at gain 3 rounding grows from layer to layer, the norms stay near each other
    assert gradients == pytest.approx(expected, rel=0.05)


def test_batch_norm_makes_the_gain_of_the_weights_not_matter():
    spreads = [signals(gain, 20, "tanh", "batch")[0][-1].std().item() for gain in (0.1, 1.0, 10.0)]
    assert spreads == pytest.approx([0.63] * 3, abs=0.005)


def test_perfect_histograms_with_exploding_gradients():
    ratios = {}
    for norm in ("batch", "layer"):
        _, gradients = signals(1.0, 40, "relu", norm)
        ratios[norm] = gradients[0] / gradients[-1]
    assert 1000 < ratios["batch"] < 2000
    assert 0.5 < ratios["layer"] < 1.5


def test_only_the_input_normalized_helps_the_first_layer_only():
    layers, _ = signals(0.5, 20, "tanh", "input")
    assert layers[0].std() > 0.3
    assert layers[-1].std() < 1e-4


@pytest.mark.parametrize(("activation", "depth"), [("tanh", 5), ("relu", 40)])
def test_the_picture_shows_these_numbers(figure, activation, depth):
    line = signals_through_layers(figure)(gain=1.0, depth=depth, activation=activation, norm="batch")
    layers, gradients = signals(1.0, depth, activation, "batch")
    assert rounded(layers[-1].double().std().item()) in line
    assert f"{rounded(gradients[0] / gradients[-1])} times" in line
    spread, gradient = figure.axes[1].lines[-2:]
    assert len(spread.get_xdata()) == depth
    assert gradient.get_ydata()[-1] == 1
    assert ("%" in line) is (activation == "tanh")


def test_the_right_guess_is_what_batch_norm_makes_of_small_and_large_weights():
    shown = panel()
    guess, gain = shown.guess, shown.controls["gain"]
    spreads, saturated = [], []
    for end in gain.ends():
        shown.move(norm="batch", gain=end)
        spread, share = re.search(r"deviation ([\d.]+), (\d+)%", shown.line).groups()
        spreads.append(float(spread))
        saturated.append(int(share))
    low, high = spreads
    happens = "shrink" if high < low else "saturate" if saturated[1] > saturated[0] else "stay"
    assert guess.right == happens
    assert f"{high:g}" in str(guess.told)


def test_a_histogram_is_as_high_where_values_are_alike():
    values = torch.full((BATCH, 1), 0.5)
    shape = outline(values, (0.0, 1.0), (-1.0, 1.0))
    assert np.ptp(shape[:, 1]) > 0
    highest = shape[shape[:, 1].argmin(), 0]
    assert 0.7 < highest < 0.8  # 0.5 of [-1, 1] lies at three quarters


@pytest.mark.parametrize(("number", "text"), [(1293.0, "1300"), (0.8351, "0.84"), (1.7e-6, "1.7e-06"), (334.0, "330")])
def test_rounded(number, text):
    assert rounded(number) == text
