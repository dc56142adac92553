"""A guess: what it refuses, that it is judged under the picture and moves nothing in it, and who is told."""

import numpy as np
import pytest

from blocklab import language
from blocklab.language import LANGUAGES, Text
from blocklab.panel import Guess, Panel, Slider
from blocklab.panel.guess import SKIPPED, report, report_to

GROWS, STAYS = Text(en="it grows", zh="变大"), Text(en="nothing", zh="不变")
TOLD = Text(en="Nothing: drag it.", zh="不变：拖一拖。")
GUESS = Guess({GROWS: "grow", STAYS: "stay"}, right="stay", told=TOLD)


@pytest.fixture
def heard():
    """What the listener is told."""
    told = []
    report_to(lambda *said: told.append(said))
    yield told
    report_to(None)


def picture(figure):
    line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]

    def update(height):
        line.set_ydata([height, height])
        return f"height {height}."

    return update


def panel(guess=GUESS):
    return Panel(picture, (3, 2), guess=guess, height=Slider(0, 10, 1, value=3))


def guess(options=None, **changed):
    return Guess({"a": 1, "b": 2} if options is None else options, **{"right": 1, "told": "a", **changed})


REFUSED = {
    "options a list": (
        lambda: guess(["a", "b"]),
        TypeError,
        r"Guess wants a dict from labels to values, got \['a', 'b'\]",
    ),
    "no option": (lambda: guess({}), ValueError, "Guess wants at least one option"),
    "one option": (lambda: guess({"a": 1}), ValueError, "Guess wants at least two options, got {'a': 1}"),
    "option label": (lambda: guess({1: 1, 2: 2}), TypeError, "Guess wants a Text or a str for a label, got 1"),
    "same label": (lambda: guess({"a": 1, Text("a", "甲"): 2}), ValueError, "Guess wants another label .* 'a' twice"),
    "same value": (
        lambda: guess({"a": 1, "b": 1}),
        ValueError,
        "Guess wants another value for each option, got 1 twice",
    ),
    "None among them": (lambda: guess({"a": 1, "b": None}), ValueError, "options other than None"),
    "right none of them": (lambda: guess(right=3), ValueError, "one of its options to be right, got 3"),
    "right None": (lambda: guess(right=None), ValueError, "one of its options to be right, got None"),
    "right True for 1": (lambda: guess(right=True), ValueError, "to be right, got True"),
    "told a number": (lambda: guess(told=5), TypeError, "Guess wants a Text or a str for a sentence told, got 5"),
    "told blank": (lambda: guess(told=" "), ValueError, "Guess wants a sentence told that says something, got ' '"),
    "label a number": (lambda: guess(label=5), TypeError, "Guess wants a Text or a str for a label, got 5"),
    "moved elsewhere": (lambda: panel().move(guess="shrink"), ValueError, "Guess wants one of 'grow', 'stay', or None"),
}


@pytest.mark.parametrize(("make", "error", "said"), REFUSED.values(), ids=REFUSED)
def test_is_refused(make, error, said):
    with pytest.raises(error, match=said) as raised:
        make()
    assert "\n" not in str(raised.value)


def test_the_right_option_is_judged_by_its_value():
    assert [GUESS.judge(number) for number in (0, 1, SKIPPED)] == [False, True, False]
    nested = Guess({"one": range(3, 4), "five": range(3, 8)}, right=range(3, 8), told=TOLD)
    assert [nested.judge(number) for number in (0, 1)] == [False, True]
    assert (GUESS.right, GUESS.told) == ("stay", TOLD)


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("chosen", LANGUAGES)
def test_the_line_says_the_judgement_in_the_panels_language(chosen):
    language.choose(chosen)
    shown = panel()
    language.choose("en")
    assert shown.line == "height 3."
    shown.move(guess="grow")
    assert (
        shown.line
        == {
            "en": "height 3. Your guess, “it grows”, is not right. Nothing: drag it.",
            "zh": "height 3. 你猜的是“变大”，没猜对。 不变：拖一拖。",
        }[chosen]
    )
    shown.move(guess="stay", height=4)
    assert (
        shown.line
        == {
            "en": "height 4. Your guess, “nothing”, is right. Nothing: drag it.",
            "zh": "height 4. 你猜的是“不变”，猜对了。 不变：拖一拖。",
        }[chosen]
    )
    shown.reset()
    assert shown.line == "height 3."


def test_the_guess_is_shown_as_buttons_and_moves_nothing_in_the_picture():
    shown = panel()
    frame = shown.canvas.frame().copy()
    shown.view.bar.children[0].children[-1].index = 1
    assert "is right" in shown.view.line.value
    assert np.array_equal(shown.canvas.frame(), frame)
    assert shown.values == {"height": 3}
    assert [values for values, _ in shown.sweep()] == [{"height": 3}, {"height": 0}, {"height": 10}]


@pytest.mark.usefixtures("english_again")
def test_the_listener_is_told_what_was_chosen_in_english(heard):
    language.choose("zh")
    shown = panel()
    for value in ("grow", "stay", None):
        shown.move(guess=value)
    assert heard == [(__name__, "it grows", False), (__name__, "nothing", True)]
    del heard[:]
    report(picture, GUESS, SKIPPED)
    report("{}".format, Guess({"6": 6, "44": 44}, right=44, told=TOLD), 1)  # a function that is in no module
    assert heard == [(__name__, None, None), ("", "44", True)]


def test_without_a_listener_nobody_is_told():
    report_to(None)
    shown = panel()
    shown.move(guess="grow")
    assert "is not right" in shown.line
