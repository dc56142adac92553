"""Every figure of every lesson: its controls can be replaced, and a handle for dragging is where its stroke is."""

import re
from functools import cache

import numpy as np
import pytest

from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.start_here.idle_slider import idle_slider
from blocklab_course.panel import Panel, Slider, Toggle
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import handles
from lesson_figures import ARGUMENTS, FIGURES, WITHOUT_PANEL, make_panel

NEAR = 30  # tenths of a pixel
STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
TRANSFORM = re.compile(r"translate\((\S+) (\S+)\) scale\((\S+)\)")
LETTER = np.array([(0, -800), (600, 200)])  # about how far a letter reaches, in thousandths of an em
MOST_STOPS = 200  # more are less than a pixel apart on a narrow page
LONGER_SLIDERS = {("ema_momentum.two_readings", "steps"): "the lesson names steps 10, 20, 44 and 459"}
WITHOUT_CONTROLS = {"swiglu_width.random_widths", "swiglu_width.rounding_tiles"}


def panel_of(figure: str) -> Panel:
    if figure != "start_here.idle_slider":
        return make_panel(figure)
    scale = Slider(1e-6, 1e6, 10**0.25, value=1.0, label=Text(en="s", zh="s"), log=True)
    return Panel(idle_slider, size=(10, 3.6), narrow=(4.6, 5.6), scale=scale)


PANELS = [name for name in FIGURES if name not in WITHOUT_PANEL | WITHOUT_CONTROLS] + ["start_here.idle_slider"]


@cache
def find_handles(figure: str) -> tuple[list[Control], list[tuple]]:
    """The controls of a panel, and its handles in the initial state and at both ends of each control.

    Each handle: the slot, the number of its control, the places of all controls, its kind and numbers, and the strokes
    that can be grabbed, each as (its points, whether it is a line).
    """
    panel = panel_of(figure)
    controls, visits = list(panel.controls.values()), [panel.places]
    for number, control in enumerate(controls):
        visits += [[*visits[0][:number], control.place_of(end), *visits[0][number + 1 :]] for end in control.ends()]
    found = []
    for places in visits:
        with panel.at_state(places) as (canvas, _line):
            moving = canvas.strokes().moving
            for slot, control, kind, *numbers in handles(
                canvas.moving_artists, panel.controls, canvas.figure.bbox.height
            ):
                strokes = [outline(canvas.records, number) for number in moving[slot]]
                found.append((slot, control, places, kind, numbers, strokes))
    panel.close()
    return controls, found


def outline(records, number: int) -> tuple[np.ndarray, bool]:
    """The points of a stroke, and whether it is a line rather than an area."""
    kind, *record = records[number]
    if kind in ("image", "tint"):
        x, y, width, height = record[-6:-2]
        return np.array([(x, y), (x + width, y + height)]), False
    if kind == "text":
        _, _, transform, letters, _ = record
        x, y, scale = map(float, TRANSFORM.fullmatch(transform).groups())
        places = np.reshape(letters, (-1, 3))[:, None, 1:] + LETTER
        return places.reshape(-1, 2) * scale + (x, y), False
    style, _, d, *more = record
    points = corners(d)
    if kind == "marks":
        return (np.reshape(more[0], (-1, 1, 2)) + points).reshape(-1, 2), False
    return points, "fill:none" in records[style][1] and not more


def corners(d: str) -> np.ndarray:
    """The points of an SVG path, control points included, with NaN between its parts."""
    points, here, start = [], np.zeros(2), 0
    for letter, numbers in STEP.findall(d):
        if letter in "Zz":
            points.append(points[start])
            continue
        steps = np.array(re.findall(r"-?[\d.]+", numbers), float)
        if letter == "a":  # half a circle: its top, its bottom and its end
            steps = np.concatenate([steps[-2:] / 2 - (0, steps[1]), steps[-2:] / 2 + (0, steps[1]), steps[-2:]])
        steps = steps.reshape(-1, 2)
        if letter in "Mm":
            points.append(np.full(2, np.nan))
            start = len(points)
        each = {"q": 2, "c": 3, "a": 3}.get(letter, 1)  # this many points are relative to the same one
        for i in range(0, len(steps), each):
            points += list(steps[i : i + each] + (here if letter.islower() else 0))
            here = points[-1]
    return np.array(points)


def distance(point: np.ndarray, points: np.ndarray, line: bool) -> float:
    """From a point to a line, or to the bounding box of an area."""
    if not line:
        low, high = np.nanmin(points, 0), np.nanmax(points, 0)
        return float(np.abs(point - np.clip(point, low, high)).max())
    starts, ways = points[:-1], np.diff(points, axis=0)
    along = ((point - starts) * ways).sum(1) / np.maximum((ways**2).sum(1), 1e-9)
    return float(np.nanmin(np.hypot(*(starts + np.clip(along, 0, 1)[:, None] * ways - point).T)))


def drags(figure: str):
    """Of each handle that can be dragged: slot, control, state, places, their points, and the strokes."""
    for slot, control, state, kind, numbers, strokes in find_handles(figure)[1]:
        if kind == "drag":
            yield slot, control, state, numbers[0], np.reshape(numbers[1], (-1, 2)), strokes


@pytest.mark.parametrize("figure", PANELS)
def test_stroke_is_where_its_handle_is(figure):
    for _, control, state, places, points, strokes in drags(figure):
        if state[control] in places:
            here = points[places.index(state[control])]
            assert strokes, state
            assert min(distance(here, *stroke) for stroke in strokes) <= NEAR, state


@pytest.mark.parametrize("figure", PANELS)
def test_path_stays_during_drag(figure):
    lines = {}
    for slot, control, state, _, points, _ in drags(figure):
        others = (*state[:control], *state[control + 1 :])
        assert points == pytest.approx(lines.setdefault((slot, control, others), points), abs=NEAR), state


@pytest.mark.parametrize("figure", PANELS)
def test_handles_lead_to_existing_places(figure):
    controls, found = find_handles(figure)
    for _, control, _, kind, (places, *points), strokes in found:
        assert all(controls[control].has(place) for place in places if place is not None)
        if kind == "pick":
            assert len(places) <= len(strokes)
            assert any(place is not None for place in places)
        else:
            assert len(set(places)) == len(places) == len(points[0]) / 2
            assert (places[0], places[-1]) == (0, controls[control].last)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_lesson_has_a_handle(lesson):
    assert any(find_handles(figure)[1] for figure in PANELS if figure.startswith(f"{lesson.package}."))


def test_sliders_have_few_enough_stops_to_hit_one_with_the_mouse():
    longer = {
        (figure, name)
        for figure in PANELS
        for name, control in panel_of(figure).controls.items()
        if isinstance(control, Slider) and control.last >= MOST_STOPS
    }
    assert longer == set(LONGER_SLIDERS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("figure", [name for name in FIGURES if name not in WITHOUT_PANEL])
def test_caller_can_replace_controls(figure):
    controls = make_panel(figure).controls
    for control in controls.values():
        control.label = Text(en="replaced", zh="替换")
    panel = make_panel(figure, **controls)
    assert all(str(control.label) == "replaced" for control in panel.controls.values())
    with pytest.raises(TypeError, match="no_such_control"):
        make_panel(figure, no_such_control=Toggle(True))


def test_finds_figures():
    assert len(FIGURES) >= 30
    assert ARGUMENTS.keys() | WITHOUT_PANEL <= set(FIGURES)
