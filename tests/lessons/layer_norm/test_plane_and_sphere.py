import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from blocklab_course.lessons.layer_norm.plane_and_sphere import TOKEN, panel, plane_and_sphere
from blocklab_course.panel.three_features import EPS

FRONT = {"tilt": 25, "turn": 20}


def marked_token(axes):
    """The bars of the marked token."""
    return [bar.get_height() for bar in axes.patches]


def test_the_bars_are_the_marked_token_on_its_way(figure):
    update = plane_and_sphere(figure)
    x = torch.tensor(TOKEN, dtype=torch.float64)
    for steps, wanted in ((0, x), (1, x - x.mean()), (2, F.layer_norm(x, (3,), eps=EPS))):
        update(steps=steps, **FRONT)
        assert marked_token(figure.axes[1]) == pytest.approx(wanted.tolist())
        assert figure.axes[1].texts[-1].get_text() == f"mean {wanted.mean().abs():.2f}"


def test_titles_say_what_has_been_done(figure):
    update = plane_and_sphere(figure)
    titles = []
    for steps in (0, 0.3, 1, 1.1, 2):
        update(steps=steps, **FRONT)
        titles.append([axes.get_title().split(": ")[1] for axes in figure.axes])
    assert titles == [[done, done] for done in ("x", "x − μ", "x − μ", "(x − μ) / σ", "(x − μ) / σ")]


def test_seen_from_the_side_step_one_drops_all_points_onto_a_line(figure):
    plane_and_sphere(figure)(steps=1, tilt=0, turn=20)
    space = figure.axes[0]
    points = space.collections[-1].get_offsets()
    assert len(points) == 301
    assert np.abs(points[:, 1]).max() < 1e-9
    assert np.ptp(points[:, 0]) > 1
    path, marked = space.lines[-2:]
    assert np.ptp(path.get_xdata()) < 1e-9  # straight down, in the direction of the diagonal
    assert np.ptp(path.get_ydata()) > 0.1
    assert marked.get_ydata() == pytest.approx(0, abs=1e-9)


def test_seen_from_above_step_two_moves_a_point_along_its_own_direction(figure):
    plane_and_sphere(figure)(steps=2, tilt=90, turn=20)
    path, marked = figure.axes[0].lines[-2:]
    start, foot, end = path.get_xydata()
    assert start == pytest.approx(foot)
    assert foot[0] * end[1] == pytest.approx(foot[1] * end[0], abs=1e-9)
    assert marked.get_xydata()[0] == pytest.approx(end)


def test_the_path_bends_where_it_reaches_the_plane(figure):
    plane_and_sphere(figure)(steps=2, tilt=0, turn=20)
    path, _marked = figure.axes[0].lines[-2:]
    high, foot, end = path.get_ydata()
    assert high > 0.1
    assert [foot, end] == pytest.approx([0, 0], abs=1e-9)


def test_the_plane_is_hidden_before_the_first_step(figure):
    update = plane_and_sphere(figure)
    [plane] = figure.axes[0].patches
    for steps in (0, 0.1, 2):
        update(steps=steps, **FRONT)
        assert plane.get_visible() == (steps > 0)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_every_point_is_inside_the_picture(figure, steps):
    plane_and_sphere(figure)(steps=steps, **FRONT)
    places = figure.axes[0].collections[-1].get_offsets()
    assert np.abs(places[:, 1]).max() < 1
    assert np.abs(places[:, 0]).max() < 1.3


def test_the_right_guess_is_the_shape_of_the_outputs():
    shown = panel()
    guess = shown.prediction
    shown.move(steps=2)
    distance, angle = re.search(r"origin: (.+); angle to the diagonal: (.+?)\. The", shown.line).groups()
    on_a_sphere, in_a_plane = ("to" not in each for each in (distance, angle))
    shapes = {(True, True): "circle", (True, False): "sphere", (False, True): "disc", (False, False): "ball"}
    assert guess.right == shapes[on_a_sphere, in_a_plane]
    assert f"{distance} from the origin, at {angle} to" in str(guess.explanation)
