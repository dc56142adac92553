import re
from math import erf, exp, pi, tanh

import numpy as np
import pytest

from blocklab_course.lessons.activations_and_gates.activation_curves import activation_curves


def numbers(line):
    return [float(n.replace("−", "-")) for n in re.findall(r"[−\d.]*\d", line.split("slope")[1])]


def at(line, u):
    return float(np.interp(u, line.get_xdata(), line.get_ydata()))


def test_the_lesson_predicts_what_is_seen(figure):
    update = activation_curves(figure)
    assert numbers(update(beta=1.0)) == [-0.10, 1.10, 0.193, 0.278]
    nearest = min(range(5, 31), key=lambda tenths: numbers(update(beta=tenths / 10))[2])
    assert nearest == 18
    assert numbers(update(beta=1.8))[2] == 0.017
    assert figure.axes[1].texts[0].get_text() == "β = 1.8"
    assert numbers(update(beta=1.702))[2] == 0.020
    finest = {beta / 1000: numbers(update(beta=beta / 1000))[2] for beta in range(1750, 1801, 5)}
    assert finest[1.77] == min(finest.values()) == 0.014
    assert numbers(update(beta=10.0))[3] == 0.028
    assert numbers(update(beta=0.0)) == [0.5, 0.5, 2.5, 2.5]


@pytest.mark.parametrize("beta", [0.0, 1.0, 3.5])
@pytest.mark.parametrize("u", [-4.0, -1.0, 0.5, 2.0])
def test_curves_and_slopes_are_the_formulas(figure, beta, u):
    activation_curves(figure)(beta=beta)
    (relu, gelu, swish), (relu_slope, gelu_slope, swish_slope, knob) = (axes.lines for axes in figure.axes[:2])
    share, density, gate = (1 + erf(u / 2**0.5)) / 2, exp(-u * u / 2) / (2 * pi) ** 0.5, 1 / (1 + exp(-beta * u))
    assert at(relu, u) == pytest.approx(max(u, 0))
    assert at(gelu, u) == pytest.approx(u * share)
    assert at(swish, u) == pytest.approx(u * gate)
    assert at(relu_slope, u) == (u > 0)
    assert at(gelu_slope, u) == pytest.approx(share + u * density)
    assert at(swish_slope, u) == pytest.approx(gate * (1 + beta * u * (1 - gate)))
    assert knob.get_ydata()[0] == pytest.approx(at(swish_slope, knob.get_xdata()[0]))


def test_distances_from_gelu(figure):
    activation_curves(figure)(beta=1.7)
    relu, approximation, swish = figure.axes[2].lines
    u = -2.7
    gelu = u * (1 + erf(u / 2**0.5)) / 2
    with_tanh = u / 2 * (1 + tanh((2 / pi) ** 0.5 * (u + 0.044715 * u**3)))
    assert at(relu, u) == pytest.approx(abs(gelu))
    assert at(approximation, u) == pytest.approx(abs(with_tanh - gelu))
    assert max(approximation.get_ydata()) == pytest.approx(4.73e-4, abs=1e-6)
    assert at(swish, u) == pytest.approx(abs(u / (1 + exp(-1.7 * u)) - gelu))
