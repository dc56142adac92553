from itertools import pairwise

import pytest

from blocklab_course.lessons.start_here.idle_slider import GUESS, idle_slider


@pytest.mark.parametrize(("scale", "last"), [(1.0, "1.342"), (1e6, "1.342"), (1e-3, "0.447"), (1e-6, "0.000")])
def test_the_last_output_is_as_the_lesson_says(figure, scale, last):
    line = idle_slider(figure)(scale=scale)
    assert line.endswith(f"the last output is {last}.")


def test_the_right_guess_is_what_the_last_output_does(figure):
    update = idle_slider(figure)
    before, after = (float(update(scale=scale).rpartition(" ")[2].rstrip(".")) for scale in (1.0, 1e6))
    assert GUESS.right == ("grow" if after > before else "shrink" if after < before else "stay")
    assert f"{after}" in str(GUESS.explanation)


def test_the_numbers_stand_apart_above_their_dots(figure):
    figure.set_size_inches(10, 3.6)
    update = idle_slider(figure)
    axes = figure.axes[0]
    for power in range(-24, 25):  # the stops of the lesson's slider
        update(scale=10 ** (power / 4))
        boxes = [text.get_window_extent() for text in axes.texts]
        gaps = [right.x0 - left.x1 for left, right in pairwise(boxes)]
        assert min(gaps) > 3, power
        assert all(box.y1 < axes.bbox.y1 for box in boxes), power
        dots = [axes.transData.transform((line.get_xdata()[0], line.get_ydata()[0]))[1] for line in axes.lines]
        assert all(box.y0 > dot + 8 for box, dot in zip(boxes, dots, strict=True)), power
