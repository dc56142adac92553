import numpy as np
import pytest
import torch

from blocklab_course.lessons.layer_norm.trained_scales import BINS, panel, trained_scales
from blocklab_course.pretrained import minilm_layer_norms

GAMMAS = [value for name, value in minilm_layer_norms().items() if name.endswith("weight")]


def test_the_line_is_about_the_norm_that_is_chosen(figure):
    update = trained_scales([torch.tensor([0.5, 1.5, 1.25, 0.75]), torch.tensor([0.25, 0.5])])(figure)
    assert update(place=0, trained=True).startswith(
        "Norm 0: γ has mean 1.00 and lies between 0.50 and 1.50; 2 of 4 values are above"
    )
    assert "0 of 2 values" in update(place=1, trained=True)


def test_the_slider_ends_at_the_last_norm():
    assert panel(GAMMAS[:5]).controls["place"].ends() == (0, 4)


@pytest.mark.parametrize("place", range(13))
def test_the_histogram_holds_every_feature(figure, place):
    update = trained_scales(GAMMAS)(figure)
    for trained in (True, False):
        update(place=place, trained=trained)
        bars = figure.axes[1].patches[0].get_data().values
        assert bars.sum() == 384
        assert len(bars) == len(BINS) - 1


def test_before_training_nothing_of_what_it_makes_is_seen(figure):
    update = trained_scales(GAMMAS)(figure)
    assert update(place=3, trained=False) == "Before training every γ is 1."
    overview, histogram = figure.axes
    assert not any(lines.get_visible() for lines in overview.collections)
    assert all(np.all(np.array(line.get_ydata()) == 1) for line in overview.lines[1:])
    assert (histogram.patches[0].get_data().values > 0).sum() == 1
    assert panel(GAMMAS).values == {"trained": False, "place": 0}


def test_the_guess_is_judged_by_what_the_model_holds():
    below = torch.cat(GAMMAS) < 1
    assert below.float().mean() > 0.99
    assert panel(GAMMAS).prediction.right == "smaller"


def test_the_lesson_says_what_the_model_holds():
    means = [gamma.mean().item() for gamma in GAMMAS]
    assert len(GAMMAS) == 13
    assert all(0.5 < mean < 0.75 for mean in means)
    assert [gamma.max().item() > 1.3 for gamma in GAMMAS] == [place % 2 == 1 for place in range(13)]
    assert GAMMAS[-1].abs().min() < 0.005
