"""What a panel and its controls refuse, in one line that says what was wanted and what came, before anything moves."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Slider, Toggle

NAN, INF = float("nan"), float("inf")


class Silent:
    """Its repr fails."""

    def __repr__(self):
        raise OSError("no repr")


def picture(figure):
    line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]

    def update(**values):
        line.set_ydata([0, len(values)])
        return "a line"

    return update


def says(*lines):
    return lambda figure: lambda **_: lines[0]


def of_two(_figure):
    return lambda height, tone=None: f"height {height}"


REFUSED = {
    # No number, or one that nothing can be made of
    "start None": (lambda: Slider(None, 1, 1, value=0), TypeError, "finite number for start, got None"),
    "stop text": (lambda: Slider(0, "10", 1, value=0), TypeError, "for stop, got '10'"),
    "step True": (lambda: Slider(0, 10, True, value=0), TypeError, "for step, got True"),
    "step NaN": (lambda: Slider(0, 10, NAN, value=0), TypeError, "for step, got nan"),
    "start -inf": (lambda: Slider(-INF, 10, 1, value=0), TypeError, "for start, got -inf"),
    "complex": (lambda: Slider(0, 1j, 1, value=0), TypeError, "for stop, got 1j"),
    "Decimal": (lambda: Slider(Decimal(0), 1, 1, value=0), TypeError, "got Decimal"),
    "a tensor": (lambda: Slider(torch.zeros(()), 1, 1, value=0), TypeError, r"got tensor\(0.\)"),
    "an array": (lambda: Slider(np.zeros((40, 40)), 1, 1, value=0), TypeError, "got array"),
    "a list": (lambda: Slider([0], 1, 1, value=0), TypeError, r"got \[0\]"),
    "no repr": (lambda: Slider(Silent(), 1, 1, value=0), TypeError, "got a Silent without a repr"),
    "a very large int": (lambda: Slider(0, 10**400, 1, value=0), TypeError, "for stop, got 1000"),
    "beyond a browser": (lambda: Slider(0, 2**60, 2**50, value=0), ValueError, r"up to 2\*\*53"),
    "beyond floats": (lambda: Slider(-1e308, 1e308, 1e307, value=0.0), ValueError, r"up to 2\*\*53"),
    # Stops that are none, do not fit or cannot be told apart
    "step 0": (lambda: Slider(0, 10, 0, value=0), ValueError, "step > 0, got 0"),
    "step negative": (lambda: Slider(0, 10, -1, value=0), ValueError, "step > 0, got -1"),
    "turned round": (lambda: Slider(10, 0, 1, value=5), ValueError, "start < stop, got 10 and 0"),
    "empty": (lambda: Slider(3, 3, 1, value=3), ValueError, "start < stop, got 3 and 3"),
    "stop between steps": (lambda: Slider(0, 10, 4, value=0), ValueError, "that steps of 4 from 0 reach, got 10"),
    "step too wide": (lambda: Slider(0, 10, 100, value=0), ValueError, "that steps of 100 from 0 reach, got 10"),
    "a million stops": (lambda: Slider(0.0, 1.0, 1e-9, value=0.0), ValueError, "at most 100000 stops"),
    "a tiny step": (lambda: Slider(0.0, 1.0, 5e-324, value=0.0), ValueError, "at most 100000 stops"),
    "dust of a step": (lambda: Slider(1e12, 1e12 + 1, 0.125, value=1e12), ValueError, "tells its stops apart"),
    "log from 0": (lambda: Slider(0, 8, 2, value=0, log=True), ValueError, "start > 0 and step > 1"),
    "log from below": (lambda: Slider(-8, 8, 2, value=1, log=True), ValueError, "start > 0 and step > 1"),
    "log step 1": (lambda: Slider(1, 8, 1, value=1, log=True), ValueError, "start > 0 and step > 1"),
    "log step below 1": (lambda: Slider(1, 8, 0.5, value=1, log=True), ValueError, "start > 0 and step > 1"),
    "log stop between": (lambda: Slider(1, 10, 2, value=1, log=True), ValueError, "reach, got 10"),
    "log step of dust": (lambda: Slider(1.0, 8.0, 1 + 1e-12, value=1.0, log=True), ValueError, "at most 100000 stops"),
    "log no bool": (lambda: Slider(1, 8, 2, value=1, log="yes"), TypeError, "True or False for log, got 'yes'"),
    "log 1": (lambda: Slider(1, 8, 2, value=1, log=1), TypeError, "True or False for log, got 1"),
    # The value it opens at
    "value outside": (lambda: Slider(0, 10, 1, value=11), ValueError, "from 0 to 10 in steps of 1, got 11"),
    "value between": (lambda: Slider(0, 10, 2, value=3), ValueError, "steps of 2, got 3"),
    "value NaN": (lambda: Slider(0.0, 1.0, 0.1, value=NAN), ValueError, "got nan"),
    "value inf": (lambda: Slider(0.0, 1.0, 0.1, value=INF), ValueError, "got inf"),
    "value huge": (lambda: Slider(0.0, 1.0, 0.1, value=10**400), ValueError, "got 1000"),
    "value None": (lambda: Slider(0, 10, 1, value=None), TypeError, "a whole number .* got None"),
    "value float for ints": (lambda: Slider(0, 10, 1, value=1.0), TypeError, "a whole number .* got 1.0"),
    "value array": (lambda: Slider(0.0, 1.0, 0.1, value=np.zeros(3)), TypeError, "got array"),
    "log value below": (lambda: Slider(1, 8, 2, value=-1, log=True), ValueError, "got -1"),
    # Labels
    "label number": (lambda: Slider(0, 1, 1, value=0, label=5), TypeError, "a Text or a str for a label, got 5"),
    "label bytes": (lambda: Toggle(True, b"on"), TypeError, "got b'on'"),
    "label empty": (lambda: Toggle(True, " "), ValueError, "a label that says something, got ' '"),
    "label True for log": (lambda: Slider(1, 9, 2, value=1, label=True), TypeError, "for a label, got True"),
    # Choices and toggles
    "options a list": (lambda: Choice(["a", "b"], "a"), TypeError, r"a dict from labels to values, got \['a', 'b'\]"),
    "options None": (lambda: Choice(None, None), TypeError, "a dict from labels to values, got None"),
    "no option": (lambda: Choice({}, None), ValueError, "at least one option"),
    "option label": (lambda: Choice({1: "a"}, "a"), TypeError, "for a label, got 1"),
    "option label empty": (lambda: Choice({"": 1}, 1), ValueError, "a label that says something"),
    "same label": (lambda: Choice({Text("a", "甲"): 1, Text("b", "甲"): 2}, 1), ValueError, "got '甲' twice"),
    "same value": (lambda: Choice({"a": 1, "b": 1}, 1), ValueError, "another value for each option, got 1 twice"),
    "no such value": (lambda: Choice({"a": 1}, 2), ValueError, "one of 1, or None for no choice, got 2"),
    "True for 1": (lambda: Choice({"a": 1}, True), ValueError, "got True"),
    "an array for a value": (lambda: Choice({"a": 1}, np.zeros(2)), ValueError, r"got array\(\[0., 0.\]\)"),
    "another tensor": (lambda: Choice({"a": torch.zeros(2)}, torch.zeros(2)), ValueError, "got tensor"),
    "toggle 1": (lambda: Toggle(1), TypeError, "True or False, got 1"),
    "toggle None": (lambda: Toggle(None), TypeError, "True or False, got None"),
    "toggle text": (lambda: Toggle("no"), TypeError, "True or False, got 'no'"),
    "toggle of numpy": (lambda: Toggle(np.True_), TypeError, "True or False, got"),
    # Panels
    "picture None": (lambda: Panel(None), TypeError, "a picture, a function .* got None"),
    "picture a figure": (lambda: Panel(3), TypeError, "a picture, a function .* got 3"),
    "picture gives None": (lambda: Panel(lambda figure: None), TypeError, "return its update function, got None"),
    "line None": (lambda: Panel(says(None)), TypeError, "a non-empty str, got None"),
    "line number": (lambda: Panel(says(3.5)), TypeError, "a non-empty str, got 3.5"),
    "line blank": (lambda: Panel(says(" \n")), TypeError, "a non-empty str"),
    "line bytes": (lambda: Panel(says(b"line")), TypeError, "got b'line'"),
    "line a Text": (lambda: Panel(says(Text("a", "甲"))), TypeError, "got Text"),
    "no control": (lambda: Panel(picture, height=3), TypeError, "a Slider, Choice, Toggle or Guess for height, got 3"),
    "a kind of control": (lambda: Panel(picture, height=Slider), TypeError, "for height, got <class"),
    "unknown control": (
        lambda: Panel(of_two, heigth=Slider(0, 10, 1, value=3), tone=Toggle(True)),
        TypeError,
        r"the picture's controls \(height, tone\), got heigth",
    ),
    "two unknown": (lambda: Panel(of_two, a=Toggle(True), b=Toggle(True)), TypeError, "got a, b$"),
    "a control of none": (
        lambda: Panel(lambda figure: lambda: "a line", a=Toggle(True)),
        TypeError,
        r"\(none\), got a$",
    ),
    "size one number": (lambda: Panel(picture, 5), TypeError, "a size of two numbers, .* got 5"),
    "size three": (lambda: Panel(picture, (1, 2, 3)), TypeError, r"got \(1, 2, 3\)"),
    "size text": (lambda: Panel(picture, ("10", "4")), TypeError, "two numbers"),
    "size None": (lambda: Panel(picture, None), TypeError, "two numbers, .* got None"),
    "size bool": (lambda: Panel(picture, (True, 4)), TypeError, "two numbers"),
    "size zero": (lambda: Panel(picture, (0, 4)), ValueError, "from 0.1 to 50 inches"),
    "size negative": (lambda: Panel(picture, (10, -4)), ValueError, "from 0.1 to 50 inches"),
    "size NaN": (lambda: Panel(picture, (NAN, 4)), ValueError, "from 0.1 to 50 inches"),
    "size inf": (lambda: Panel(picture, (10, INF)), ValueError, "from 0.1 to 50 inches"),
    "size huge": (lambda: Panel(picture, (10, 10**400)), ValueError, "from 0.1 to 50 inches"),
    "size too small": (lambda: Panel(picture, (0.001, 4)), ValueError, "from 0.1 to 50 inches"),
}


@pytest.mark.parametrize(("make", "error", "said"), REFUSED.values(), ids=REFUSED)
def test_is_refused(make, error, said):
    with pytest.raises(error, match=said) as raised:
        make()
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300


MOVES = {
    "unknown name": (lambda p: p.move(heigth=2), TypeError, "names of controls .height, tone, flag., got heigth"),
    "one good one unknown": (lambda p: p.move(height=2, other=1), TypeError, "got other"),
    "one good one bad": (lambda p: p.move(height=2, flag=0), TypeError, "True or False, got 0"),
    "outside": (lambda p: p.move(height=11), ValueError, "from 0 to 10 in steps of 1, got 11"),
    "NaN": (lambda p: p.move(height=NAN), TypeError, "a whole number .* got nan"),
    "text": (lambda p: p.move(height="2"), TypeError, "got '2'"),
    "a tensor": (lambda p: p.move(height=torch.tensor(2)), TypeError, r"got tensor\(2\)"),
    "an array": (
        lambda p: p.move(tone=np.zeros((50, 50))),
        ValueError,
        "one of 1, 2, or None for no choice, got array",
    ),
    "a label": (lambda p: p.move(tone="a"), ValueError, "got 'a'"),
    "None": (lambda p: p.move(height=None), TypeError, "got None"),
    "value": (lambda p: setattr(p.controls["flag"], "value", "yes"), TypeError, "got 'yes'"),
    "no repr": (lambda p: p.move(tone=Silent()), ValueError, "got a Silent without a repr"),
}


@pytest.mark.parametrize(("move", "error", "said"), MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("shown", [True, False], ids=["shown", "not shown"])
def test_a_refused_move_moves_nothing(move, error, said, shown):
    panel = Panel(
        picture, (3, 2), height=Slider(0, 10, 1, value=3), tone=Choice({"a": 1, "b": 2}, None), flag=Toggle(False)
    )
    frame = bytes(panel.view.image.value) if shown else None
    with pytest.raises(error, match=said) as raised:
        move(panel)
    assert "\n" not in str(raised.value)
    assert panel.values == {"height": 3, "tone": None, "flag": False}
    if shown:
        assert bytes(panel.view.image.value) == frame
        assert panel.controls["height"].slider.value == panel.controls["height"].box.value == 3


def test_an_update_that_does_not_say_what_it_takes_gets_all():
    panel = Panel(lambda figure: "height {height}".format, height=Slider(0, 10, 1, value=3))
    assert panel.line == "height 3"


def test_arrays_and_tensors_are_values_like_any_other():
    small, large, matrix = torch.zeros(2), torch.ones(2), np.ones((2, 2))
    panel = Panel(picture, (3, 2), tone=Choice({"small": small, "large": large, "matrix": matrix}, small))
    assert panel.view
    for number, value in ((1, large), (2, matrix), (0, small)):
        panel.move(tone=value)
        assert panel.values["tone"] is value
        assert panel.controls["tone"].buttons.index == number
        panel.controls["tone"].buttons.index = (number + 1) % 3
        assert panel.values["tone"] is (small, large, matrix)[(number + 1) % 3]


def test_fractions_and_numpys_numbers_are_numbers():
    assert Slider(Fraction(0), Fraction(1), Fraction(1, 4), value=Fraction(1, 2)).default == 0.5
    slider = Slider(np.int64(0), np.int64(10), np.int64(2), value=np.int64(4))
    assert type(slider.at(1)) is int


def test_a_picture_leaves_the_controls_of_its_own_panel_alone():
    def restless(_figure):
        def update(height):
            if height == 4:
                panel.move(height=5)
            return f"height {height}"

        return update

    panel = Panel(restless, (3, 2), height=Slider(0, 10, 1, value=3))
    with pytest.raises(RuntimeError, match="leave the controls of its own panel"):
        panel.move(height=4)
    assert "leave the controls" in panel.line
    panel.move(height=6)
    assert panel.line == "height 6"


@pytest.mark.parametrize("said", ["two\nlines", "\ud800 half a letter", "<b>bold</b> & {braces}", "x" * 100_000])
def test_an_error_may_say_anything(said):
    def failing(_figure):
        def update(height):
            if height == 4:
                raise ValueError(said)
            return f"height {height}"

        return update

    panel = Panel(failing, (3, 2), height=Slider(0, 10, 1, value=3))
    assert panel.view
    with pytest.raises(ValueError):
        panel.move(height=4)
    panel.view.line.value.encode()
    assert "<b>" not in panel.view.line.value
    panel.move(height=5)
    assert panel.line == "height 5"
