import re

import numpy as np
import pytest
import torch

from blocklab_course.lessons.why_normalize.signals_through_layers import (
    BATCH,
    WIDTH,
    draws,
    outline,
    panel,
    rounded,
    signals,
    signals_through_layers,
)
from lesson_functions import function_of

network = function_of("01_why_normalize", "network")


def by_hand(gain, depth):
    """The last activations of a tanh network and the norm of each weight's gradient, each derivative written out."""
    x, weights, back = (tensor.double() for tensor in draws())
    inputs, slopes = [], []
    weights = weights[:depth] * gain / WIDTH**0.5
    for weight in weights:
        inputs.append(x)
        x = torch.tanh(x @ weight)
        slopes.append(1 - x.square())
    gradient, norms = back / BATCH, []
    for given, slope, weight in zip(inputs[::-1], slopes[::-1], weights.flip(0), strict=True):
        norms.append((given.T @ (gradient * slope)).norm().item())
        gradient = (gradient * slope) @ weight.T
    return x, norms[::-1]


@pytest.mark.parametrize(("gain", "depth"), [(0.5, 20), (1.0, 7), (3.0, 20)])
def test_signals_are_what_the_chain_rule_gives(gain, depth):
    layers, gradients = signals(gain, depth, "tanh", "none", network)
    last, expected = by_hand(gain, depth)
    assert layers[-1].std().item() == pytest.approx(last.std().item(), rel=1e-3)
    # float32 against float64: at gain 3 rounding grows from layer to layer, the norms stay near each other
    assert gradients == pytest.approx(expected, rel=0.05)


def test_the_network_that_is_handed_in_is_the_one_that_is_drawn():
    def halved(x, weights, norm, activation):
        return [a / 2 for a in network(x, weights, norm, activation)]

    whole, half = (signals(1.0, 5, "tanh", "batch", each) for each in (network, halved))
    assert half[0][-1].std().item() == pytest.approx(whole[0][-1].std().item() / 2)
    assert half[1] == pytest.approx([gradient / 2 for gradient in whole[1]])


def test_batch_norm_makes_the_gain_of_the_weights_not_matter_but_for_their_gradient():
    (small, gradients), (large, smaller) = (signals(gain, 20, "tanh", "batch", network) for gain in (1.0, 100.0))
    assert small[-1].std().item() == pytest.approx(0.63, abs=0.005)
    assert (small[-1] - large[-1]).abs().max() < 0.001
    assert smaller == pytest.approx([gradient / 100 for gradient in gradients], rel=0.01)


def test_equal_deviations_with_exploding_gradients():
    ratios = {}
    for norm in ("batch", "layer"):
        layers, gradients = signals(1.0, 40, "relu", norm, network)
        deviations = [x.std().item() for x in layers]
        assert max(deviations) < 1.2 * min(deviations)
        ratios[norm] = gradients[0] / gradients[-1]
    assert 1000 < ratios["batch"] < 2000
    assert 0.5 < ratios["layer"] < 1.5


def test_the_gradient_grows_as_the_lesson_says():
    """Without a norm at gain 3, and with BatchNorm, layer by layer; less with tanh."""
    layers, gradients = signals(3, 20, "tanh", "none", network)
    assert [rounded(gradients[i]) for i in (1, -1)] == ["880", "3.1"]
    slopes = 1 - layers[9].square()
    assert slopes.median() < 0.13 < 0.25 < (slopes > 0.5).float().mean()
    slope = slopes.square().mean().sqrt().item()
    assert (gradients[1] / gradients[-1]) ** (1 / 18) == pytest.approx(3 * slope, abs=0.005)
    factors = {("relu", "batch"): 1.2, ("relu", "layer"): 1.0, ("tanh", "batch"): 1.09, ("tanh", "layer"): 1.09}
    for (activation, norm), factor in factors.items():
        _, gradients = signals(1.0, 40, activation, norm, network)
        assert (gradients[0] / gradients[-1]) ** (1 / 39) == pytest.approx(factor, abs=0.005)
    _, gradients = signals(1.0, 40, "relu", "layer", network)
    assert (round(min(gradients)), round(max(gradients))) == (3, 6)


def test_only_the_input_normalized_helps_the_first_layer_only():
    stuck = {}
    for norm in ("none", "input"):
        layers, _ = signals(0.5, 20, "tanh", norm, network)
        stuck[norm] = (layers[0].abs() > 0.9).float().mean()
        assert layers[-1].std() < 1e-4
    assert stuck["none"] > 0.5 > 0.01 > stuck["input"]


def test_gradients_without_a_norm_are_as_the_lesson_says():
    _, small = signals(0.5, 20, "tanh", "none", network)
    assert 0.00002 < min(small) < max(small) < 0.00004
    layers, large = signals(100, 20, "tanh", "none", network)
    assert (rounded(large[0]), rounded(large[-1])) == ("6.2 · 10¹³", "0.53")
    assert (layers[-1].abs() > 0.9).float().mean() > 0.98


@pytest.mark.parametrize(("activation", "depth"), [("tanh", 5), ("relu", 40)])
def test_the_picture_shows_these_numbers(figure, activation, depth):
    line = signals_through_layers(network)(figure)(gain=1.0, depth=depth, activation=activation, norm="batch")
    layers, gradients = signals(1.0, depth, activation, "batch", network)
    assert rounded(layers[-1].double().std().item()) in line
    assert f"{rounded(gradients[0])} in layer 1, {rounded(gradients[-1])} in the last" in line
    spread, gradient, end = figure.axes[1].lines[-3:]
    assert len(spread.get_xdata()) == depth
    assert list(gradient.get_ydata()) == gradients
    assert end.get_xdata() == [depth]
    assert ("%" in line) is (activation == "tanh")


def test_the_right_guess_is_what_batch_norm_makes_of_small_and_large_weights():
    shown = panel(network)
    guess, gain = shown.prediction, shown.controls["gain"]
    spreads, gradients = [], []
    assert gain.ends()[1] == 100
    for value in (1.0, 100.0):
        shown.move(norm="batch", gain=value)
        spread, gradient = re.search(r"deviation ([\d.]+), .*: ([\d.]+) in layer 1", shown.line).groups()
        spreads.append(float(spread))
        gradients.append(float(gradient))
    low, high = gradients
    assert spreads[0] == spreads[1]
    assert guess.right == ("smaller" if high < 0.5 * low else "larger" if high > 2 * low else "same")
    assert low == 100 * high
    assert f"from {low:g} to {high:g}" in str(guess.explanation)


def test_the_panel_opens_at_what_its_question_starts_from():
    assert panel(network).controls["norm"].value == "batch"
    assert panel(network).controls["gain"].value == 1.0


def test_a_histogram_is_as_high_where_values_are_alike():
    values = torch.full((BATCH, 1), 0.5)
    shape = outline(values, (0.0, 1.0), (-1.0, 1.0))
    assert np.ptp(shape[:, 1]) > 0
    highest = shape[shape[:, 1].argmin(), 0]
    assert 0.7 < highest < 0.8  # 0.5 of [-1, 1] lies at three quarters


@pytest.mark.parametrize(("number", "text"), [(1293.0, "1300"), (0.8351, "0.84"), (8e-8, "8 · 10⁻⁸"), (334.0, "330")])
def test_rounded(number, text):
    assert rounded(number) == text
