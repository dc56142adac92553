import re

import pytest
import torch

from blocklab import dyt
from blocklab_course.lessons.transformer_layers.random_stacks import DEEPEST, mean_cosine, measured
from blocklab_course.lessons.transformer_layers.your_stack import stacked, told


def sandwich(x, attention, feed_forward, first, second, third, fourth):
    x = x + second(attention(first(x)))
    return x + fourth(feed_forward(third(x)))


def pre_norm(x, attention, feed_forward, first, _second, third, _fourth):
    x = x + attention(first(x))
    return x + feed_forward(third(x))


def test_a_pre_norm_layer_gives_what_the_panel_shows():
    seen = measured(DEEPEST, "pre")
    with torch.no_grad():
        found = stacked(pre_norm)
    assert found.square().mean((1, 2, 3)).sqrt().tolist() == pytest.approx(seen.rms[-1].tolist(), rel=1e-3)
    assert mean_cosine(found).mean(1).tolist() == pytest.approx(seen.cosine[-1].tolist(), rel=1e-2)


def dyt_for_norms(x, attention, feed_forward, *_norms):
    x = x + attention(dyt(x, 0.5))
    return x + feed_forward(dyt(x, 0.5))


def on_from_the_normalized(x, attention, feed_forward, first, _second, third, _fourth):
    x = first(x)
    x = x + attention(x)
    x = third(x)
    return x + feed_forward(x)


def test_a_stream_that_starts_from_the_normalized_x_stays_small_and_its_tokens_become_alike():
    assert "RMS 1.2, mean cosine 1.00" in told(on_from_the_normalized)


def test_the_lesson_says_what_is_told():
    assert told(sandwich) == "48 of these layers: RMS 9.6, mean cosine 0.92"
    assert "5.8, mean cosine 0.85" in told(pre_norm)
    assert "3.5, mean cosine 0.71" in told(dyt_for_norms)


@pytest.mark.parametrize("layer", [lambda *parts: ..., lambda x, *parts: x[0]])
def test_until_it_is_written_the_right_one_is_told_and_said_so(layer):
    assert re.match("Yours gives no tensor .* the right one: RMS 9.6, mean cosine 0.92", told(layer))
