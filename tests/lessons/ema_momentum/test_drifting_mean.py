import numpy as np
import pytest

from blocklab_course.lessons.ema_momentum.drifting_mean import (
    GRASP,
    HIGH,
    JUMP,
    LOW,
    STEPS,
    after,
    after_the_jump,
    drifting_mean,
    still,
)


def lines(figure, **values):
    said = drifting_mean(figure)(**values)
    return [line.get_ydata() for line in figure.axes[0].lines[:3]], said


def test_the_running_mean_follows_the_formula(figure):
    (means, _, running), _ = lines(figure, momentum=0.1, batch_size=8, drift="jump")
    by_hand = 0.0
    for mean, shown in zip(means, running, strict=True):
        by_hand = 0.9 * by_hand + 0.1 * mean
        assert shown == pytest.approx(by_hand)


@pytest.mark.parametrize(("drift", "first", "last"), [("jump", LOW, HIGH), ("slope", LOW, HIGH), ("none", HIGH, HIGH)])
def test_the_true_mean_goes_where_it_is_told(figure, drift, first, last):
    (_, truth, _), _ = lines(figure, momentum=0.1, batch_size=8, drift=drift)
    assert (truth[0], truth[-1]) == pytest.approx((first, last))


def test_momentum_one_is_the_last_batch(figure):
    (means, _, running), said = lines(figure, momentum=1.0, batch_size=8, drift="slope")
    assert np.allclose(means, running)
    assert "half-life 0.0 steps" in said


def test_a_large_momentum_arrives_sooner_and_trembles_more(figure):
    (_, _, slow), _ = lines(figure, momentum=0.02, batch_size=8, drift="jump")
    figure.clear()
    (_, _, quick), _ = lines(figure, momentum=0.5, batch_size=8, drift="jump")
    assert quick[JUMP + 5] > 6.5 > 4 > slow[JUMP + 5]
    assert quick[-100:].std() > slow[-100:].std()


@pytest.mark.parametrize(("momentum", "steps"), [(0.5, 1), (0.02, 38)])
def test_half_of_the_jump_is_made_as_late_as_the_lesson_says(figure, momentum, steps):
    (_, _, running), _ = lines(figure, momentum=momentum, batch_size=8, drift="jump")
    assert np.argmax(running > (LOW + HIGH) / 2) + 1 - JUMP == steps


@pytest.mark.parametrize("momentum", [0.5, 0.02])
def test_numbers_of_the_jump_are_those_of_the_picture(figure, momentum):
    (_, truth, running), said = lines(figure, momentum=momentum, batch_size=8, drift="jump")
    before, steps, noise = after_the_jump(momentum)
    assert before == pytest.approx(running[JUMP - 1])
    assert running[JUMP + steps - 2] < (truth[JUMP - 1] + truth[JUMP]) / 2 <= running[JUMP + steps - 1]
    assert f"deviation of {noise:.2f}" in said


def test_larger_batches_tremble_less(figure):
    spreads = []
    for batch_size in (2, 32, 128):
        figure.clear()
        (means, _, _), _ = lines(figure, momentum=0.1, batch_size=batch_size, drift="none")
        spreads.append(means.std())
    assert spreads == sorted(spreads, reverse=True)
    assert len(means) == STEPS


@pytest.mark.parametrize("momentum", [0.001, 0.1, 1.0])
def test_what_is_taken_hold_of_lies_on_the_running_mean(figure, momentum):
    (means, _, running), _ = lines(figure, momentum=momentum, batch_size=8, drift="jump")
    (knob,) = figure.axes[0].lines[3].get_ydata()
    assert knob == running[GRASP - 1] == pytest.approx(after(means[:GRASP], momentum))


@pytest.mark.parametrize(("momentum", "behind"), [(0.02, "0.99"), (0.5, "0.02")])
def test_on_the_slope_it_stays_as_far_behind_as_the_lesson_says(figure, momentum, behind):
    _, said = lines(figure, momentum=momentum, batch_size=8, drift="slope")
    assert f"behind the true one by {behind} in the end" in said


def test_half_of_the_jump_is_marked_where_there_is_a_jump(figure):
    update = drifting_mean(figure)
    [name] = figure.axes[0].texts
    for drift, seen in (("jump", True), ("slope", False), ("none", False)):
        update(momentum=0.1, batch_size=8, drift=drift)
        assert name.get_visible() is seen


def test_the_still_follows_the_jump_with_both_momenta():
    shown = still(0.02, 0.5)
    assert not shown.controls
    assert shown.line.startswith("momentum 0.020: half-life 34.3 steps.")
    axes = shown.canvas.figure.axes[0]
    means, _, running, *_, beside = (line.get_ydata() for line in axes.lines)
    for momentum, found in ((0.02, running), (0.5, beside)):
        assert found[JUMP - 1] == pytest.approx(after(means[:JUMP], momentum))
    assert "running mean, momentum 0.5" in [text.get_text() for text in axes.get_legend().get_texts()]
