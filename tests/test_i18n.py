import pytest

from blocklab_course import i18n
from blocklab_course.i18n import Text


@pytest.fixture(autouse=True)
def english_afterwards():
    yield
    i18n.set_language("en")


def test_a_text_is_shown_in_the_chosen_language():
    text = Text(en="mean", zh="均值")
    i18n.set_language("zh")
    assert str(text) == "均值"
    i18n.set_language("en")
    assert str(text) == "mean"


def test_placeholders_are_filled_in_the_chosen_language():
    text = Text(en="{moved} of {total} move", zh="{total} 个中有 {moved} 个改变")
    i18n.set_language("zh")
    assert text.format(moved=18, total=72) == "72 个中有 18 个改变"


def test_english_is_the_language_before_any_choice():
    assert i18n.get_language() == "en"


@pytest.mark.parametrize("unknown", ["fr", "ZH", "", None])
def test_an_unknown_language_is_refused_and_changes_nothing(unknown):
    i18n.set_language("zh")
    with pytest.raises(ValueError, match=r"to be one of 'en', 'zh', got"):
        i18n.set_language(unknown)
    assert i18n.get_language() == "zh"


def test_a_missing_twin_is_refused():
    with pytest.raises(TypeError, match="zh"):
        Text(en="mean")
    with pytest.raises(ValueError, match="expected zh not to be empty"):
        Text(en="mean", zh=" ")
    with pytest.raises(TypeError, match="expected zh to be a str, got int"):
        Text(en="mean", zh=3)


def test_equal_texts_are_one_key():
    assert len({Text(en="a", zh="甲"): 1, Text(en="a", zh="甲"): 2}) == 1


def test_a_language_spoken_for_a_while_is_taken_back_also_after_an_error():
    text = Text(en="mean", zh="均值")
    with i18n.use_language("zh"):
        assert str(text) == "均值"
    assert str(text) == "mean"
    with pytest.raises(KeyError), i18n.use_language("zh"):
        raise KeyError(str(text))
    assert i18n.get_language() == "en"


def test_an_unknown_language_is_not_spoken():
    with pytest.raises(ValueError, match="got 'fr'"), i18n.use_language("fr"):
        pass
    assert i18n.get_language() == "en"
