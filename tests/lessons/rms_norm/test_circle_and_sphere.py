import re

import numpy as np
import pytest

from blocklab_course.lessons.rms_norm.circle_and_sphere import circle_and_sphere, panel

FRONT = {"tilt": 25, "turn": 20}


def test_a_circle_and_a_sphere(figure):
    line = circle_and_sphere(figure)(steps=2, shift=0, **FRONT)
    layer, rms = line.split("RMSNorm")
    assert "origin 1.73, angle to the diagonal 90°" in layer
    assert "distance 1.73, angle 6° to 174°, median 90°" in rms


def test_a_shift_moves_rms_norm_alone(figure):
    update = circle_and_sphere(figure)
    lines = [update(steps=2, shift=shift, **FRONT) for shift in (0, 1, 3, 10)]
    assert len({re.search("LayerNorm: .*? RMSNorm", line)[0] for line in lines}) == 1
    assert [re.search(r"median (\d+)", line)[1] for line in lines] == ["90", "35", "13", "4"]


@pytest.mark.parametrize("values", [{"steps": 0, "shift": 0}, {"steps": 0, "shift": 10}, {"steps": 1, "shift": 3}])
def test_every_point_is_inside_the_picture(figure, values):
    circle_and_sphere(figure)(**values, **FRONT)
    for axes in figure.axes:
        places = axes.collections[-1].get_offsets()
        assert len(places) == 300
        assert np.abs(places[:, 1]).max() < 1
        assert np.abs(places[:, 0]).max() < 1.3


def test_points_whose_token_had_a_mean_below_zero_are_hollow(figure):
    update = circle_and_sphere(figure)
    for steps in (0, 2):
        update(steps=steps, shift=0, tilt=0, turn=0)
        dots = figure.axes[1].collections[-1]  # RMSNorm: above the middle the mean is above 0, before and after
        hollow = (dots.get_facecolors() == 1).all(-1)
        assert hollow.sum() == 150
        assert np.array_equal(hollow, dots.get_offsets()[:, 1] < 0)
        assert np.array_equal((dots.get_edgecolors() == 1).all(-1), ~hollow)
        assert (figure.axes[0].collections[-1].get_facecolors() == 1).all(-1).sum() == 150
    update(steps=2, shift=10, tilt=0, turn=0)  # above 0 they all are now, and stay as they were drawn
    assert (figure.axes[0].collections[-1].get_facecolors() == 1).all(-1).sum() == 150
    assert [axes.get_title() for axes in figure.axes] == [
        "LayerNorm: (x − μ) / σ, shift 10",
        "RMSNorm: x / RMS, shift 10",
    ]


def test_the_titles_say_what_has_been_done(figure):
    update = circle_and_sphere(figure)
    titles = []
    for steps in (0, 0.3, 1, 1.1, 2):
        update(steps=steps, shift=0, **FRONT)
        titles.append([axes.get_title().split(", ")[0] for axes in figure.axes])
    assert titles[0] == ["LayerNorm: x", "RMSNorm: x"]
    assert titles[1] == titles[2] == ["LayerNorm: x − μ", "RMSNorm: x"]
    assert titles[3] == titles[4] == ["LayerNorm: (x − μ) / σ", "RMSNorm: x / RMS"]


def test_the_right_guess_is_what_a_shift_does_to_rms_norms_outputs():
    shown = panel()
    guess, seen = shown.prediction, []
    for shift in (0, 10):
        shown.move(steps=2, shift=shift)
        distance, widest, median = re.search(
            r"RMSNorm: distance (.+), angle .+ to (\d+)°, median (\d+)", shown.line
        ).groups()
        seen.append((distance, int(widest), int(median)))
    assert guess.right == "pole"
    assert seen[0] == ("1.73", 174, 90)
    distance, widest, median = seen[1]
    assert distance == "1.73"
    assert widest < 20
    assert f"within {median}°" in str(guess.explanation)
