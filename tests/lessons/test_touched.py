"""What can be touched in the pictures: every lesson has something, and it lies where the picture shows it."""

import re
from functools import cache

import numpy as np
import pytest

from blocklab_course.i18n import Text
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.start_here.idle_slider import idle_slider
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import handles
from pictures import OTHERWISE, PICTURES, made

NEAR = 30  # tenths of a pixel
STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
TRANSFORM = re.compile(r"translate\((\S+) (\S+)\) scale\((\S+)\)")
LETTER = np.array([(0, -800), (600, 200)])  # about how far a letter reaches, in thousandths of an em
WITHOUT_CONTROLS = {"small_batches.accuracy_by_batch", "swiglu_width.random_widths", "swiglu_width.rounding_tiles"}


def panel_of(picture: str) -> Panel:
    if picture != "start_here.idle_slider":
        return made(picture)
    scale = Slider(1e-6, 1e6, 10**0.25, value=1.0, label=Text(en="s", zh="s"), log=True)
    return Panel(idle_slider, size=(10, 3.6), scale=scale)


PANELS = [name for name in PICTURES if name not in OTHERWISE | WITHOUT_CONTROLS] + ["start_here.idle_slider"]


@cache
def touched(picture: str) -> tuple[list[Control], list[tuple]]:
    """The controls, and what can be touched where the panel begins and at both ends of each of them.

    Of every handle: the hole, the number of its control, where all controls stand, its kind and its numbers, and the
    strokes that are taken hold of, each as (its points, whether a line).
    """
    panel = panel_of(picture)
    controls, visits = list(panel.controls.values()), [panel.places]
    for number, control in enumerate(controls):
        visits += [[*visits[0][:number], control.place_of(end), *visits[0][number + 1 :]] for end in control.ends()]
    found = []
    for places in visits:
        with panel.standing_at(places) as (canvas, _line):
            moving = canvas.strokes().moving
            for hole, control, kind, *numbers in handles(canvas.holes, panel.controls, canvas.figure.bbox.height):
                strokes = [outline(canvas.records, number) for number in moving[hole]]
                found.append((hole, control, places, kind, numbers, strokes))
    panel.close()
    return controls, found


def outline(records, number: int) -> tuple[np.ndarray, bool]:
    """The points of a stroke, and whether it is a line rather than a face."""
    kind, *record = records[number]
    if kind == "image":
        _, x, y, width, height, *_ = record
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
    """The points of a path, those that bend it among them; NaN between its parts."""
    points, here, start = [], np.zeros(2), 0
    for letter, numbers in STEP.findall(d):
        if letter in "Zz":
            points.append(points[start])
            continue
        steps = np.array(re.findall(r"-?[\d.]+", numbers), float)
        if letter == "a":  # half a circle: its uppermost, its lowermost and its last point
            steps = np.concatenate([steps[-2:] / 2 - (0, steps[1]), steps[-2:] / 2 + (0, steps[1]), steps[-2:]])
        steps = steps.reshape(-1, 2)
        if letter in "Mm":
            points.append(np.full(2, np.nan))
            start = len(points)
        each = {"q": 2, "c": 3, "a": 3}.get(letter, 1)  # so many points of a relative step begin at the same one
        for i in range(0, len(steps), each):
            points += list(steps[i : i + each] + (here if letter.islower() else 0))
            here = points[-1]
    return np.array(points)


def distance(point: np.ndarray, points: np.ndarray, line: bool) -> float:
    """From a point to a line, or to the box around a face."""
    if not line:
        low, high = np.nanmin(points, 0), np.nanmax(points, 0)
        return float(np.abs(point - np.clip(point, low, high)).max())
    starts, ways = points[:-1], np.diff(points, axis=0)
    along = ((point - starts) * ways).sum(1) / np.maximum((ways**2).sum(1), 1e-9)
    return float(np.nanmin(np.hypot(*(starts + np.clip(along, 0, 1)[:, None] * ways - point).T)))


def drags(picture: str):
    """Of what can be dragged: hole and control, where all controls stand, places, their points, and the strokes."""
    for hole, control, stands, kind, numbers, strokes in touched(picture)[1]:
        if kind == "drag":
            yield hole, control, stands, numbers[0], np.reshape(numbers[1], (-1, 2)), strokes


@pytest.mark.parametrize("picture", PANELS)
def test_what_is_dragged_is_where_the_picture_shows_it(picture):
    for _, control, stands, places, points, strokes in drags(picture):
        if stands[control] in places:
            here = points[places.index(stands[control])]
            assert strokes, stands
            assert min(distance(here, *stroke) for stroke in strokes) <= NEAR, stands


@pytest.mark.parametrize("picture", PANELS)
def test_a_line_stays_while_something_is_dragged_along_it(picture):
    lines = {}
    for hole, control, stands, _, points, _ in drags(picture):
        others = (*stands[:control], *stands[control + 1 :])
        assert points == pytest.approx(lines.setdefault((hole, control, others), points), abs=NEAR), stands


@pytest.mark.parametrize("picture", PANELS)
def test_every_place_to_which_a_touch_leads_exists(picture):
    controls, found = touched(picture)
    for _, control, _, kind, (places, *points), strokes in found:
        assert all(controls[control].has(place) for place in places if place is not None)
        if kind == "pick":
            assert len(places) <= len(strokes)
            assert any(place is not None for place in places)
        else:
            assert len(set(places)) == len(places) == len(points[0]) / 2
            assert (places[0], places[-1]) == (0, controls[control].last)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_lesson_has_something_to_touch(lesson):
    assert any(touched(picture)[1] for picture in PANELS if picture.startswith(f"{lesson.package}."))
