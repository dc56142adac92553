"""Handles of pickable and draggable artists."""

import gc
import weakref

import numpy as np
import pytest
from matplotlib.figure import Figure

from blocklab_course.panel import Choice, Slider
from blocklab_course.panel.drag import MAX_POINTS, draggable, handles, pickable

CONTROLS = {
    "tone": Choice({"a": "A", "b": "B", "c": "C"}, "A"),
    "shift": Slider(0.0, 3.0, 0.5, value=1.0),
    "long": Slider(0, 1000, 1, value=0),
}
HEIGHT = 200


@pytest.fixture
def axes():
    axes = Figure(figsize=(4, 2), dpi=100).add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 4), ylim=(0, 2))
    return axes


def test_picking_a_stroke_selects_its_value(axes):
    (line,) = axes.plot([0, 1], [0, 1])
    pickable(line, "tone", ["C", None, "A"])
    assert handles([line], CONTROLS, HEIGHT) == ((0, 0, "pick", (2, None, 0)),)


def test_drag_line_follows_the_artist(axes):
    other, line = (axes.plot([0, 1], [0, 1])[0] for _ in range(2))
    draggable(line, "shift", lambda shift: (shift, shift / 2))
    ((slot, control, kind, places, points),) = handles([other, line], CONTROLS, HEIGHT)
    assert (slot, control, kind, places) == (1, 1, "drag", tuple(range(7)))
    values = np.arange(7) * 0.5
    assert np.array_equal(np.reshape(points, (-1, 2)), np.stack([1000 * values, 2000 - 500 * values], -1))


def test_drag_line_of_long_slider_is_sampled_with_both_ends(axes):
    (line,) = axes.plot([0, 1], [0, 1])
    draggable(line, "long", lambda value: (value / 250, 1))
    ((_, _, _, places, points),) = handles([line], CONTROLS, HEIGHT)
    assert len(places) == MAX_POINTS == len(points) / 2
    assert (places[0], places[-1]) == (0, 1000)


def test_drag_line_goes_through_given_values(axes):
    (line,) = axes.plot([0, 1], [0, 1])
    draggable(line, "long", lambda value: (value / 250, 1), through=(30, 3, 5000))
    ((_, _, _, places, points),) = handles([line], CONTROLS, HEIGHT)
    assert places == (0, 3, 30, 1000)
    assert points == (0, 1000, 12, 1000, 120, 1000, 4000, 1000)


def test_drag_line_is_recomputed_on_every_draw(axes):
    (line,), height = axes.plot([0, 1], [0, 1]), [1]
    draggable(line, "shift", lambda shift: (shift, height[0]))
    before = handles([line], CONTROLS, HEIGHT)
    height[0] = 2
    assert handles([line], CONTROLS, HEIGHT) != before


def test_no_handle_without_its_control(axes):
    (line,) = axes.plot([0, 1], [0, 1])
    pickable(line, "tone", ["A"])
    assert handles([line], {"shift": CONTROLS["shift"]}, HEIGHT) == ()


def test_no_handle_for_invisible_artist(axes):
    (line,) = axes.plot([0, 1], [0, 1])
    pickable(line, "tone", ["A"])
    line.set_visible(False)
    assert handles([line], CONTROLS, HEIGHT) == ()


def test_handle_does_not_keep_artist_alive():
    (line,) = Figure().subplots().plot([0, 1], [0, 1])
    draggable(line, "shift", lambda _shift, line=line: (line.get_xdata()[0], 0))
    kept = weakref.ref(line)
    del line
    gc.collect()
    assert kept() is None
