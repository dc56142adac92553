"""How a known mistake is written down, and what is told to an author who leaves something out."""

import pytest

from blocklab_course.checks.case import Case
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, with_section, wrong
from blocklab_course.i18n import Text


def half(x):
    return x / 2


WORDS = {"en": "You halve it.", "zh": "你把它减半了。"}


def adding(x, *, added=2):
    return x + added


def exercise(*rows):
    """An exercise whose recipe adds a number."""
    return Exercise(
        name="sum",
        recipe=adding,
        cases=(Case("one", {"x": 1}),),
        mistakes=rows,
        hint_line="",
    )


def test_mistake_replaces_named_steps():
    row = wrong("one-too-many", added=3).hint(**WORDS)
    assert (row.id, row.replaces, row.shown_on) == ("one-too-many", {"added": 3}, None)
    assert (row.hint.en, row.hint.zh) == tuple(WORDS.values())
    assert exercise(row).variant(row)(1) == 4


def test_mistake_may_replace_whole_recipe():
    row = wrong("halved", half).hint(**WORDS)
    assert exercise(row).variant(row)(1) == 0.5
    assert not row.combines_with(wrong("one-too-many", added=3).hint(**WORDS))


def test_step_may_be_named_like_a_parameter_of_wrong():
    assert wrong("x", id=1, whole=2).hint(**WORDS).replaces == {"id": 1, "whole": 2}


def test_with_section_copies_shared_mistakes():
    row = wrong("halved", half).hint(**WORDS, hint_line="x")
    one, other = Text(en="one", zh="一"), Text(en="other", zh="二")
    [here], [there] = with_section(one, row), with_section(other, row)
    assert (here.section, there.section, row.section) == (one, other, None)
    assert (here.id, here.hint, here.hint_line) == (row.id, row.hint, "x")


def test_exclusive_mistake_combines_with_no_other():
    beside = wrong("one-too-many", added=3).hint(**WORDS)
    [row] = exclusive(adding, wrong("two-too-many", added=4).hint(**WORDS))
    assert (row.id, row.hint.en) == ("two-too-many", beside.hint.en)
    assert exercise(row).variant(row)(1) == exercise(beside).variant(beside)(1) + 1
    assert not row.combines_with(beside)


def test_mistake_may_name_input_that_shows_it():
    assert wrong("halved", half).hint(**WORDS, shown_on="one").shown_on == "one"


@pytest.mark.parametrize("row", [lambda: wrong("idle"), lambda: wrong("both", half, added=3)])
def test_wrong_rejects_neither_or_both_replacements(row):
    with pytest.raises(TypeError, match="either steps"):
        row()


def test_exercise_rejects_mistakes_without_hint():
    with pytest.raises(TypeError, match="sum: mistakes without a hint: halved"):
        exercise(wrong("one-too-many", added=3).hint(**WORDS), wrong("halved", half))
