import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from blocklab_course.lessons.rms_norm.circle_and_sphere import (
    EPS,
    RADIUS,
    angles,
    circle_and_sphere,
    looking,
    on_the_way,
    panel,
    three_number_tokens,
    wire_sphere,
)

FRONT = {"tilt": 25, "turn": 20}


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_after_both_steps_the_points_are_what_the_layers_give(shift):
    x = three_number_tokens() + shift
    torch.testing.assert_close(on_the_way(x, 2, subtract=True), F.layer_norm(x, (3,), eps=EPS))
    torch.testing.assert_close(on_the_way(x, 2, subtract=False), F.rms_norm(x, (3,), eps=EPS))


def test_step_one_only_subtracts_the_mean():
    x = three_number_tokens()
    assert on_the_way(x, 0, subtract=True).equal(x)
    torch.testing.assert_close(on_the_way(x, 1, subtract=True), x - x.mean(-1, keepdim=True))
    assert on_the_way(x, 1, subtract=False).equal(x)
    torch.testing.assert_close(on_the_way(x, 0.5, subtract=True).mean(-1), x.mean(-1) / 2)


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


def test_the_tokens_are_spread_over_the_normal_distribution():
    tokens = three_number_tokens()
    assert tokens.shape == (300, 3)
    torch.testing.assert_close(tokens.std(0), torch.ones(3).double(), atol=0.03, rtol=0)
    torch.testing.assert_close(tokens.mean(0), torch.zeros(3).double())
    assert angles(torch.tensor([[2.0, 2, 2], [-1, -1, -1], [1, -1, 0]])).tolist() == pytest.approx(
        [0, 180, 90], abs=0.1
    )


@pytest.mark.parametrize(("tilt", "turn"), [(0, 0), (25, 20), (90, -180), (-40, 130)])
def test_the_eye_turns_without_stretching(tilt, turn):
    look = looking(tilt, turn)
    assert np.allclose(look @ look.T, np.eye(3))
    assert np.linalg.det(look) == pytest.approx(1)
    diagonal = look @ np.ones(3) / RADIUS
    assert diagonal == pytest.approx([0, np.cos(np.deg2rad(tilt)), np.sin(np.deg2rad(tilt))], abs=1e-12)


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
    assert [axes.get_title() for axes in figure.axes] == ["LayerNorm, shift 10", "RMSNorm, shift 10"]


def test_wires_lie_on_the_sphere():
    assert np.allclose(np.linalg.norm(wire_sphere(), axis=-1), RADIUS)


def test_the_right_guess_is_the_shape_of_layer_norms_outputs():
    shown = panel()
    guess = shown.prediction
    shown.move(steps=2)
    distance, angle = re.search(
        r"LayerNorm: distance from the origin (.+), angle to the diagonal (.+)\. RMSNorm", shown.line
    ).groups()
    on_a_sphere, in_a_plane = ("to" not in each for each in (distance, angle))
    shapes = {(True, True): "circle", (True, False): "sphere", (False, True): "disc", (False, False): "ball"}
    assert guess.right == shapes[on_a_sphere, in_a_plane]
    assert f"{distance} from the origin, at {angle} to" in str(guess.explanation)
