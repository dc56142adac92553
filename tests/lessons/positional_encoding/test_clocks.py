import math
import re

import numpy as np
import pytest

from blocklab_course.lessons.positional_encoding.clocks import clocks, panel, similarities


def mean_of_cosines(distance, base, pairs):
    return sum(math.cos(distance * base ** (-i / pairs)) for i in range(pairs)) / pairs


def hands(figure):
    """The angle of every hand in turns from twelve, clockwise: blue ones and orange ones."""
    face = figure.axes[0]
    moving = [lines for lines in face.collections if lines.get_animated() and hasattr(lines, "get_segments")]
    tips = [np.array([end - start for start, end in lines.get_segments()]) for lines in moving]
    return [np.arctan2(tip[:, 0], tip[:, 1]) / (2 * math.pi) % 1 for tip in tips]


@pytest.mark.parametrize("base", [1.0, 10**0.5, 10000.0, 100000.0])
@pytest.mark.parametrize("d_model", [16, 64])
def test_similarity_is_the_mean_of_the_cosines(base, d_model):
    by_hand = [mean_of_cosines(distance, base, d_model // 2) for distance in range(129)]
    for position in (0, 500):
        assert similarities(base, d_model, position=position) == pytest.approx(by_hand, abs=1e-12)


def test_numbers_of_the_lesson(figure):
    update = clocks(figure)
    assert "distance 44, similarity 0.9998. Most alike, of all distances from 1 to 128: 44, with 0.9998" in update(
        position=0, shift=44, base=1.0
    )
    assert "distance 22, similarity −1.0000" in update(position=0, shift=22, base=1.0)
    assert "distance 6, similarity 0.9602" in update(position=0, shift=6, base=1.0)
    assert "128: 1, with 0.9356" in update(position=0, shift=44, base=10000.0)
    assert similarities(10000.0)[[3, 6]] == pytest.approx([0.6929, 0.8056], abs=5e-5)
    assert similarities(10000.0, 64, 512)[8:].max() < 0.71


def test_a_shift_turns_each_hand_alike_from_everywhere(figure):
    update = clocks(figure)
    lines, turned = set(), []
    for position in (0, 1, 250, 500):
        lines.add(update(position=position, shift=10, base=10000.0).split("distance")[1])
        first, second = hands(figure)
        turned.append((second - first) % 1)
    assert len(lines) == 1
    by_hand = [10 * 10000 ** (-i / 8) / (2 * math.pi) % 1 for i in range(8)]
    for angles in turned:
        assert angles == pytest.approx(by_hand, abs=1e-9)


def test_hands_start_at_twelve_and_go_clockwise(figure):
    update = clocks(figure)
    update(position=0, shift=1, base=1.0)
    first, second = hands(figure)
    assert first == pytest.approx([0] * 8)
    assert second == pytest.approx([1 / (2 * math.pi)] * 8)


@pytest.mark.parametrize("shift", [0, 3, 10, 44])
def test_the_grey_sector_is_the_angle_without_whole_turns(figure, shift):
    clocks(figure)(position=5, shift=shift, base=1.0)
    wide = [(sector.theta2 - sector.theta1) % 360 for sector in figure.axes[0].patches]
    assert wide == pytest.approx([math.degrees(shift) % 360] * 8, abs=1e-6)


def test_numbers_below_the_clocks(figure):
    clocks(figure)(position=500, shift=128, base=10000.0)
    texts = [text.get_text() for text in figure.axes[0].texts]
    for k in (500, 628):
        row = [wave(k * 10000 ** (-i / 8)) for i in range(8) for wave in (math.sin, math.cos)]
        written = [f"{round(number, 2) + 0.0:.2f}".replace("-", "−") for number in row]
        assert any(texts[i : i + 16] == written for i in range(len(texts)))
    assert [text for text in ("6.3", "19.9", "62.8", "199", "628", "1987", "6283", "19869") if text not in texts] == []
    assert "−0.00" not in texts


def test_the_right_guess_is_the_position_that_the_ring_marks():
    shown = panel()
    guess = shown.prediction
    shown.move(base=1.0, shift=guess.right)
    best, most = re.search(r"from 1 to 128: (\d+), with ([\d.]+)\.", shown.line).groups()
    assert guess.right == int(best)
    assert f"similarity {most}" in str(guess.explanation)
