"""Errors of panels and controls: raised with a one-line message, before anything moves."""

import re
from fractions import Fraction

import numpy as np
import pytest
import torch

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider, Toggle

NAN = float("nan")


def picture(figure):
    line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]

    def update(**values):
        line.set_ydata([0, len(values)])
        return "a line"

    return update


def predict(options, right=1):
    return Prediction(options, right=right, explanation="a")


INVALID = {
    "step 0": (lambda: Slider(0, 10, 0, value=0), ValueError, "Slider: expected step > 0, got 0"),
    "start above stop": (lambda: Slider(10, 0, 1, value=5), ValueError, "expected start < stop, got 10 and 0"),
    "stop between steps": (lambda: Slider(0, 10, 4, value=0), ValueError, "steps of 4 from 0 to end at stop, got 10"),
    "log from 0": (lambda: Slider(0, 8, 2, value=0, log=True), ValueError, "start > 0 and step > 1 with log=True"),
    "log step 1": (lambda: Slider(1, 8, 1, value=1, log=True), ValueError, "start > 0 and step > 1 with log=True"),
    "log stop between steps": (lambda: Slider(1, 10, 2, value=1, log=True), ValueError, "to end at stop, got 10"),
    "value outside": (lambda: Slider(0, 10, 1, value=11), ValueError, "from 0 to 10 in steps of 1, got 11"),
    "value between steps": (lambda: Slider(0, 10, 2, value=3), ValueError, "steps of 2, got 3"),
    "value NaN": (lambda: Slider(0.0, 1.0, 0.1, value=NAN), ValueError, "got nan"),
    "value None": (lambda: Slider(0, 10, 1, value=None), TypeError, "a whole number .* got None"),
    "value True": (lambda: Slider(0, 1, 0.5, value=True), TypeError, "got True"),
    "value float for ints": (lambda: Slider(0, 10, 1, value=2.5), TypeError, r"a whole number .* got 2.5 \(float\)"),
    "log value below": (lambda: Slider(1, 8, 2, value=-1, log=True), ValueError, "in factors of 2, got -1"),
    "same label": (lambda: Choice({Text("a", "甲"): 1, Text("b", "甲"): 2}, 1), ValueError, "got '甲' twice"),
    "same value": (lambda: Choice({"a": 1, "b": 1}, 1), ValueError, "Choice: expected different values, got 1 twice"),
    "no such value": (lambda: Choice({"a": 1}, 2), ValueError, "Choice: expected one of 1 or None, got 2"),
    "True for 1": (lambda: Choice({"a": 1}, True), ValueError, "got True"),
    "other tensor": (lambda: Choice({"a": torch.zeros(2)}, torch.zeros(2)), ValueError, "got tensor"),
    "toggle 1": (lambda: Toggle(1), TypeError, "Toggle: expected True or False, got 1"),
    "option None": (lambda: predict({"a": 1, "b": None}), ValueError, "options other than None"),
    "right not an option": (lambda: predict({"a": 1, "b": 2}, 3), ValueError, "right to be one of .* got 3"),
    "right True for 1": (lambda: predict({"a": 1, "b": 2}, True), ValueError, "right to be one of .* got True"),
    "same value in prediction": (
        lambda: predict({"a": 1, "b": 1}),
        ValueError,
        "Prediction: expected different values",
    ),
    "no update": (lambda: Panel(lambda figure: None), TypeError, "to return its update function, got None"),
    "line None": (lambda: Panel(lambda figure: lambda: None), TypeError, "a non-empty str, got None"),
    "line blank": (lambda: Panel(lambda figure: lambda: " \n"), TypeError, "a non-empty str"),
    "not a control": (lambda: Panel(picture, height=3), TypeError, "expected height to be a control, got 3"),
    "misspelled control": (
        lambda: Panel(lambda figure: lambda height: "a line", heigth=Slider(0, 10, 1, value=3)),
        TypeError,
        "unexpected keyword argument 'heigth'",
    ),
    "two predictions": (
        lambda: Panel(picture, one=predict({"a": 1, "b": 2}), other=predict({"a": 1, "b": 2})),
        ValueError,
        "at most one Prediction, got 2",
    ),
}


@pytest.mark.parametrize(("make", "error", "message"), INVALID.values(), ids=INVALID)
def test_rejects_invalid_arguments(make, error, message):
    with pytest.raises(error, match=message) as raised:
        make()
    assert "\n" not in str(raised.value)


INVALID_MOVES = {
    "unknown name": (lambda p: p.move(heigth=2), TypeError, "move: expected names of controls .* got heigth"),
    "one valid, one unknown": (lambda p: p.move(height=2, other=1), TypeError, "got other"),
    "one valid, one invalid": (lambda p: p.move(height=2, flag=0), TypeError, "True or False, got 0"),
    "outside": (lambda p: p.move(height=11), ValueError, "from 0 to 10 in steps of 1, got 11"),
    "text": (lambda p: p.move(height="2"), TypeError, "got '2' .str."),
    "long array": (lambda p: p.move(tone=np.zeros((50, 50))), ValueError, "got array"),
    "label": (lambda p: p.move(tone="a"), ValueError, "got 'a'"),
    "value": (lambda p: setattr(p.controls["flag"], "value", "yes"), TypeError, "got 'yes'"),
}


@pytest.mark.parametrize(("move", "error", "message"), INVALID_MOVES.values(), ids=INVALID_MOVES)
def test_invalid_move_changes_nothing(move, error, message):
    panel = Panel(
        picture, (3, 2), height=Slider(0, 10, 1, value=3), tone=Choice({"a": 1, "b": 2}, None), flag=Toggle(False)
    )
    frame = bytes(panel.view.image.value)
    with pytest.raises(error, match=message) as raised:
        move(panel)
    assert "\n" not in str(raised.value)
    assert panel.values == {"height": 3, "tone": None, "flag": False}
    assert bytes(panel.view.image.value) == frame
    assert panel.controls["height"].slider.value == panel.controls["height"].box.value == 3


def test_choice_accepts_arrays_and_tensors():
    small, large, matrix = torch.zeros(2), torch.ones(2), np.ones((2, 2))
    panel = Panel(picture, (3, 2), tone=Choice({"small": small, "large": large, "matrix": matrix}, small))
    assert panel.view
    for number, value in ((1, large), (2, matrix), (0, small)):
        panel.move(tone=value)
        assert panel.values["tone"] is value
        assert panel.controls["tone"].buttons.index == number
        panel.controls["tone"].buttons.index = (number + 1) % 3
        assert panel.values["tone"] is (small, large, matrix)[(number + 1) % 3]


def test_slider_accepts_fractions_and_numpy_numbers():
    assert Slider(Fraction(0), Fraction(1), Fraction(1, 4), value=Fraction(1, 2)).default == 0.5
    slider = Slider(np.int64(0), np.int64(10), np.int64(2), value=np.int64(4))
    assert type(slider.at(1)) is int


def test_update_cannot_move_its_own_panel():
    def restless(_figure):
        def update(height):
            if height == 4:
                panel.move(height=5)
            return f"height {height}"

        return update

    panel = Panel(restless, (3, 2), height=Slider(0, 10, 1, value=3))
    message = "update must not move the controls of its own panel"
    with pytest.raises(RuntimeError, match=message):
        panel.move(height=4)
    assert message in panel.line
    panel.move(height=6)
    assert panel.line == "height 6"


@pytest.mark.parametrize("message", ["two\nlines", "<b>bold</b> & {braces}", "x" * 100_000])
def test_any_error_message_is_shown(message):
    def failing(_figure):
        def update(height):
            if height == 4:
                raise ValueError(message)
            return f"height {height}"

        return update

    panel = Panel(failing, (3, 2), height=Slider(0, 10, 1, value=3))
    assert panel.view
    with pytest.raises(ValueError, match=re.escape(message)):
        panel.move(height=4)
    assert message in panel.line
    assert "<b>" not in panel.view.line.value
    panel.move(height=5)
    assert panel.line == "height 5"
