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
