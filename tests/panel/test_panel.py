"""Controls, line, errors and saved output of a panel that is moved by its widgets and by code."""

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
    """A line at `height` that records its arguments."""

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
            return f"height {height} {sorted(others.items())}"

        return update


def panel(picture=None, **controls):
    """Return a panel that is shown."""
    made = Panel(picture or Picture(), size=(3, 2), **{"height": Slider(0, 10, 1, value=3, label=STRENGTH), **controls})
    assert made.view
    return made


# Sliders


def test_int_slider_gives_ints_and_float_slider_rounds_noise():
    whole, fine = Slider(0, 10, 2, value=4), Slider(0.0, 1, 0.1, value=0.3)
    assert [type(v) for v in whole.stops()] == [int] * 3
    assert [fine.at(i) for i in range(4)] == [0.0, 0.1, 0.2, 0.3]
    assert type(Slider(0, 1, 0.5, value=0).default) is float


def test_log_slider_stops_are_powers():
    slider = Slider(1e-8, 1, 10, value=1e-5, log=True)
    assert [slider.at(i) for i in range(9)] == [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]
    assert [Slider(1, 64, 2, value=4, log=True).at(i) for i in range(7)] == [1, 2, 4, 8, 16, 32, 64]
    assert slider.nearest(3e-5) == 1e-5
    assert slider.nearest(4e-5) == 1e-4


# One move, one redraw


def test_slider_box_and_code_stay_in_sync_with_one_redraw():
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


def test_typed_number_is_rounded_to_the_nearest_stop():
    height = panel(height=Slider(0, 10, 5, value=5)).controls["height"]
    for typed, stop in ((9, 10), (1, 0)):
        height.box.value = typed
        assert (height.value, height.box.value, height.slider.value) == (stop, stop, stop)


def test_setting_the_same_value_does_not_redraw():
    picture = Picture()
    shown = panel(picture)
    shown.controls["height"].value = 3
    assert len(picture.calls) == 1


def test_reset_redraws_once():
    picture = Picture()
    shown = panel(picture, flag=Toggle(False), tone=Choice({"a": 1, "b": 2}, None))
    shown.move(height=9, flag=True, tone=2)
    count = len(picture.calls)
    button = next(w for w in shown.view.bar.children if isinstance(w, ipywidgets.Button))
    button.click()
    assert shown.values == {"height": 3, "flag": False, "tone": None}
    assert len(picture.calls) == count + 1
    assert shown.controls["tone"].buttons.index is None


# Choices


def test_choice_distinguishes_true_from_one():
    shown = panel(tone=Choice({Text(en="one", zh="一"): 1, Text(en="yes", zh="是"): True}, None))
    tone = shown.controls["tone"]
    assert shown.values["tone"] is None
    tone.buttons.index = 1
    assert shown.values["tone"] is True
    assert tone.buttons.index == 1
    tone.value = 1
    assert tone.buttons.index == 0


def test_long_options_become_a_dropdown():
    few = panel(tone=Choice({"a": 1, "b": 2}, 1)).controls["tone"].buttons
    many = panel(tone=Choice({f"a rather long option {i}": i for i in range(4)}, None)).controls["tone"].buttons
    assert isinstance(few, ipywidgets.ToggleButtons)
    assert isinstance(many, ipywidgets.Dropdown)


# The language of the moment in which the panel is made


def test_panels_copy_their_controls_and_translate_labels():
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


def translated(figure):
    """A picture with translated texts, some of them replaced in each move."""
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
def test_panel_keeps_the_language_of_its_creation(first, then, shown_before):
    begin(first, panels="plain")
    alone, mixed = (
        panel(translated),
        Panel(translated, (3, 2), height=Slider(0, 10, 1, value=3, label=STRENGTH)),
    )
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
    assert panel(translated).line == {"en": "strength 3", "zh": "强度 3"}[then]


def words(shown):
    """Return all texts of the widgets except the line."""
    texts = [getattr(w, name, "") for w in walk(shown.view.root) for name in ("description", "value", "options")]
    return [text for text in texts if isinstance(text, str) and 'role="status"' not in text]


def page_of(shown):
    with shown._own_language():
        return still_page("", shown.line, 300)


# Errors


@pytest.mark.parametrize(
    ("chosen", "says"), [("en", "could not be drawn for height = 7"), ("zh", "在 height = 7 时无法画出图像")]
)
def test_error_is_shown_and_raised_and_next_move_recovers(chosen, says):
    i18n.set_language(chosen)
    shown = panel()
    with pytest.raises(ArithmeticError, match="never"):
        shown.controls["height"].slider.value = 7
    assert says in shown.line
    assert "ArithmeticError" in shown.line
    assert "&lt;b&gt;" in shown.view.line.value
    assert shown.view.line.value.startswith('<div role="status"')
    assert shown.controls["height"].box.value == 7
    shown.controls["height"].slider.value = 6
    assert shown.line.startswith("height 6")
    assert "error" not in shown.view.line.value
    frame = shown.canvas.frame().copy()
    assert np.array_equal(frame, shown.canvas.still(1))


FAULTS = [KeyboardInterrupt, ArithmeticError]
WAYS = {
    "move": lambda shown, height: shown.move(height=height),
    "slider": lambda shown, height: setattr(shown.controls["height"].slider, "value", height),
    "several": lambda shown, height: shown.move(flag=True, height=height),
}


class Fault:
    """Raises once at a given point: inside `update`, in `Canvas.frame`, or while the picture is encoded."""

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
def test_interrupted_redraw_is_repeated_by_the_next_move(error, place, way, monkeypatch):
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


def test_reset_repeats_an_interrupted_redraw(monkeypatch):
    shown = panel()
    frame = bytes(shown.view.image.value)
    Fault(KeyboardInterrupt, monkeypatch).at("update")
    with pytest.raises(KeyboardInterrupt):
        shown.move(height=9)
    shown.reset()
    assert (shown.line, bytes(shown.view.image.value)) == ("height 3 []", frame)


def test_interrupt_during_background_keeps_artists_animated(monkeypatch):
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


@pytest.mark.parametrize(("default", "visited"), [(None, {None, 1, 2, 3}), (1, {1, 2, 3})])
def test_sweep_visits_all_options_in_pairs(default, visited):
    shown = panel(flag=Toggle(False), tone=Choice({"a": 1, "b": 2, "c": 3}, default), height=Slider(0, 6, 1, value=3))
    assert {values["tone"] for values, _ in shown.sweep() if values["flag"]} == visited


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


def test_sweep_raises_errors_of_update():
    shown = panel(height=Slider(0, 7, 1, value=3))
    with pytest.raises(ArithmeticError):
        list(shown.sweep())


# What is saved


def saved(shown):
    data, metadata = shown._repr_mimebundle_()
    return data, metadata["image/png"]


def test_saved_output_has_line_and_double_resolution_png():
    shown = panel()
    data, size = saved(shown)
    assert data["text/plain"] == repr(shown) == shown.line
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert (picture.format, picture.size) == ("PNG", (600, 400))
    assert size == {"width": 300, "height": 200}
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == shown.view.root.model_id
    assert saved(panel())[0]["image/png"] == data["image/png"]


def test_saved_picture_is_wide_after_a_narrow_page_has_been_shown():
    shown = panel(narrow=(2, 3))
    before = saved(shown)
    shown.arrange(narrow=True)
    assert shown.canvas.figure.get_size_inches().tolist() == [2, 3]
    assert saved(shown)[0]["image/png"] == before[0]["image/png"]
    assert saved(shown)[1] == before[1]


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
            axes.set_title(f"k = {k}")  # sometimes everything is redrawn
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
def test_a_thousand_moves_leak_no_memory():
    out = subprocess.run([sys.executable, "-c", THOUSAND_MOVES], capture_output=True, text=True, check=True).stdout
    warm, later = map(int, out.split())
    # The first thousand moves fill matplotlib's caches. A leak of one memory block per three moves would show.
    assert later - warm < 300


# Stills


def test_still_shows_the_values_without_controls():
    moving = panel(again=Toggle(True))
    stood = moving.still(height=9)
    assert stood.line == "height 9 [('again', True)]"
    assert stood.values == {}
    assert (stood.canvas.frame() == panel(again=Toggle(True), height=Slider(0, 10, 1, value=9)).canvas.frame()).all()
    assert moving.values == {"height": 3, "again": True}


@pytest.mark.parametrize(("values", "error"), [({"depth": 1}, TypeError), ({"height": 11}, ValueError)])
def test_still_rejects_invalid_values(values, error):
    with pytest.raises(error):
        panel().still(**values)


def test_still_of_closed_panel_raises():
    gone = panel()
    gone.close()
    with pytest.raises(RuntimeError, match="closed"):
        gone.still(height=9)
