import numpy as np
import pytest
from matplotlib.colors import to_hex

from blocklab_course.lessons.positional_encoding.diverging_colormap import WAVE
from blocklab_course.panel.palette import PAPER

GREY = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue are to the eye


def test_0_is_white_and_the_colours_grow_darker_to_both_sides():
    brightness = WAVE(np.arange(256))[:, :3] @ GREY
    assert WAVE(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.02)
    assert (np.diff(brightness[:128]) > 0).all()
    assert (np.diff(brightness[128:]) < 0).all()


def test_no_colour_is_the_paper_which_is_dark_in_a_dark_theme():
    assert PAPER not in {to_hex(WAVE(place)) for place in range(256)}


def test_grey_print_tells_the_ends_apart():
    least, most = WAVE([0.0, 1.0])[:, :3] @ GREY
    assert most - least > 0.4
