import numpy as np
import pytest
import torch
import torch.nn.functional as F

from blocklab_course.panel.three_features import (
    EPS,
    RADIUS,
    angles,
    looking,
    on_the_way,
    three_number_tokens,
    wire_sphere,
)


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


def test_wires_lie_on_the_sphere():
    assert np.allclose(np.linalg.norm(wire_sphere(), axis=-1), RADIUS)
