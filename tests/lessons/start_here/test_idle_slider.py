import pytest

from blocklab.language import Text
from blocklab.lessons.start_here.idle_slider import idle_slider


@pytest.mark.parametrize(("scale", "last"), [(1.0, "1.342"), (1e6, "1.342"), (1e-3, "0.447"), (1e-6, "0.000")])
def test_the_last_output_is_as_the_lesson_says(figure, scale, last):
    line = idle_slider(figure)(scale=scale, guess=None)
    assert line.endswith(f"the last output is {last}.")


def test_the_guess_is_repeated(figure):
    line = idle_slider(figure)(scale=1.0, guess=Text(en="they grow", zh="变长"))
    assert line.endswith("You said: they grow.")
