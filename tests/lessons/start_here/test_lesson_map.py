from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.patches import FancyArrowPatch

from blocklab.lessons import LESSONS
from blocklab.lessons.start_here.lesson_map import LAYER, LAYERS, PARTS, lesson_map, links

ROOT = Path(__file__).parents[3]


def test_the_lessons_are_those_whose_source_is_there():
    assert [lesson.name for lesson in LESSONS] == sorted(
        file.stem for file in (ROOT / "notebooks" / "source").glob("[0-9]*.py")
    )


def test_every_lesson_but_this_page_is_linked():
    assert {target for _, target, _ in links()} == {f"{lesson.name}.ipynb" for lesson in LESSONS[1:]}
    assert all(target.startswith(name) for _, target, name in links())


def test_the_links_lie_on_what_they_name(figure):
    lesson_map(figure)
    canvas = figure.canvas
    canvas.draw()
    axes = figure.axes[0]
    for text in axes.texts:
        number = text.get_text()
        if not number.isdigit():
            continue
        x, y = axes.transData.transform(text.get_position()) / figure.bbox.size
        names = [name for (left, top, wide, high), _, name in links() if 0 < x - left < wide and 0 < 1 - y - top < high]
        assert names == [number]


def test_the_normalizations_are_as_many_as_the_model_calls():
    """The start page says 61: two in each layer and one at the end."""
    _, bottom, _, height = LAYER
    tops = [top for _, top, _, _, text, *_ in PARTS if text.en == "normalization"]
    inside = [top for top in tops if bottom < top < bottom + height]
    assert LAYERS * len(inside) + len(tops) - len(inside) == 61


def test_positions_stand_inside_attention():
    spans = {text.en: (top - high, top) for _, top, _, high, text, *_ in PARTS}
    (low, high), (bottom, top) = spans["rotary positions"], spans["attention"]
    assert bottom < low < high < top


def test_every_part_that_a_lesson_builds_can_be_clicked():
    """Its text leads to the first of its lessons."""
    places = [(place, name) for place, _, name in links()]
    for x, top, _, high, _, lessons, _ in PARTS:
        across, down = x / 12, 1 - (top - min(high, 0.62) / 2) / 8
        names = [n for (left, over, wide, tall), n in places if 0 < across - left < wide and 0 < down - over < tall]
        assert names == [f"{lesson:02}" for lesson in lessons[:1]]


def test_the_lessons_about_no_single_part_stand_at_even_distances():
    tops = sorted(top for x, top, *_ in PARTS if x > 6)
    assert {round(above - below, 2) for below, above in pairwise(tops)} == {1.25}


def test_arrows_show_what_comes_into_each_sum(figure):
    lesson_map(figure)
    sums = [text.get_position() for text in figure.axes[0].texts if text.get_text() == "+"]
    tips = [
        patch.get_path().vertices[patch.get_path().vertices[:, 0].argmax()]
        for patch in figure.axes[0].patches
        if isinstance(patch, FancyArrowPatch)
    ]
    for x, y in sums:
        assert any(0 < x - tip[0] < 0.2 and tip[1] == pytest.approx(y, abs=0.2) for tip in tips)
