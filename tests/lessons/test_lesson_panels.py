"""Every panel of every lesson: each slider from end to end, each state as if drawn from nothing.

Each panel is made in both languages, and one control at a time goes through its states. In English the strokes of every
visit are held to those recorded from nothing; in Chinese nothing but the words is another. Beside the gate this is done
for pairs of extremes, too, and for frames, and each panel is shown in both front ends.
"""

import functools
import logging
from collections import defaultdict

import pytest
from matplotlib.font_manager import fontManager

from authoring.lesson_panels import SOURCES, code_cells, panels
from blocklab_course.panel import Panel, backend, glyphs
from blocklab_course.panel.controls import Slider, same
from blocklab_course.panel.display_list import DisplayList
from blocklab_course.panel.fallback_view import FallbackView
from blocklab_course.panel.live_view import LiveView
from blocklab_course.panel.panel import LIVE_SCALE

VIEWS = {"live": LiveView, "plain": FallbackView}


pytestmark = pytest.mark.usefixtures("lesson_undone")


def standing(panel: Panel, values: dict):
    """The canvas and the line as if the panel stood there."""
    for name, value in values.items():
        panel.controls[name].note(value)
    return panel.standing_at(panel.places)


def swept(panel: Panel, states: list[dict], frames: int = 0) -> list[tuple]:
    """Each state as it is visited: its values, its line, its strokes, and of the first so many frames the pixels."""
    visits = []
    for number, values in enumerate(states):
        with standing(panel, values) as (canvas, line):
            assert line.strip(), values
            pixels = hash(canvas.frame().tobytes()) if number < frames else None
            visits.append((values, line, canvas.strokes(), pixels))
    return visits


def hold_to_those_drawn_from_nothing(panel: Panel, visits: list[tuple]) -> None:
    """From the last to the first, with nothing remembered: what two states share by mistake the other one now gives."""
    panel.canvas.records.memo.clear()
    for values, _line, strokes, pixels in reversed(visits):  # in the end the panel stands at its defaults
        with standing(panel, values) as (canvas, _line):
            if pixels is not None:
                anew = hash(canvas.still(LIVE_SCALE).tobytes())
                assert pixels == anew, f"a frame differs from all drawn at {values}"
            canvas.figure.stale = True
            assert strokes == canvas.strokes(), f"strokes differ from all recorded at {values}"


def idle(panel: Panel, visits: list) -> list[str]:
    """The controls that change neither picture nor line, wherever the others stand; a slider, from where they start."""
    seen = {name: defaultdict(set) for name in panel.values}
    for values, line, strokes, _pixels in visits:
        shown = line, repr(strokes)
        for name, by_others in seen.items():
            others = {other: value for other, value in values.items() if other != name}
            slides = isinstance(panel.controls[name], Slider)
            if not slides or all(same(value, panel.controls[other].default) for other, value in others.items()):
                by_others[repr(others)].add(shown)
    return [name for name, by_others in seen.items() if all(len(each) == 1 for each in by_others.values())]


@pytest.fixture
def _kept(monkeypatch):
    """Which fonts a text wants, and the outline of a glyph, are the same whenever they are asked for; and no record of
    a canvas is forgotten, or it would come back under another number."""
    for owner, name in ((fontManager, "_find_fonts_by_props"), (glyphs, "outline"), (glyphs, "plain")):
        monkeypatch.setattr(owner, name, functools.cache(getattr(owner, name)))
    monkeypatch.setattr(DisplayList.__init__, "__defaults__", (10**9,))


of_every_lesson = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


@of_every_lesson
@pytest.mark.usefixtures("_kept")
def test_every_panel_goes_through_its_sweep_and_every_control_changes_something(source, caplog):
    shown = panels(source)
    assert shown
    asking = {number for number, (_, tags, _base) in enumerate(code_cells(source)) if "guess" in tags}
    assert {number for (number, _), panel in shown.items() if panel.guess} == asking
    with caplog.at_level(logging.WARNING, logger="matplotlib"):  # in a formula a missing glyph is only logged
        for (number, language), panel in shown.items():
            assert isinstance(panel, Panel), f"cell {number} is tagged as a panel"
            visits = swept(panel, panel.visits(pairs=False))
            if language == "en":
                hold_to_those_drawn_from_nothing(panel, visits)
                if idle(panel, visits):  # some act only where another one has been moved
                    visits = swept(panel, panel.visits())
                assert idle(panel, visits) == [], f"cell {number}"
            assert len(visits) >= 2 or not panel.controls
    assert not caplog.records


@of_every_lesson
@pytest.mark.usefixtures("_kept")
@pytest.mark.exhaustive
def test_so_do_pairs_of_extremes_and_frames_and_both_front_ends_show_it(source, caplog):
    with caplog.at_level(logging.WARNING, logger="matplotlib"):
        for (_cell, language), panel in panels(source).items():
            if language == "en":
                one_at_a_time = panel.visits(pairs=False)  # which come before the pairs
                hold_to_those_drawn_from_nothing(panel, swept(panel, panel.visits(), frames=len(one_at_a_time)))
            for kind in backend.KINDS:
                panel.put_away()
                backend.set_backend(kind)
                assert isinstance(panel.view, VIEWS[kind])
    assert not caplog.records
