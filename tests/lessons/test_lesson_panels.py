"""Move every control of every panel from end to end, and compare each state with one drawn from scratch.

This runs in both languages, one control at a time; strokes are compared in English only, since in Chinese only the
texts differ. The exhaustive test also covers pairs of extreme values, pixels, and both kinds of panels.
"""

import functools
import logging
import re
from collections import defaultdict

import pytest
from matplotlib.font_manager import fontManager
from matplotlib.text import Text as DrawnText

from authoring.lesson_panels import SOURCES, code_cells, run_panels
from blocklab_course.panel import Panel, backend, glyphs
from blocklab_course.panel.controls import Slider, same_value
from blocklab_course.panel.display_list import DisplayList
from blocklab_course.panel.fallback_view import FallbackView
from blocklab_course.panel.live_view import LiveView
from blocklab_course.panel.panel import LIVE_SCALE

E_NOTATION = re.compile(r"(?<!\w)\d[\d.]*[eE][-+−]?\d+")
SAMPLES = 9  # stops of each slider at which texts are read

VIEWS = {"live": LiveView, "plain": FallbackView}


pytestmark = pytest.mark.usefixtures("lesson_undone")


def at_state(panel: Panel, values: dict):
    """The canvas and the line at these values."""
    for name, value in values.items():
        panel.controls[name].set_silently(value)
    return panel.at_state(panel.places)


def sweep(panel: Panel, states: list[dict], frames: int = 0) -> list[tuple]:
    """Visit states. Returns the values, line and strokes of each, and a hash of its pixels for the first `frames`."""
    visits = []
    for number, values in enumerate(states):
        with at_state(panel, values) as (canvas, line):
            assert line.strip(), values
            pixels = hash(canvas.frame().tobytes()) if number < frames else None
            visits.append((values, line, canvas.strokes(), pixels))
    return visits


def texts_in(panel: Panel) -> set[str]:
    """All texts in the picture and the line, in the states that a sweep visits and between them."""
    states = panel.visits(pairs=False)
    for name, control in panel.controls.items():
        if isinstance(control, Slider):
            stops = {control.last * part // (SAMPLES - 1) for part in range(SAMPLES)}
            states += [{**states[0], name: control.at(stop)} for stop in sorted(stops)]
    found = set()
    for values in states:
        with at_state(panel, values) as (canvas, line):
            found |= {line, *(text.get_text() for text in canvas.figure.findobj(DrawnText) if text.get_visible())}
    return found


def compare_with_redrawn(panel: Panel, visits: list[tuple]) -> None:
    """Draw all states again without cached strokes, in reverse order, so that one left over from another shows."""
    panel.canvas.records.memo.clear()
    for values, _line, strokes, pixels in reversed(visits):  # ends at the defaults
        with at_state(panel, values) as (canvas, _line):
            if pixels is not None:
                anew = hash(canvas.still(LIVE_SCALE).tobytes())
                assert pixels == anew, f"pixels differ at {values}"
            canvas.figure.stale = True
            assert strokes == canvas.strokes(), f"strokes differ at {values}"


def idle_controls(panel: Panel, visits: list) -> list[str]:
    """The controls that change neither figure nor line. A slider is compared with all others at their defaults."""
    seen = {name: defaultdict(set) for name in panel.values}
    for values, line, strokes, _pixels in visits:
        shown = line, repr(strokes)
        for name, by_others in seen.items():
            others = {other: value for other, value in values.items() if other != name}
            slides = isinstance(panel.controls[name], Slider)
            if not slides or all(same_value(value, panel.controls[other].default) for other, value in others.items()):
                by_others[repr(others)].add(shown)
    return [name for name, by_others in seen.items() if all(len(each) == 1 for each in by_others.values())]


@pytest.fixture
def _cached(monkeypatch):
    """Cache fonts and glyphs for speed, and never evict strokes, which would come back under another number."""
    for owner, name in ((fontManager, "_find_fonts_by_props"), (glyphs, "outline"), (glyphs, "layout_text")):
        monkeypatch.setattr(owner, name, functools.cache(getattr(owner, name)))
    monkeypatch.setattr(DisplayList.__init__, "__defaults__", (10**9,))


of_every_lesson = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


@of_every_lesson
@pytest.mark.usefixtures("_cached")
def test_states_match_redrawn_ones_every_control_has_an_effect_and_no_number_has_e_notation(source, caplog):
    shown = run_panels(source)
    assert shown
    asking = {number for number, (_, tags, _) in enumerate(code_cells(source)) if {"panel", "guess"} <= set(tags)}
    assert {number for (number, _), panel in shown.items() if panel.prediction} == asking
    with caplog.at_level(logging.WARNING, logger="matplotlib"):  # matplotlib only logs a glyph missing in a formula
        for (number, language), panel in shown.items():
            assert isinstance(panel, Panel), f"cell {number} is tagged as a panel"
            visits = sweep(panel, panel.visits(pairs=False))
            if language == "en":
                compare_with_redrawn(panel, visits)
                if idle_controls(panel, visits):  # some have an effect only after another was moved
                    visits = sweep(panel, panel.visits())
                assert idle_controls(panel, visits) == [], f"cell {number}"
                assert [text for text in texts_in(panel) if E_NOTATION.search(text)] == [], f"cell {number}"
            assert len(visits) >= 2 or not panel.controls
    assert not caplog.records


@of_every_lesson
@pytest.mark.usefixtures("_cached")
@pytest.mark.exhaustive
def test_pairs_of_extremes_pixels_and_both_kinds_of_panels(source, caplog):
    with caplog.at_level(logging.WARNING, logger="matplotlib"):
        for (_cell, language), panel in run_panels(source).items():
            if language == "en":
                one_at_a_time = panel.visits(pairs=False)  # these come first in `panel.visits()`
                compare_with_redrawn(panel, sweep(panel, panel.visits(), frames=len(one_at_a_time)))
            for kind in backend.KINDS:
                panel.release()
                backend.set_backend(kind)
                assert isinstance(panel.view, VIEWS[kind])
    assert not caplog.records
