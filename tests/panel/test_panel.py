"""Controls, the panel's line and errors, what it saves; the panel is moved as a reader or as code would move it."""

import base64
import io
import subprocess
import sys

import ipywidgets
import numpy as np
import pytest
from PIL import Image

from blocklab_course import begin, i18n
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Slider, Toggle
from blocklab_course.panel.view import still_page, walk

STRENGTH = Text(en="strength", zh="强度")


@pytest.fixture(autouse=True)
def english():
    i18n.set_language("en")
    yield
    i18n.set_language("en")


class Picture:
    """A line whose height is `height`; counts its calls and keeps what it was given."""

    def __init__(self):
        self.calls = []

    def __call__(self, figure):
        line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]
        line.axes.set_ylim(-1, 11)

        def update(height, **others):
            if height == 7:
                raise ArithmeticError("seven <b>never</b> works")
            self.calls.append({"height": height, **others})
            line.set_ydata([height, height])
            return f"height {height} {sorted(others.items())}" if height != 8 else ""

        return update


def panel(picture=None, **controls):
    """A panel that is shown."""
    made = Panel(picture or Picture(), size=(3, 2), **{"height": Slider(0, 10, 1, value=3, label=STRENGTH), **controls})
    assert made.view
    return made


# Sliders


def test_int_slider_stays_int_and_float_slider_is_free_of_dust():
    whole, fine = Slider(0, 10, 2, value=4), Slider(0.0, 1, 0.1, value=0.3)
    assert [type(v) for v in whole.stops()] == [int] * 3
    assert [fine.at(i) for i in range(4)] == [0.0, 0.1, 0.2, 0.3]
    assert type(Slider(0, 1, 0.5, value=0).default) is float


def test_log_slider_stops_at_powers_and_steps_by_a_factor():
    slider = Slider(1e-8, 1, 10, value=1e-5, log=True)
    assert [slider.at(i) for i in range(9)] == [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]
    assert [Slider(1, 64, 2, value=4, log=True).at(i) for i in range(7)] == [1, 2, 4, 8, 16, 32, 64]
    assert slider.nearest(3e-5) == 1e-5
    assert slider.nearest(4e-5) == 1e-4


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((0, 10, 1, 11), ValueError, "from 0 to 10 in steps of 1, got 11"),
        ((0, 10, 3, 3), ValueError, "steps of 3 from 0 reach, got 10"),
        ((10, 0, 1, 5), ValueError, "start < stop, got 10 and 0"),
        ((0, 10, 0, 5), ValueError, "step > 0, got 0"),
        ((0, 10, 2, 3), ValueError, "steps of 2, got 3"),
        ((0, 10, 1, 2.5), TypeError, r"a whole number .*, got 2.5 \(float\)"),
        ((0, 1, 0.5, True), TypeError, "got True"),
        (("0", 1, 0.5, 0), TypeError, "for start, got '0'"),
        ((0, float("inf"), 1, 0), TypeError, "for stop, got inf"),
        ((0, 10, 1, 1, True), ValueError, "start > 0 and step > 1, got start=0, step=1"),
    ],
)
def test_slider_refuses(arguments, error, says):
    start, stop, step, value, *log = arguments
    with pytest.raises(error, match=says):
        Slider(start, stop, step, value=value, log=bool(log))


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [
        (11, ValueError, "a whole number from 0 to 10 in steps of 1, got 11"),
        (-1, ValueError, "got -1"),
        (2.5, TypeError, "got 2.5 .float."),
        ("2", TypeError, "got '2' .str."),
        (None, TypeError, "got None"),
    ],
)
def test_a_bad_value_from_code_moves_nothing(value, error, says):
    shown = panel()
    with pytest.raises(error, match=says):
        shown.controls["height"].value = value
    assert shown.line.startswith("height 3")
    assert shown.controls["height"].slider.value == 3


def test_not_a_number_is_no_value():
    with pytest.raises(ValueError, match="got nan"):
        Slider(0.0, 1.0, 0.1, value=float("nan"))


def test_numpy_numbers_are_numbers():
    shown = panel()
    shown.controls["height"].value = np.int64(5)
    assert shown.line.startswith("height 5")
    assert type(shown.values["height"]) is int


# One move, one redraw


def test_slider_box_and_code_move_each_other_with_one_redraw():
    picture = Picture()
    shown = panel(picture)
    height = shown.controls["height"]
    for move, value in (
        (lambda: setattr(height.slider, "value", 5), 5),
        (lambda: setattr(height.box, "value", 6), 6),
        (lambda: setattr(height, "value", 9), 9),
        (lambda: shown.move(height=2), 2),
    ):
        before, frame = len(picture.calls), bytes(shown.view.image.value)
        move()
        assert (height.value, height.slider.value, height.box.value) == (value, value, value)
        assert len(picture.calls) == before + 1
        assert bytes(shown.view.image.value) != frame


def test_a_typed_number_goes_to_the_nearest_stop():
    height = panel(height=Slider(0, 10, 5, value=5)).controls["height"]
    for typed, stop in ((9, 10), (1, 0)):
        height.box.value = typed
        assert (height.value, height.box.value, height.slider.value) == (stop, stop, stop)


def test_the_same_value_again_draws_nothing():
    picture = Picture()
    shown = panel(picture)
    shown.controls["height"].value = 3
    assert len(picture.calls) == 1


def test_reset_moves_all_with_one_redraw():
    picture = Picture()
    shown = panel(picture, flag=Toggle(False), tone=Choice({"a": 1, "b": 2}, None))
    shown.move(height=9, flag=True, tone=2)
    count = len(picture.calls)
    button = next(w for w in shown.view.bar.children if isinstance(w, ipywidgets.Button))
    button.click()
    assert shown.values == {"height": 3, "flag": False, "tone": None}
    assert len(picture.calls) == count + 1
    assert shown.controls["tone"].buttons.index is None


def test_move_checks_all_before_it_moves_any():
    shown = panel(flag=Toggle(False))
    with pytest.raises(TypeError, match="True or False, got 1"):
        shown.move(height=9, flag=1)
    assert shown.values == {"height": 3, "flag": False}


# Choices


def test_choice_gives_values_and_none_before_the_first():
    shown = panel(tone=Choice({Text(en="one", zh="一"): 1, Text(en="yes", zh="是"): True}, None))
    tone = shown.controls["tone"]
    assert shown.values["tone"] is None
    tone.buttons.index = 1
    assert shown.values["tone"] is True
    assert tone.buttons.index == 1
    tone.value = 1
    assert tone.buttons.index == 0
    with pytest.raises(ValueError, match="one of 1, True, or None for no choice, got 2"):
        tone.value = 2


def test_many_or_long_options_become_a_list():
    few = panel(tone=Choice({"a": 1, "b": 2}, 1)).controls["tone"].buttons
    many = panel(tone=Choice({f"a rather long option {i}": i for i in range(4)}, None)).controls["tone"].buttons
    assert isinstance(few, ipywidgets.ToggleButtons)
    assert isinstance(many, ipywidgets.Dropdown)


def test_choice_without_options_is_refused():
    with pytest.raises(ValueError, match="at least one option"):
        Choice({}, None)


# The language of the moment in which the panel is made


def test_one_description_serves_two_languages():
    controls = {
        "height": Slider(0, 10, 1, value=3, label=STRENGTH),
        "tone": Choice({STRENGTH: 1}, 1),
        "flag": Toggle(True),
    }
    english = panel(**controls)
    i18n.set_language("zh")
    chinese = panel(**controls)
    titles = [p.controls["height"].slider.description for p in (english, chinese)]
    assert titles == ["strength", "强度"]
    assert chinese.controls["tone"].buttons.options == ("强度",)
    assert chinese.controls["flag"].box.description == "flag"
    chinese.controls["height"].value = 9
    assert english.values["height"] == 3


def speaking(figure):
    """Words everywhere, some of them new in each move."""
    axes = figure.subplots()
    axes.set_ylabel(str(STRENGTH))

    def update(height, **_):
        axes.set_title(STRENGTH.format(height), loc="left")
        for text in list(axes.texts):
            text.remove()
        axes.text(0.5, 0.5, str(STRENGTH))
        if height == 7:
            raise ArithmeticError("seven")
        return f"{STRENGTH} {height}"

    return update


@pytest.mark.usefixtures("lesson_undone")
@pytest.mark.parametrize(("first", "then"), [("en", "zh"), ("zh", "en")])
@pytest.mark.parametrize("shown_before", [True, False], ids=["shown before", "shown after"])
def test_a_panel_speaks_the_language_in_which_it_was_made(first, then, shown_before):
    begin(first, panels="plain")
    alone, mixed = panel(speaking), Panel(speaking, (3, 2), height=Slider(0, 10, 1, value=3, label=STRENGTH))
    for height in (4, 5):
        alone.move(height=height)
    page = page_of(alone)
    if shown_before:
        assert mixed.view
    mixed.move(height=4)
    begin(then, panels="plain")
    mixed.move(height=5)
    assert mixed.line == alone.line
    assert bytes(mixed.view.image.value) == bytes(alone.view.image.value)
    assert words(mixed) == words(alone)
    assert page_of(mixed) == page
    for each in (alone, mixed):
        with pytest.raises(ArithmeticError):
            each.move(height=7)
    assert {"en": "could not be drawn", "zh": "无法画出"}[first] in mixed.line
    assert i18n.get_language() == then
    for each in (alone, mixed):
        each.close()
    assert repr(mixed) == repr(alone)
    assert {"en": "closed", "zh": "关闭"}[first] in repr(mixed)
    assert panel(speaking).line == {"en": "strength 3", "zh": "强度 3"}[then]


def words(shown):
    """All that the widgets say, without the line."""
    texts = [getattr(w, name, "") for w in walk(shown.view.root) for name in ("description", "value", "options")]
    return [text for text in texts if isinstance(text, str) and 'role="status"' not in text]


def page_of(shown):
    with shown._own_language():
        return still_page("", shown.line, 300)


# Errors


@pytest.mark.parametrize(
    ("chosen", "says"), [("en", "could not be drawn for height = 7"), ("zh", "在 height = 7 时无法画出图像")]
)
def test_an_error_is_shown_and_raised_and_the_next_move_recovers(chosen, says):
    i18n.set_language(chosen)
    shown = panel()
    with pytest.raises(ArithmeticError, match="never"):
        shown.controls["height"].slider.value = 7
    assert says in shown.line
    assert "ArithmeticError" in shown.line
    assert "&lt;b&gt;" in shown.view.line.value
    assert shown.controls["height"].box.value == 7
    shown.controls["height"].slider.value = 6
    assert shown.line.startswith("height 6")
    assert "error" not in shown.view.line.value
    frame = shown.canvas.frame().copy()
    assert np.array_equal(frame, shown.canvas.still(1))


def test_a_picture_has_to_say_something():
    shown = panel()
    with pytest.raises(TypeError, match="a non-empty str, got ''"):
        shown.controls["height"].value = 8
    with pytest.raises(TypeError, match="got None"):
        Panel(lambda figure: lambda: None)
    with pytest.raises(TypeError, match="return its update function, got None"):
        Panel(lambda figure: None)
    with pytest.raises(TypeError, match="a Slider, Choice, Toggle or Guess for height, got 3"):
        Panel(Picture(), height=3)


FAULTS = [KeyboardInterrupt, ArithmeticError, SystemExit, RecursionError]
WAYS = {
    "move": lambda shown, height: shown.move(height=height),
    "value": lambda shown, height: setattr(shown.controls["height"], "value", height),
    "slider": lambda shown, height: setattr(shown.controls["height"].slider, "value", height),
    "box": lambda shown, height: setattr(shown.controls["height"].box, "value", height),
    "several": lambda shown, height: shown.move(flag=True, height=height),
}


class Fault:
    """Raises once, where it is asked to: inside `update`, between two artists, while the picture is encoded."""

    def __init__(self, error, monkeypatch):
        self.error, self.monkeypatch = error, monkeypatch

    def __call__(self, *_args, **_options):
        self.monkeypatch.undo()
        raise self.error("torn")

    def at(self, place):
        name = {
            "draw": "blocklab_course.panel.canvas.Canvas.frame",
            "encode": "blocklab_course.panel.fallback_view.jpeg",
        }.get(place)
        self.monkeypatch.setattr(name or "matplotlib.lines.Line2D.set_ydata", self)


@pytest.mark.parametrize("error", FAULTS)
@pytest.mark.parametrize("place", ["update", "draw", "encode"])
@pytest.mark.parametrize("way", WAYS)
def test_what_was_torn_is_said_and_the_next_move_draws_it_also_to_the_same_place(error, place, way, monkeypatch):
    shown, whole = panel(flag=Toggle(False)), panel(flag=Toggle(False))
    WAYS[way](whole, 5)
    Fault(error, monkeypatch).at(place)
    with pytest.raises(error):
        WAYS[way](shown, 5)
    assert "height = 5" in shown.line
    assert shown.values == whole.values
    assert shown.controls["height"].slider.value == shown.controls["height"].box.value == 5
    shown.move(height=5)
    assert shown.line == whole.line
    assert bytes(shown.view.image.value) == bytes(whole.view.image.value)


def test_a_reset_draws_what_was_torn(monkeypatch):
    shown = panel()
    frame = bytes(shown.view.image.value)
    Fault(KeyboardInterrupt, monkeypatch).at("update")
    with pytest.raises(KeyboardInterrupt):
        shown.move(height=9)
    shown.reset()
    assert (shown.line, bytes(shown.view.image.value)) == ("height 3 []", frame)


def test_an_interrupt_while_the_background_is_drawn_leaves_artists_and_frames_as_they_were(monkeypatch):
    shown = panel()
    axes = shown.canvas.figure.axes[0]
    axes.set_title("new")
    monkeypatch.setattr("matplotlib.axis.YAxis.draw", Fault(KeyboardInterrupt, monkeypatch))
    with pytest.raises(KeyboardInterrupt):
        shown.move(height=5)
    assert axes.lines[0].get_animated()
    shown.move(height=6)
    assert np.array_equal(shown.canvas.frame().copy(), shown.canvas.still(1))


# The sweep


def test_sweep_visits_every_stop_and_every_pair_of_extremes():
    shown = panel(flag=Toggle(False), tone=Choice({"a": 1, "b": 2}, None), height=Slider(0, 6, 1, value=3))
    visits = [values for values, _ in shown.sweep()]
    assert [{"height": h, "flag": False, "tone": None} in visits for h in (0, 3, 6)] == [True] * 3
    for a in (0, 6):
        for flag in (False, True):
            assert {"height": a, "flag": flag, "tone": None} in visits
        for tone in (None, 1, 2):
            assert {"height": a, "flag": False, "tone": tone} in visits
    assert {"height": 3, "flag": True, "tone": 2} in visits
    assert len(visits) == len({repr(v) for v in visits})
    assert shown.values == {"height": 3, "flag": False, "tone": None}


def test_in_pairs_a_choice_without_a_default_has_all_its_options():
    shown = panel(flag=Toggle(False), tone=Choice({"a": 1, "b": 2, "c": 3}, None), height=Slider(0, 6, 1, value=3))
    assert {values["tone"] for values, _ in shown.sweep() if values["flag"]} == {None, 1, 2, 3}


def test_in_pairs_a_choice_with_a_default_has_all_its_options():
    shown = panel(flag=Toggle(False), tone=Choice({"a": 1, "b": 2, "c": 3}, 1), height=Slider(0, 6, 1, value=3))
    assert {values["tone"] for values, _ in shown.sweep() if values["flag"]} == {1, 2, 3}


def test_sweep_without_pairs_moves_one_control_at_a_time():
    shown = panel(height=Slider(0, 6, 1, value=3), flag=Toggle(False), tone=Choice({"a": 1, "b": 2}, None))
    visits = [(values["height"], values["flag"], values["tone"]) for values, _ in shown.sweep(pairs=False)]
    assert visits == [
        (3, False, None),
        (0, False, None),
        (6, False, None),
        (3, True, None),
        (3, False, 1),
        (3, False, 2),
    ]
    assert shown.values == {"height": 3, "flag": False, "tone": None}


def test_sweep_meets_an_error_at_the_maximum():
    shown = panel(height=Slider(0, 7, 1, value=3))
    with pytest.raises(ArithmeticError):
        list(shown.sweep())


# What is saved


def saved(shown):
    data, metadata = shown._repr_mimebundle_()
    return data, metadata["image/png"]


def test_the_saved_form_is_the_line_and_a_sharp_png():
    shown = panel()
    data, size = saved(shown)
    assert data["text/plain"] == repr(shown) == shown.line
    assert "bytes" not in data["text/plain"]
    assert "b'" not in data["text/plain"]
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert (picture.format, picture.size) == ("PNG", (600, 400))
    assert size == {"width": 300, "height": 200}
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == shown.view.root.model_id
    assert saved(panel())[0]["image/png"] == data["image/png"]


def test_the_line_is_announced_and_escaped():
    assert panel().view.line.value.startswith('<div role="status"')


# Long use

THOUSAND_MOVES = """
import gc, sys
import numpy as np
from blocklab_course.panel import Panel, Slider, backend

def picture(figure):
    axes = figure.subplots()
    mesh = axes.pcolormesh(np.zeros((8, 8)), vmin=0, vmax=9, animated=True)
    line = axes.plot([0, 8], [0, 8], animated=True)[0]
    def update(k):
        mesh.set_array(np.full((8, 8), k % 9))
        line.set_ydata([0, k % 8])
        if k % 50 == 0:
            axes.set_title(f"k = {k}")  # now and then everything is drawn anew
        return f"k = {k}"
    return update

backend.set_backend("plain")
panel = Panel(picture, size=(3, 2), k=Slider(0, 1000, 1, value=0))
panel.view
def used(moves):
    for k in moves:
        panel.controls["k"].slider.value = k
    gc.collect()
    return sys.getallocatedblocks()
print(used(range(1, 1001)), used(range(999, -1, -1)))
"""


@pytest.mark.exhaustive
def test_a_thousand_moves_leave_memory_where_it_was():
    out = subprocess.run([sys.executable, "-c", THOUSAND_MOVES], capture_output=True, text=True, check=True).stdout
    warm, later = map(int, out.split())
    # The first thousand fill matplotlib's caches. Blocks of Python's: one for every third move would show.
    assert later - warm < 300


# Stills


def test_a_still_stands_at_the_values_and_has_nothing_to_move():
    moving = panel(again=Toggle(True))
    stood = moving.still(height=9)
    assert stood.line == "height 9 [('again', True)]"
    assert stood.values == {}
    assert (stood.canvas.frame() == panel(again=Toggle(True), height=Slider(0, 10, 1, value=9)).canvas.frame()).all()
    assert moving.values == {"height": 3, "again": True}


@pytest.mark.parametrize(("values", "error"), [({"depth": 1}, TypeError), ({"height": 11}, ValueError)])
def test_a_still_refuses_what_no_control_takes(values, error):
    with pytest.raises(error):
        panel().still(**values)


def test_a_closed_panel_has_no_stills():
    gone = panel()
    gone.close()
    with pytest.raises(RuntimeError, match="closed"):
        gone.still(height=9)
