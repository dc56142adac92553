import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from blocklab.normalization import standardize
from blocklab_course.lessons.norm_axes.axis_painter import CALLS, LAYOUTS, SIZES, axis_painter, group_numbers


def sizes(layout):
    return [SIZES[letter] for letter in layout.split()]


@pytest.mark.parametrize(("layout", "averaged"), CALLS)
def test_the_call_that_is_written_out_averages_over_those_axes(layout, averaged):
    x = torch.randn(sizes(layout), dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    axes = [layout.split().index(letter) for letter in averaged.split()]
    assert_close(eval(CALLS[layout, averaged], {"F": F, "x": x}), standardize(x, axes), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_values_of_a_group_are_those_with_one_mean(layout, axes):
    x = torch.randn(sizes(layout), generator=torch.Generator().manual_seed(0))
    groups = group_numbers(sizes(layout), axes)
    means = x.mean(axes, keepdim=True).expand(x.shape).numpy()
    assert np.array_equal(groups[..., None] == groups.ravel(), means[..., None] == means.ravel())


def test_the_line_counts_the_means(figure):
    update = axis_painter(figure)
    line = update(layout="N H W C", axis_0=True, axis_1=True, axis_2=True, axis_3=False)
    assert line.startswith("Averaging (N, H, W, C) over N, H, W. Means: 4, numbers in each: 18.")
    assert "movedim" in line


def test_an_axis_that_the_layout_lacks_is_ignored(figure):
    update = axis_painter(figure)
    line = update(layout="N d", axis_0=True, axis_1=False, axis_2=True, axis_3=True)
    assert line.startswith("Averaging (N, d) over N. Means: 4, numbers in each: 2.")


def test_no_axis_means_that_every_number_is_its_own_mean(figure):
    update = axis_painter(figure)
    line = update(layout="N d", axis_0=False, axis_1=False, axis_2=False, axis_3=False)
    assert line == "Averaging (N, d) over no axis. Means: 8, numbers in each: 1. In torch: no layer of its own"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_trailing_axes_always_have_a_layer(layout):
    letters = layout.split()
    for start in range(len(letters)):
        averaged = " ".join(letters[start:])
        assert (layout, averaged) in CALLS


def test_the_lists_of_layouts_agree():
    assert {layout for layout, _ in CALLS} == set(LAYOUTS)
