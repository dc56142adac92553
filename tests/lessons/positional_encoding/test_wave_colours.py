import numpy as np
import pytest

from blocklab.lessons.positional_encoding.wave_colours import WAVE

GREY = np.array([0.299, 0.587, 0.114])  # how bright red, green and blue are to the eye


def test_0_is_white_and_the_colours_grow_darker_to_both_sides():
    brightness = WAVE(np.arange(256))[:, :3] @ GREY
    assert WAVE(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.02)
    assert (np.diff(brightness[:128]) > 0).all()
    assert (np.diff(brightness[128:]) < 0).all()


def test_grey_print_tells_the_ends_apart():
    least, most = WAVE([0.0, 1.0])[:, :3] @ GREY
    assert most - least > 0.4
