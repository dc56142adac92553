"""How known mistakes are defined, and the errors for incomplete ones."""

import pytest

from blocklab_course.checks.case import Case
from blocklab_course.checks.engine import check_against
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import AnyError, exclusive, with_section, wrong
from blocklab_course.i18n import Text


def half(x):
    return x / 2


HINT = {"en": "You halve it.", "zh": "你把它减半了。"}


def adding(x, *, added=2):
    return x + added


def exercise(*mistakes):
    """Make an exercise whose recipe adds a number."""
    return Exercise(
        name="sum",
        recipe=adding,
        cases=(Case("one", {"x": 1}),),
        mistakes=mistakes,
        hint_line="",
    )


def test_mistake_replaces_named_steps():
    mistake = wrong("one-too-many", added=3).hint(**HINT)
    assert (mistake.id, mistake.replaces, mistake.shown_on) == ("one-too-many", {"added": 3}, None)
    assert (mistake.hint.en, mistake.hint.zh) == tuple(HINT.values())
    assert exercise(mistake).variant(mistake)(1) == 4


def test_mistake_may_replace_whole_recipe():
    mistake = wrong("halved", half).hint(**HINT)
    assert exercise(mistake).variant(mistake)(1) == 0.5
    assert not mistake.combines_with(wrong("one-too-many", added=3).hint(**HINT))


def test_step_may_be_named_like_a_parameter_of_wrong():
    assert wrong("x", id=1, whole=2).hint(**HINT).replaces == {"id": 1, "whole": 2}


def test_with_section_copies_shared_mistakes():
    mistake = wrong("halved", half).hint(**HINT, hint_line="x")
    one, other = Text(en="one", zh="一"), Text(en="other", zh="二")
    [here], [there] = with_section(one, mistake), with_section(other, mistake)
    assert (here.section, there.section, mistake.section) == (one, other, None)
    assert (here.id, here.hint, here.hint_line) == (mistake.id, mistake.hint, "x")


def test_exclusive_mistake_combines_with_no_other():
    beside = wrong("one-too-many", added=3).hint(**HINT)
    [mistake] = exclusive(adding, wrong("two-too-many", added=4).hint(**HINT))
    assert (mistake.id, mistake.hint.en) == ("two-too-many", beside.hint.en)
    assert exercise(mistake).variant(mistake)(1) == exercise(beside).variant(beside)(1) + 1
    assert not mistake.combines_with(beside)


def test_other_spelling_is_named_as_the_same_mistake():
    first = wrong("one-too-many", added=3).hint(**HINT, hint_line="x")
    second = first.spelled(lambda x: x + 3.5)
    assert (second.id, second.hint, second.hint_line) == (first.id, first.hint, first.hint_line)
    assert not second.combines_with(first)
    for number in (3, 3.5):
        assert check_against(exercise(first, second), lambda x, number=number: x + number).mistake == "one-too-many"


def stop(_x):
    raise AnyError


def test_any_error_stands_for_every_error_of_the_learners_code():
    stops = wrong("stops", stop).hint(**HINT)
    assert check_against(exercise(stops), lambda x: x.missing).mistake == "stops"
    assert check_against(exercise(stops), lambda x: None + x).mistake == "stops"
    assert check_against(exercise(stops), lambda x: x + 5).mistake is None


def test_any_error_does_not_stand_for_a_call_that_fails():
    stops = wrong("stops", stop).hint(**HINT)
    assert check_against(exercise(stops), lambda x, other: x).mistake != "stops"


@pytest.mark.parametrize("make", [lambda: wrong("idle"), lambda: wrong("both", half, added=3)])
def test_wrong_rejects_neither_or_both_replacements(make):
    with pytest.raises(TypeError, match="either steps"):
        make()


def test_exercise_rejects_mistakes_without_hint():
    with pytest.raises(TypeError, match="sum: mistakes without a hint: halved"):
        exercise(wrong("one-too-many", added=3).hint(**HINT), wrong("halved", half))
