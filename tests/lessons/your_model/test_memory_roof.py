import pytest

from blocklab_course.lessons.your_model.memory_roof import (
    ABOVE_NAMES,
    MACHINES,
    READING,
    SIZES,
    bytes_per_token,
    panel,
    tokens_per_second,
)
from blocklab_course.panel.numbers import short_number


def test_the_bound_is_bandwidth_by_bytes():
    assert bytes_per_token("8B", 4) == 4e9
    assert tokens_per_second(100, "8B", 4) == 25  # the exercise
    assert tokens_per_second(90, "1B", 16) == 45 > tokens_per_second(4800, "70B", 16) == pytest.approx(34.3, abs=0.05)
    assert [tokens_per_second(400, "8B", bits) for bits in (16, 8, 4)] == [25, 50, 100]  # a closing question


def test_the_machines_are_computed_from_width_and_clock():
    known = {str(name): bandwidth for bandwidth, name in MACHINES}
    assert known["phone"] == round(64 / 8 * 9.6)
    assert known["laptop"] == round(128 / 8 * 5.6)
    assert known["RTX 4090"] == 384 / 8 * 21


def test_smollm2_has_the_numbers_that_are_said():
    assert SIZES["135M"] * 1e9 == 134515008
    assert round(134515008 * 4 / 1e6) == 538
    assert 4 < READING < 4.5


def test_the_dot_stands_on_the_line_wherever_the_controls_stand():
    shown = panel()
    for model in range(len(SIZES)):
        for bits in range(3):
            with shown.at_state([20, model, bits]) as (canvas, line):
                axes = canvas.figure.axes[0]
                [dot] = [each for each in axes.lines if each.get_marker() == "o"]
                (x,), (y,) = dot.get_data()
                assert y == pytest.approx(tokens_per_second(x, list(SIZES)[model], (16, 8, 4)[bits]))
                assert axes.get_ylim()[0] < ABOVE_NAMES < y < axes.get_ylim()[1]
                assert f"no more than {short_number(y)} tokens" in line
    shown.close()
