import pytest

from blocklab_course import i18n
from blocklab_course.i18n import Text

pytestmark = pytest.mark.usefixtures("english_again")


def test_text_is_in_the_current_language():
    text = Text(en="{moved} of {total} move", zh="{total} 个中有 {moved} 个改变")
    i18n.set_language("zh")
    assert text.format(moved=18, total=72) == "72 个中有 18 个改变"
    i18n.set_language("en")
    assert str(text) == "{moved} of {total} move"


def test_english_is_the_default():
    assert i18n.get_language() == "en"


@pytest.mark.parametrize("unknown", ["fr", "ZH", "", None])
def test_unknown_language_changes_nothing(unknown):
    i18n.set_language("zh")
    with pytest.raises(ValueError, match=r"to be one of 'en', 'zh', got"):
        i18n.set_language(unknown)
    with pytest.raises(ValueError, match="to be one of"), i18n.use_language(unknown):
        pass
    assert i18n.get_language() == "zh"


def test_text_requires_both_languages():
    with pytest.raises(TypeError, match="zh"):
        Text(en="mean")
    with pytest.raises(ValueError, match="expected zh not to be empty"):
        Text(en="mean", zh=" ")
    with pytest.raises(TypeError, match="expected zh to be a str, got int"):
        Text(en="mean", zh=3)


def test_equal_texts_have_one_hash():
    assert len({Text(en="a", zh="甲"): 1, Text(en="a", zh="甲"): 2}) == 1


def test_use_language_restores_language_after_error():
    text = Text(en="mean", zh="均值")
    with i18n.use_language("zh"):
        assert str(text) == "均值"
    assert str(text) == "mean"
    with pytest.raises(KeyError), i18n.use_language("zh"):
        raise KeyError(str(text))
    assert i18n.get_language() == "en"
