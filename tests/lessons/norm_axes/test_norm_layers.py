"""What the main panel of lesson 02 says of the layers is what they do."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from matplotlib.collections import PathCollection
from matplotlib.colors import same_color
from torch.testing import assert_close

from blocklab.normalization import standardize
from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.lessons.norm_axes.norm_layers import LAYERS
from blocklab_course.lessons.norm_axes.poke_one_number import drawn_tensor, panel, poke_one_number
from blocklab_course.panel.palette import MOVED


def moved(layer, x, cell, push=10.0):
    """Which outputs change when one input does."""
    pushed = x.clone()
    pushed.view(-1)[cell] += push
    return (layer.apply(x) != layer.apply(pushed)).numpy()


@pytest.mark.parametrize("key", LAYERS)
@pytest.mark.parametrize("samples", [1, 2, 3])
def test_the_outputs_that_move_are_the_group_of_the_formula(key, samples):
    layer, x = LAYERS[key], drawn_tensor(samples)
    groups = layer.groups(tuple(x.shape))
    for cell in range(36):
        assert np.array_equal(moved(layer, x, cell), groups == groups.flat[cell])


@pytest.mark.parametrize("key", LAYERS)
def test_the_call_that_is_written_out_is_the_function(key):
    x = drawn_tensor(2)
    written = eval(LAYERS[key].call, {"F": F, "x": x})
    assert_close(LAYERS[key].apply(x), written, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("key", "count"),
    {"batch": 18, "sample": 36, "instance": 9, "group 2": 18, "token": 4}.items(),
)
def test_as_many_of_72_outputs_move_as_the_lesson_says(key, count):
    assert moved(LAYERS[key], drawn_tensor(2), 13).sum() == count


def test_group_norm_moves_other_outputs_than_batch_norm():
    x = drawn_tensor(2)
    assert not np.array_equal(moved(LAYERS["group 2"], x, 13), moved(LAYERS["batch"], x, 13))


def test_batch_norm_of_one_sample_is_instance_norm():
    x = drawn_tensor(1)
    assert_close(LAYERS["batch"].apply(x), LAYERS["instance"].apply(x))


def test_with_two_values_only_their_order_survives():
    x = drawn_tensor(2)
    outputs = []
    for push in (10.0, 1000.0):
        pushed = x.clone()
        pushed.view(-1)[13] += push
        outputs.append(standardize(pushed, 0))
    assert_close(*outputs, rtol=0, atol=1e-6)
    assert_close(outputs[0][:, 1, 1, 1].abs(), torch.ones(2, dtype=torch.float64), rtol=0, atol=1e-6)


def test_a_push_that_leaves_their_order_hardly_moves_two_values():
    before, after, crossed = (standardize(torch.tensor([[1.0 + push], [3.0]]), 0) for push in (0, 1, 10))
    assert 0 < (after - before).abs().max() < 1e-4
    assert (crossed - before).abs().min() > 1.9


def test_the_line_counts_what_moved(figure):
    update = poke_one_number(figure)
    line = update(layer="batch", samples=2, cell=13, push=10, paint=False)
    assert line.startswith("BatchNorm: 18 of 72 outputs change, by ")
    assert line.endswith("Groups: 4, each of 18 numbers that share a mean.")
    still = update(layer="batch", samples=2, cell=13, push=0, paint=False)
    assert still == "BatchNorm: 0 of 72 outputs change."
    painted = update(layer="batch", samples=2, cell=13, push=0, paint=True)
    assert painted == "BatchNorm: 0 of 72 outputs change. Groups: 4, each of 18 numbers that share a mean."


def test_painted_blocks_that_rise_have_an_orange_outline(figure):
    update = poke_one_number(figure)
    update(layer="group 2", samples=2, cell=13, push=10, paint=True)
    blocks = next(c for axes in figure.axes for c in axes.collections if isinstance(c, PathCollection))
    orange = [same_color(edge, MOVED) for edge in blocks.get_edgecolors()]
    assert sum(orange) == 18 * 3  # faces
    update(layer="group 2", samples=2, cell=13, push=0, paint=True)
    assert not any(same_color(edge, MOVED) for edge in blocks.get_edgecolors())


def test_the_right_guess_is_how_many_outputs_of_batch_norm_move():
    shown = panel()
    guess = shown.prediction
    assert shown.values["layer"] == "batch"
    assert str(guess.right) not in shown.line
    for cell in (0, 13, 35):
        shown.move(push=10, cell=cell)
        assert shown.line.startswith(f"BatchNorm: {guess.right} of 72 outputs change")


def test_the_table_that_the_reader_fills_in_is_what_moves_in_the_picture():
    x = drawn_tensor(3)
    keys = ("batch", "sample", "instance", "group 2", "token")
    assert EXERCISES["outputs_that_move"].recipe() == tuple(int(moved(LAYERS[key], x, 13).sum()) for key in keys)
