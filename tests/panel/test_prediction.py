"""A guess: what it refuses, that it is judged under the picture and moves nothing in it, and who is told."""

import numpy as np
import pytest

from blocklab_course import i18n
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider
from blocklab_course.panel.prediction import SKIPPED, YOUR_GUESS, notify, set_listener

GROWS, STAYS = Text(en="it grows", zh="变大"), Text(en="nothing", zh="不变")
TOLD = Text(en="Nothing: drag it.", zh="不变：拖一拖。")
GUESS = Prediction({GROWS: "grow", STAYS: "stay"}, right="stay", explanation=TOLD)


@pytest.fixture
def heard():
    """What the listener is told."""
    told = []
    set_listener(lambda *said: told.append(said))
    yield told
    set_listener(None)


def picture(figure):
    line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]

    def update(height):
        line.set_ydata([height, height])
        return f"height {height}."

    return update


def panel(guess=GUESS):
    return Panel(picture, (3, 2), guess=guess, height=Slider(0, 10, 1, value=3))


def guess(options=None, **changed):
    return Prediction({"a": 1, "b": 2} if options is None else options, **{"right": 1, "explanation": "a", **changed})


REFUSED = {
    "options a list": (
        lambda: guess(["a", "b"]),
        TypeError,
        r"Prediction wants a dict from labels to values, got \['a', 'b'\]",
    ),
    "no option": (lambda: guess({}), ValueError, "Prediction wants at least one option"),
    "one option": (lambda: guess({"a": 1}), ValueError, "Prediction wants at least two options, got {'a': 1}"),
    "option label": (lambda: guess({1: 1, 2: 2}), TypeError, "Prediction wants a Text or a str for a label, got 1"),
    "same label": (
        lambda: guess({"a": 1, Text("a", "甲"): 2}),
        ValueError,
        "Prediction wants another label .* 'a' twice",
    ),
    "same value": (
        lambda: guess({"a": 1, "b": 1}),
        ValueError,
        "Prediction wants another value for each option, got 1 twice",
    ),
    "None among them": (lambda: guess({"a": 1, "b": None}), ValueError, "options other than None"),
    "right none of them": (lambda: guess(right=3), ValueError, "one of its options to be right, got 3"),
    "right None": (lambda: guess(right=None), ValueError, "one of its options to be right, got None"),
    "right True for 1": (lambda: guess(right=True), ValueError, "to be right, got True"),
    "told a number": (
        lambda: guess(explanation=5),
        TypeError,
        "Prediction wants a Text or a str for an explanation, got 5",
    ),
    "told blank": (
        lambda: guess(explanation=" "),
        ValueError,
        "Prediction wants an explanation that says something, got ' '",
    ),
    "label a number": (lambda: guess(label=5), TypeError, "Prediction wants a Text or a str for a label, got 5"),
}


@pytest.mark.parametrize(("make", "error", "said"), REFUSED.values(), ids=REFUSED)
def test_is_refused(make, error, said):
    with pytest.raises(error, match=said) as raised:
        make()
    assert "\n" not in str(raised.value)


def test_the_right_option_is_judged_by_its_value():
    assert [GUESS.is_right(number) for number in (0, 1, SKIPPED)] == [False, True, False]
    nested = Prediction({"one": range(3, 4), "five": range(3, 8)}, right=range(3, 8), explanation=TOLD)
    assert [nested.is_right(number) for number in (0, 1)] == [False, True]
    assert (GUESS.right, GUESS.explanation) == ("stay", TOLD)


SAID = {
    "en": (
        "Your guess, “it grows”, is not right. Nothing: drag it.",
        "Your guess, “nothing”, is right. Nothing: drag it.",
        "Nothing: drag it.",
    ),
    "zh": ("你猜的是“变大”，没猜对。不变：拖一拖。", "你猜的是“不变”，猜对了。不变：拖一拖。", "不变：拖一拖。"),
}


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize(("chosen", "told"), SAID.items())
def test_what_is_said_of_each_option_and_of_none(chosen, told):
    i18n.set_language(chosen)
    assert [GUESS.feedback(choice) for choice in (0, 1, SKIPPED)] == list(told)
    spec = GUESS.spec()
    assert (spec["told"], spec["skipped"]) == (list(told[:2]), told[2])
    assert (spec["right"], spec["label"]) == (1, str(YOUR_GUESS))


def test_the_guess_moves_nothing():
    shown = panel()
    frame = shown.canvas.frame().copy()
    shown.answer(0)
    assert np.array_equal(shown.canvas.frame(), frame)
    assert shown.line == "height 3."
    assert shown.values == {"height": 3}
    assert [values for values, _ in shown.sweep()] == [{"height": 3}, {"height": 0}, {"height": 10}]


def test_only_the_first_answer_counts(heard):
    i18n.set_language("zh")
    shown = panel()
    i18n.set_language("en")
    for choice in (2, -2, None, True, 0, 1, SKIPPED):
        shown.answer(choice)
    assert shown.prediction.choice == 0
    assert heard == [(__name__, "it grows", False)]
    assert panel().prediction.choice is None


def test_whoever_skips_is_told_of_too(heard):
    panel().answer(SKIPPED)
    assert heard == [(__name__, None, None)]
    del heard[:]
    notify(
        "{}".format, Prediction({"6": 6, "44": 44}, right=44, explanation=TOLD), 1
    )  # a function that is in no module
    assert heard == [("", "44", True)]


def test_without_a_listener_nobody_is_told():
    set_listener(None)
    shown = panel()
    shown.answer(0)
    assert shown.prediction.choice == 0


def test_a_panel_has_one_guess_at_most():
    with pytest.raises(ValueError, match="one Guess at most, got 2"):
        Panel(picture, (3, 2), guess=GUESS, other=GUESS, height=Slider(0, 10, 1, value=3))


# In a plain panel


@pytest.mark.parametrize("answer", [
    lambda shown: setattr(shown.prediction.buttons, "index", 1),
    lambda shown: shown.view.question.children[-1].click(),
    lambda shown: shown.answer(1),
], ids=["button", "skip", "code"])  # fmt: skip
def test_until_it_is_answered_nothing_else_can_be_moved_by_hand(answer):
    shown = panel()
    height = shown.controls["height"]
    assert height.slider.disabled if shown.view else None
    assert "everything can be moved" in shown.view.explanation.value
    assert not shown.prediction.buttons.disabled
    answer(shown)
    assert (height.slider.disabled, height.box.disabled, shown.prediction.buttons.disabled) == (False, False, True)
    assert "drag it" in shown.view.explanation.value


def test_a_panel_that_is_shown_again_keeps_its_answer():
    shown = panel()
    shown.answer(1)
    shown.release()
    assert "is right" in shown.view.explanation.value
    assert not shown.controls["height"].slider.disabled
