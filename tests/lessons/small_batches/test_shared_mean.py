import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from torch import nn

from blocklab_course.i18n import use_language
from blocklab_course.lessons.small_batches.shared_mean import CHANNELS, SIDE, panel, shared_mean
from blocklab_course.panel.palette import GROUPS, STILL


def coloured(axes):
    """How many squares have each colour."""
    colours = [to_hex(colour) for colour in axes.collections[0].get_facecolor()]
    return {colour: colours.count(colour) for colour in dict.fromkeys(colours)}


@pytest.mark.parametrize("images", [2, 4, 6])
def test_the_numbers_of_one_channel_that_share_a_mean_have_a_colour(figure, images):
    shared_mean(figure)(images=images, two=False)
    for axes, side in zip(figure.axes, (1, SIDE), strict=True):
        m = images * side**2
        assert coloured(axes) == {GROUPS[0]: m, STILL: (CHANNELS - 1) * m}


@pytest.mark.parametrize("images", [2, 4, 6])
def test_each_of_two_gpus_has_a_colour_of_its_own(figure, images):
    shared_mean(figure)(images=images, two=True)
    for axes, side in zip(figure.axes, (1, SIDE), strict=True):
        m = images // 2 * side**2
        assert coloured(axes) == {GROUPS[0]: m, STILL: 2 * (CHANNELS - 1) * m, GROUPS[1]: m}
        names = [text.get_text() for text in axes.texts if text.get_visible()]
        assert names == ["GPU 1"] * (images // 2) + ["GPU 2"] * (images // 2)


def test_the_line_counts_what_torch_averages(figure):
    update = shared_mean(figure)
    x = torch.randn(4, CHANNELS, SIDE, SIDE)
    layer = nn.BatchNorm2d(CHANNELS, momentum=1)
    layer(x)
    m = 1 / (1 - (x[:, 0].var(correction=0) / layer.running_var[0]).item())
    assert round(m) == 64
    assert update(images=4, two=False) == (
        "Batch size 4: in channel 1, m = 4 numbers share a mean after the linear layer, and m = 4 · 4 · 4 = 64 after "
        "the convolution."
    )
    assert "each has 2 of the images, so m = 2 " in update(images=4, two=True)
    assert "m = 2 · 4 · 4 = 32 " in update(images=4, two=True)


def test_only_the_images_of_the_batch_are_named(figure):
    with use_language("zh"):
        shared_mean(figure)(images=4, two=False)
    names = [text.get_text() for text in figure.axes[1].texts if text.get_visible()]
    assert names == ["图 1", "图 2", "图 3", "图 4"]


def test_no_square_covers_another(figure):
    shared_mean(figure)(images=6, two=False)
    for axes, side in zip(figure.axes, (1, SIDE), strict=True):
        corners = np.array([path.vertices[0] for path in axes.collections[0].get_paths()])
        assert len(corners) == 6 * CHANNELS * side**2
        apart = np.abs(corners[:, None] - corners).max(-1) + np.eye(len(corners))
        assert apart.min() >= 1 / max(side, 2) - 1e-9


def test_the_panel_opens_with_two_images_on_one_gpu():
    assert panel().values == {"images": 2, "two": False}
