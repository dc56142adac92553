"""What is said of an answer that is one number: nothing of inputs that there are not."""

import pytest

from blocklab_course import check
from blocklab_course.i18n import use_language


@pytest.mark.parametrize(("language", "told"), [("en", "Right: batch size = 64."), ("zh", "正确：批量大小 = 64。")])
def test_right_number_is_named(language, told):
    with use_language(language):
        assert check("values_per_mean", 64).messages == (told,)


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "Not right yet, and not a mistake I know."), ("zh", "还不对，但我认不出这是哪一种错误。")],
)
def test_wrong_number_mentions_no_difference(language, told):
    with use_language(language):
        assert check("values_per_mean", 5).messages == (told,)


def test_function_exercise_counts_inputs_and_shows_first_difference():
    assert "Inputs tried" in check("round_up", lambda n, multiple_of: -(-n // multiple_of) * multiple_of).messages[0]
    assert "the first difference" in check("round_up", lambda n, multiple_of: 7).messages[0]
