"""Every panel of every lesson: each slider from end to end, each state as if drawn from nothing.

A lesson's cells run once. Each of its panels is made in both languages; in English it goes through all pairs of
extremes, in Chinese, where nothing but the words is another, through one control at a time. In English the strokes of
every visit are held to those recorded from nothing; where no more than one control has moved, its frame too. Last it is
shown, living and plain.
"""

import functools
import logging
from collections import defaultdict

import pytest
from matplotlib.font_manager import fontManager

from blocklab.panel import Panel, front, glyphs
from blocklab.panel.controls import Slider, same
from blocklab.panel.live_view import LiveView
from blocklab.panel.panel import LIVE_SCALE
from blocklab.panel.plain_view import PlainView
from blocklab.panel.records import Records
from workshop.lesson_panels import SOURCES, code_cells, panels

VIEWS = {"live": LiveView, "plain": PlainView}
WITH_PAIRS = {"zh": False, "en": True}


pytestmark = pytest.mark.usefixtures("lesson_undone")


def standing(panel: Panel, values: dict):
    """The canvas and the line as if the panel stood there."""
    for name, value in values.items():
        panel.controls[name].note(value)
    return panel.standing_at(panel.places)


def swept(panel: Panel, pairs: bool) -> list[tuple]:
    """Every visit of the sweep: its values, its line, its strokes, and its pixels where one control has moved."""
    visits = []
    for values in panel.visits(pairs):
        single = pairs and sum(not same(value, panel.controls[name].default) for name, value in values.items()) < 2
        with standing(panel, values) as (canvas, line):
            assert line.strip(), values
            visits.append((values, line, canvas.strokes(), hash(canvas.frame().tobytes()) if single else None))
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
def _looked_up_once(monkeypatch):
    """Which fonts a text wants, and the outline of a glyph: the same whenever they are asked for."""
    for owner, name in ((fontManager, "_find_fonts_by_props"), (glyphs, "outline"), (glyphs, "plain")):
        monkeypatch.setattr(owner, name, functools.cache(getattr(owner, name)))


@pytest.mark.usefixtures("_looked_up_once")
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_panel_goes_through_its_sweep_and_every_control_changes_something(source, caplog, monkeypatch):
    monkeypatch.setattr(Records.__init__, "__defaults__", (10**9,))  # what is forgotten comes back under another number
    shown = panels(source)
    assert shown
    asking = {number for number, (_, tags, _base) in enumerate(code_cells(source)) if "guess" in tags}
    assert {number for (number, _), panel in shown.items() if panel.guess} == asking
    with caplog.at_level(logging.WARNING, logger="matplotlib"):  # in a formula a missing glyph is only logged
        for (number, chosen), panel in shown.items():
            assert isinstance(panel, Panel), f"cell {number} is tagged as a panel"
            pairs = WITH_PAIRS[chosen]
            visits = swept(panel, pairs)
            if pairs:
                hold_to_those_drawn_from_nothing(panel, visits)
                assert idle(panel, visits) == [], f"cell {number}"
            assert len(visits) >= 2 or not panel.controls
            for kind in front.KINDS:
                panel.put_away()
                front.choose(kind)
                assert isinstance(panel.view, VIEWS[kind])
    assert not caplog.records
