"""Selecting and encoding the states of a panel, and its opening picture."""

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

from authoring.lesson_panels import code_cells
from authoring.site.states import record_lesson
from authoring.site.states_compress import relative_path, smaller_image
from authoring.site.states_select import ALL, PAIRS, select_states
from blocklab_course.i18n import LANGUAGES, get_language
from blocklab_course.panel import Choice, Panel, Slider, Toggle
from blocklab_course.panel.images import data_url as pixels_url

pytestmark = pytest.mark.exhaustive

LESSON = Path(__file__).parents[2] / "notebooks" / "source" / "08_swiglu_width.py"
MOTIONLESS = "rounding_tiles", "random_widths"  # pictures of that lesson without a control
WAYS = Choice({"up": 0, "down": 1, "left": 2}, None, label="way")


def picture(_figure):
    return lambda **values: str(values)


def long_slider(value=7):
    return Slider(0, 1000, 1, value=value, label="long")


def test_few_states_are_all_stored_the_opening_one_first():
    panel = Panel(picture, turn=Slider(0, 9, 1, value=4), way=WAYS, still=Toggle(True))
    states = select_states(panel)
    assert states[0] == [4, -1, 1]
    assert sorted(states) == [[turn, way, still] for turn in range(10) for way in (-1, 0, 1, 2) for still in (0, 1)]


def test_of_many_states_those_are_stored_that_differ_from_the_base_in_two_controls():
    panel = Panel(picture, one=long_slider(), other=long_slider(3), way=WAYS, still=Toggle(False))
    states = select_states(panel, {"other": 500})
    assert states[:2] == [[7, 3, -1, 0], [7, 500, -1, 0]]
    assert len(states) == len({tuple(state) for state in states}) > ALL
    fine = set(range(0, 1001, 10))
    for way, still in [(-1, 0), (0, 0), (1, 0), (2, 0), (-1, 1)]:
        assert {state[0] for state in states if state[1:] == [500, way, still]} == fine | {7}
        assert {state[1] for state in states if state[0] == 7 and state[2:] == [way, still]} == fine | {3}
    assert {tuple(state[2:]) for state in states if state[:2] == [7, 500]} == set(product((-1, 0, 1, 2), (0, 1)))
    both = [state for state in states if state[0] != 7 and state[1] != 500]
    assert {tuple(state[2:]) for state in both} == {(-1, 0)}
    assert (PAIRS - 1) ** 2 <= len(both) <= (PAIRS + 1) ** 2
    for slider in (0, 1):
        assert {0, 1000} < {state[slider] for state in both}


@pytest.mark.parametrize(
    ("absolute", "relative"),
    [
        ("M6180 3276Q6189 3280 6191 3287L6189 3301Z", "M6180 3276q9 4 11 11l-2 14z"),
        ("M10 20L30 40ZM5 6C7 8 9 10 11 12L0 0", "M10 20l20 20zm-5-14c2 2 4 4 6 6l-11-12"),  # after Z: from the start
        ("M-10 5L-20-5M0 0L1 1", "M-10 5l-10-10m20 5l1 1"),
        ("m-30 0a30 30 0 1 0 60 0z", "m-30 0a30 30 0 1 0 60 0z"),
    ],
)
def test_relative_path_draws_the_same(absolute, relative):
    assert relative_path(absolute) == relative


def test_smaller_image_keeps_every_pixel():
    rows, columns = np.mgrid[:60, :80]
    smooth = np.stack([rows * 4, columns * 3, rows + columns, 255 * (rows > 5)], 2).astype(np.uint8)
    for pixels in (smooth, smooth[-1:, :1]):
        before = pixels_url(pixels)
        after = smaller_image(before)
        assert len(after) <= len(before)
        shown = Image.open(BytesIO(b64decode(after.partition(",")[2]))).convert("RGBA")
        assert np.array_equal(shown, pixels)
    assert smaller_image(pixels_url(smooth)).startswith("data:image/webp")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Lesson 08, whose panels take the least time."""
    folder = tmp_path_factory.mktemp("site")
    with matplotlib.rc_context():
        found = record_lesson(LESSON, folder)
    assert get_language() == "en"
    return folder, found


def test_every_panel_of_a_lesson_has_its_states_and_every_still_a_picture(recorded):
    folder, found = recorded
    cells = code_cells(LESSON)
    panels = {number for number, (_, tags, _base) in enumerate(cells) if "panel" in tags}
    stills = {number for number, (code, tags, _base) in enumerate(cells) if "answer" in tags and ".still(" in code}
    moving = {number for number in panels if "still(" not in cells[number][0]}
    assert {one.cell for one in found} == panels | stills
    assert {one.cell for one in found if one.script} == moving - {o.cell for o in found if o.name in MOTIONLESS}
    assert len({one.name for one in found}) == len(found)
    for one in found:
        if one.script:
            assert one.script == f"states/{LESSON.stem}/{one.name}.js"
            text = (folder / one.script).read_text("utf-8")
            assert text.startswith(f'(globalThis.blocklabStates ??= {{}})["{LESSON.stem}/{one.name}"] = {{"format":2,')


def test_a_still_has_a_picture_for_phones_if_its_panel_has(recorded):
    _, found = recorded
    stills = [one for one in found if not one.script]
    assert stills
    assert not any(one.small for one in found if one.script)
    for one in stills:
        for language in LANGUAGES:
            wide, small = (ElementTree.fromstring(drawn[language]) for drawn in (one.stills, one.small))
            assert int(small.get("width")) < int(wide.get("width"))
            assert small.get("aria-label") == one.lines[language]


def test_stills_have_labels_in_their_language_and_ids_of_their_own(recorded):
    _, found = recorded
    ids = Counter()
    for one in found:
        assert re.search("[a-z]{3}", one.lines["en"])
        assert re.search("[\u4e00-\u9fff]", one.lines["zh"])
        for language in LANGUAGES:
            root = ElementTree.fromstring(one.stills[language])
            assert root.get("role") == "img"
            assert root.get("aria-label") == one.lines[language]
        here = [node.get("id") for node in root.iter() if node.get("id")]
        assert set(re.findall(r"url\(#([^)]+)\)", one.stills[language])) == set(here)
        ids.update(here)
    assert set(ids.values()) == {1}
