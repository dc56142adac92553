"""Predictions: feedback, the listener, and controls that are locked until the reader answers."""

import numpy as np
import pytest

from blocklab_course import i18n
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.prediction import SKIPPED, YOUR_GUESS, notify, set_listener

GROWS, STAYS = Text(en="it grows", zh="变大"), Text(en="nothing", zh="不变")
TOLD = Text(en="Nothing: drag it.", zh="不变：拖一拖。")
GUESS = Prediction({GROWS: "grow", STAYS: "stay"}, right="stay", explanation=TOLD)


@pytest.fixture
def heard():
    """The calls of the listener."""
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


def test_is_right_compares_values():
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


def around(shown):
    """What a saved picture of the panel has above and below it."""
    return shown._repr_mimebundle_()[1]["blocklab"].values()


RUN = {
    "en": ("What happens &amp; why?", "it grows", "Run this cell (Shift + Enter), then guess and drag", "height"),
    "zh": ("会怎样 &amp; 为什么？", "变大", "先运行这个单元格（Shift + Enter），再猜一猜、拖动滑块", "height"),
}


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize(("chosen", "said"), RUN.items())
def test_saved_picture_asks_the_question_and_says_how_to_begin(chosen, said):
    i18n.set_language(chosen)
    question = Text(en="What happens & why?", zh="会怎样 & 为什么？")
    shown = panel(Prediction({GROWS: 1, STAYS: 0}, right=0, explanation=TOLD, question=question))
    i18n.set_language("en")  # the panel keeps its own language
    above, below = around(shown)
    asked, option, run, slider = said
    assert asked in above
    assert option in above
    assert str(TOLD) not in above + below
    assert run in below
    assert slider in below


def test_saved_picture_without_a_question_or_a_slider_promises_neither():
    above, below = around(Panel(picture, (3, 2), height=Slider(0, 10, 1, value=3)))
    assert above == ""
    assert "then drag" in below
    above, below = around(Panel(picture, (3, 2), height=Choice({"low": 1, "high": 9}, value=1)))
    assert "then try it" in below
    assert "drag" not in below
    above, below = around(panel())
    assert "your guess" in above
    assert list(around(panel().still(height=9))) == ["", ""]


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize(("chosen", "told"), SAID.items())
def test_feedback_for_each_choice(chosen, told):
    i18n.set_language(chosen)
    assert [GUESS.feedback(choice) for choice in (0, 1, SKIPPED)] == list(told)
    spec = GUESS.spec()
    assert (spec["told"], spec["skipped"]) == (list(told[:2]), told[2])
    assert (spec["right"], spec["label"]) == (1, str(YOUR_GUESS))


def test_prediction_does_not_change_the_picture():
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


def test_listener_hears_skipped_predictions(heard):
    panel().answer(SKIPPED)
    assert heard == [(__name__, None, None)]
    del heard[:]
    notify("", Prediction({"6": 6, "44": 44}, right=44, explanation=TOLD), 1)
    assert heard == [("", "44", True)]


# In a plain panel


@pytest.mark.parametrize("answer", [
    lambda shown: setattr(shown.prediction.buttons, "index", 1),
    lambda shown: shown.view.question.row.children[-1].click(),
    lambda shown: shown.answer(1),
], ids=["button", "skip", "code"])  # fmt: skip
def test_controls_are_locked_until_the_prediction(answer):
    shown = panel()
    height = shown.controls["height"]
    assert height.slider.disabled if shown.view else None
    assert "unlock the controls" in shown.view.question.explanation.value
    assert not shown.prediction.buttons.disabled
    answer(shown)
    assert (height.slider.disabled, height.box.disabled, shown.prediction.buttons.disabled) == (False, False, True)
    assert "drag it" in shown.view.question.explanation.value


def test_released_panel_keeps_its_prediction():
    shown = panel()
    shown.answer(1)
    shown.release()
    assert "is right" in shown.view.question.explanation.value
    assert not shown.controls["height"].slider.disabled
