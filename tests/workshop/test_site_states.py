"""What a page stores of a panel: which states, stills of all that a lesson shows, and one file for both languages."""

import re
from base64 import b64decode
from collections import Counter
from io import BytesIO
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import Image

from blocklab.language import LANGUAGES, chosen
from blocklab.panel import Choice, Panel, Slider, Toggle
from blocklab.panel.pixels import url as pixels_url
from workshop.lesson_panels import code_cells
from workshop.site.states import record_lesson
from workshop.site.states_columns import columns
from workshop.site.states_short import by_differences, tight
from workshop.site.states_stored import ALL, PAIRS, stored

pytestmark = pytest.mark.thorough

LESSON = Path(__file__).parents[2] / "notebooks" / "source" / "09_swiglu_width.py"
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


def test_else_one_or_two_controls_leave_the_base():
    panel = Panel(picture, one=long(), other=long(value=3), way=WAYS, still=Toggle(False))
    states = stored(panel, {"other": 500})
    assert states[:2] == [[7, 3, -1, 0], [7, 500, -1, 0]]
    assert len(states) == len({tuple(state) for state in states}) > ALL
    fine = set(range(0, 1001, 10))
    for way, still in [(-1, 0), (0, 0), (1, 0), (2, 0), (-1, 1)]:
        assert {state[0] for state in states if state[1:] == [500, way, still]} == fine | {7}
        assert {state[1] for state in states if state[0] == 7 and state[2:] == [way, still]} == fine | {3}
    assert {tuple(state[2:]) for state in states if state[:2] == [7, 500]} == set(product((-1, 0, 1, 2), (0, 1)))
    assert {tuple(state[2:]) for state in states if state[0] != 7 and state[1] != 500} == {(-1, 0)}
    both = [state for state in states if state[0] != 7 and state[1] != 500]
    assert (PAIRS - 1) ** 2 <= len(both) <= (PAIRS + 1) ** 2
    assert {0, 1000} < {state[0] for state in both}
    assert {0, 1000} < {state[1] for state in both}


def test_a_base_wants_values_that_the_controls_have():
    panel = Panel(picture, one=long(), other=long())
    with pytest.raises(ValueError, match="5000"):
        stored(panel, {"one": 5000})


# Paths


@pytest.mark.parametrize(
    ("d", "told"),
    [
        ("M6180 3276Q6189 3280 6191 3287L6189 3301Z", "M6180 3276q9 4 11 11l-2 14z"),
        ("M10 20L30 40ZM5 6C7 8 9 10 11 12L0 0", "M10 20l20 20zm-5-14c2 2 4 4 6 6l-11-12"),  # from where it began
        ("M-10 5L-20-5M0 0L1 1", "M-10 5l-10-10m20 5l1 1"),
        ("M7169 1040l457 87 165-233", "M7169 1040l457 87 165-233"),
        ("m-30 0a30 30 0 1 0 60 0z", "m-30 0a30 30 0 1 0 60 0z"),
    ],
)
def test_a_path_is_told_by_differences(d, told):
    assert by_differences(d) == told


RECORDS = [
    (1, ("style", "fill:red")),
    (2, ("path", 1, 0, "M6180 3276q9 4 11 11l-2 14 5 5l1 1zm-5-14l20 20")),
    (3, ("path", 1, 0, "m-30 0a30 30 0 1 0 60 0z")),
    (5, ("path", 1, 0, "M0 0l-3-66-4 1", 4)),
    (6, ("marks", 1, 0, "m-3 0a3 3 0 1 0 6 0z", (5, 50, 7, 49))),
    (9, ("handles", ((0, 1, "drag", (0, 5, 9), (10, 20, 11, 22, 13, 25)), (1, 0, "pick", (None, 3))))),
    (11, ("style", "fill:blue")),
]


def test_records_stand_in_columns_by_kind_and_length_their_places_told_by_differences():
    assert columns(RECORDS) == [
        ["style", [1, 10], ["fill:red", "fill:blue"]],
        [
            "steps",
            [2],
            [1],
            [0],
            [6180],
            [3276],
            ["q2l3zm1l1"],
            [[9, 2, -13, 7, -4, -6, 25]],
            [[4, 7, 3, -9, -4, -15, 34]],
        ],
        ["path", [3], [1], [0], ["m-30 0a30 30 0 1 0 60 0z"]],
        ["steps", [5], [1], [0], [0], [0], ["l2"], [[-3, -1]], [[-66, 67]], [4]],
        ["marks", [6], [1], [0], ["m-3 0a3 3 0 1 0 6 0z"], [[5, 2]], [[50, -1]]],
        ["handles", [9], [[(0, 1, "drag", [0, 5, 4], [10, 1, 2], [20, 2, 3]), (1, 0, "pick", (None, 3))]]],
    ]


def test_an_image_keeps_every_pixel_and_gets_no_longer():
    rows, columns = np.mgrid[:60, :80]
    smooth = np.stack([rows * 4, columns * 3, rows + columns, 255 * (rows > 5)], 2).astype(np.uint8)
    for pixels in (smooth, smooth[10:], smooth[-1:, :1]):
        before = pixels_url(pixels)
        after = tight(before)
        assert len(after) <= len(before)
        shown = Image.open(BytesIO(b64decode(after.partition(",")[2]))).convert("RGBA")
        assert np.array_equal(shown, pixels)
    assert tight(pixels_url(smooth)).startswith("data:image/webp")


# A lesson


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Lesson 09, whose panels take the least time."""
    folder = tmp_path_factory.mktemp("site")
    with matplotlib.rc_context():
        return folder, record_lesson(LESSON, folder)


@pytest.mark.usefixtures("recorded")
def test_recording_leaves_the_language_as_it_was():
    assert chosen() == "en"


def test_every_panel_of_a_lesson_has_a_file_and_every_still_a_picture(recorded):
    folder, found = recorded
    cells = code_cells(LESSON)
    panels = {number for number, (_, tags, _base) in enumerate(cells) if "panel" in tags}
    stills = {number for number, (code, tags, _base) in enumerate(cells) if "answer" in tags and ".still(" in code}
    assert {one.cell for one in found} == panels | stills
    assert {one.cell for one in found if one.script} == {
        number for number in panels if "still(" not in cells[number][0]
    } - {one.cell for one in found if one.name in ("rounding_tiles", "random_widths")}  # in which nothing moves
    assert len({one.name for one in found}) == len(found)
    for one in found:
        assert one.script in (None, f"states/{LESSON.stem}/{one.name}.js")
        if one.script:
            text = (folder / one.script).read_text("utf-8")
            assert text.startswith(f'(globalThis.blocklabStates ??= {{}})["{LESSON.stem}/{one.name}"] = {{"format":2,')


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
    for one in found:
        assert re.search("[a-z]{3}", one.lines["en"])
        assert re.search("[\u4e00-\u9fff]", one.lines["zh"])
        assert one.stills["en"] != one.stills["zh"]
