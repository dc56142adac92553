"""What a page stores of a panel: which states, stills of all that a lesson shows, and one file for both languages."""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from blocklab.language import LANGUAGES, Text
from blocklab.panel import Choice, Panel, Slider, Toggle
from workshop.lesson_panels import code_cells
from workshop.site.states import record_lesson
from workshop.site.states_stored import ALL, STOPS, stored

SOURCES = Path(__file__).parents[2] / "notebooks" / "source"
WAYS = Choice({"up": 0, "down": 1, "left": 2}, None, label="way")


def picture(_figure):
    return lambda **values: str(values)


def long(name="long", value=7):
    return Slider(0, 1000, 1, value=value, label=name)


# Which states


def test_all_states_where_they_are_few_and_the_opening_one_first():
    panel = Panel(picture, turn=Slider(0, 9, 1, value=4), way=WAYS, still=Toggle(True))
    states = stored(panel)
    assert states[0] == [4, -1, 1]
    assert sorted(states) == [[turn, way, still] for turn in range(10) for way in (-1, 0, 1, 2) for still in (0, 1)]


def test_else_one_control_at_a_time_and_each_option_with_each_slider():
    panel = Panel(picture, one=long(), other=long(value=3), way=WAYS, still=Toggle(False))
    states = stored(panel, {"other": 500})
    assert states[:2] == [[7, 3, -1, 0], [7, 500, -1, 0]]
    assert all(len(state) == 4 for state in states)
    assert len(states) == len({tuple(state) for state in states}) > ALL
    sliders = ({0, 500, 1000}, {7, 500}, {0, 7, 1000}), ({7, 500}, {3, 500}, {7, 3})
    del sliders
    for way in (-1, 0, 1, 2):
        for still in (0, 1):
            if way >= 0 and still:
                continue  # two options besides a slider are not stored
            ones = {state[0] for state in states if state[1:] == [500, way, still]}
            others = {state[1] for state in states if state[0] == 7 and state[2:] == [way, still]}
            for stops, home in ((ones, 7), (others, 500)):
                assert {0, 1000, home} <= stops
                assert STOPS <= len(stops) <= STOPS + 2
    assert [7, 3, -1, 0] in states


def test_a_base_wants_values_that_the_controls_have():
    panel = Panel(picture, one=long(), other=long())
    with pytest.raises(ValueError, match="5000"):
        stored(panel, {"one": 5000})


# A lesson


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    return folder, record_lesson(SOURCES / "02_norm_axes.py", folder)


@pytest.fixture
def _english(lesson_undone):
    yield


def test_every_panel_of_a_lesson_has_a_file_and_every_still_a_picture(recorded):
    folder, found = recorded
    cells = code_cells(SOURCES / "02_norm_axes.py")
    panels = [number for number, (_, tags, _base) in enumerate(cells) if "panel" in tags]
    stills = [number for number, (code, tags, _base) in enumerate(cells) if "answer" in tags and ".still(" in code]
    assert [one.cell for one in found if one.script] == panels
    assert [one.cell for one in found if not one.script] == stills
    assert Counter(one.name for one in found).most_common(1)[0][1] == 1
    for one in found:
        assert one.script in (None, f"states/02_norm_axes/{one.name}.js")
        if one.script:
            text = (folder / one.script).read_text("utf-8")
            assert text.startswith(f'(globalThis.blocklabStates ??= {{}})["02_norm_axes/{one.name}"] = {{"format":1,')


def test_a_still_says_its_line_and_shares_no_id_with_another(recorded):
    _, found = recorded
    ids = Counter()
    for one in found:
        for language in LANGUAGES:
            root = ElementTree.fromstring(one.stills[language])
            assert root.get("role") == "img"
            assert root.get("aria-label") == one.lines[language]
            assert root.get("viewBox") == f"0 0 {10 * one.size[0]} {10 * one.size[1]}"
        here = [node.get("id") for node in root.iter() if node.get("id")]
        assert set(re.findall(r"url\(#([^)]+)\)", one.stills[language])) == set(here)
        ids.update(here)
    assert set(ids.values()) == {1}


def test_languages_say_their_own_words(recorded):
    _, found = recorded
    assert all(one.lines["en"].isascii() or "→" in one.lines["en"] for one in found if "poke" in one.name)
    assert all(re.search("[\u4e00-\u9fff]", one.lines["zh"]) for one in found)


def test_text_is_a_text():
    assert str(Text(en="a", zh="b")) == "a"
