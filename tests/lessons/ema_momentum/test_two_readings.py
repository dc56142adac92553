import re

import pytest
import torch

from blocklab.moving_average import ema_update
from blocklab_course.lessons.ema_momentum.two_readings import BATCHES, EPS, MEAN, SIZE, channel, panel, two_readings


def centres(line):
    return [float(number) for number in re.findall(r"mean (-?[\d.]+) in PyTorch, (-?[\d.]+) in Keras", line)[0]]


def by_steps(momentum, steps):
    """The mean of eval() outputs, with the running statistics moved batch by batch."""
    batches = channel(BATCHES * SIZE, seed=1).view(BATCHES, SIZE)
    mean, variance = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)
    for batch in batches[:steps]:
        mean, variance = ema_update(mean, batch.mean(), momentum), ema_update(variance, batch.var(), momentum)
    return ((MEAN - mean) / (variance + EPS).sqrt()).item()


@pytest.mark.parametrize(("momentum", "steps"), [(0.99, 20), (0.1, 10), (0.1, 44), (0.01, 500), (0.5, 1)])
def test_both_readings_are_what_the_steps_give(figure, momentum, steps):
    pytorch, keras = centres(two_readings(figure)(momentum=momentum, steps=steps))
    assert pytorch == pytest.approx(by_steps(momentum, steps), abs=0.006)
    assert keras == pytest.approx(by_steps(1 - momentum, steps), abs=0.006)


def test_the_lesson_predicts_what_is_seen(figure):
    update = two_readings(figure)
    pytorch, keras = centres(update(momentum=0.99, steps=20))
    assert abs(pytorch) < 0.1
    assert keras > 6
    assert centres(update(momentum=0.5, steps=20))[0] == centres(update(0.5, 20))[1]
    assert 1.8 < centres(update(momentum=0.1, steps=10))[0] < 2.2
    assert abs(centres(update(momentum=0.1, steps=44))[0]) < 0.1


def test_the_bars_are_the_weights_and_sum_to_one(figure):
    two_readings(figure)(momentum=0.3, steps=7)
    bars = [bar.get_height() for bar in figure.axes[0].patches]
    assert bars[:3] == pytest.approx([0.3, 0.3 * 0.7, 0.3 * 0.49])
    assert bars[-1] == pytest.approx(0.7**7)
    assert sum(bars) == pytest.approx(1)


def test_a_weight_is_seen_as_high_as_it_is(figure):
    """So the tall bar of the start value looks as heavy as it is beside many small ones."""
    two_readings(figure)
    for axes in figure.axes[0], figure.axes[2]:
        assert (axes.get_yscale(), axes.get_ylim()) == ("linear", (0, 1.05))


def test_the_right_guess_is_the_framework_whose_outputs_are_centred():
    shown = panel()
    guess = shown.prediction
    shown.move(momentum=0.99)
    assert shown.values["steps"] == 20
    means = dict(zip(("PyTorch", "Keras"), centres(shown.line), strict=True))
    assert guess.right == {name for name, mean in means.items() if abs(mean) < 0.1}
    assert f"{means['Keras']} in Keras" in str(guess.explanation)
