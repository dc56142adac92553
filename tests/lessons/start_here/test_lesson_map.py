import pytest
from matplotlib.patches import FancyArrowPatch

from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.start_here.lesson_map import LAYER, LAYERS, PARTS, about, lesson_map, links


def test_every_lesson_except_this_one_is_linked():
    assert {target for _, target, _ in links()} == {f"{lesson.name}.ipynb" for lesson in LESSONS[1:]}
    assert all(target.startswith(name) for _, target, name in links())


def test_links_lie_on_the_numbers_that_they_open(figure):
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


def test_the_map_has_as_many_normalizations_as_the_model():
    """The start page says 61: two in each layer and one after the last layer."""
    _, bottom, _, height = LAYER
    tops = [top for _, top, _, _, text, *_ in PARTS if text.en == "normalization"]
    inside = [top for top in tops if bottom < top < bottom + height]
    assert LAYERS * len(inside) + len(tops) - len(inside) == 61


def test_rotary_positions_are_drawn_inside_attention():
    spans = {text.en: (top - high, top) for _, top, _, high, text, *_ in PARTS}
    (low, high), (bottom, top) = spans["rotary positions"], spans["attention"]
    assert bottom < low < high < top


def test_the_lessons_about_one_part_stand_beside_it():
    assert [lesson.package for lesson in about("rms_norm")] == ["norm_axes", "layer_norm", "rms_norm"]
    assert [lesson.package for lesson in about("small_batches")] == ["small_batches"]  # about no single part


def test_a_click_on_a_part_opens_its_lesson():
    places = [(place, target) for place, target, _ in links()]
    for x, top, _, high, _, room, _ in PARTS:
        across, down = x / 12, 1 - (top - min(high, 0.62) / 2) / 8
        opened = [t for (left, over, wide, tall), t in places if 0 < across - left < wide and 0 < down - over < tall]
        assert opened == [f"{lesson.name}.ipynb" for lesson in LESSONS if lesson.package == room]


def test_an_arrow_leads_to_every_sum(figure):
    lesson_map(figure)
    sums = [text.get_position() for text in figure.axes[0].texts if text.get_text() == "+"]
    tips = [
        patch.get_path().vertices[patch.get_path().vertices[:, 0].argmax()]
        for patch in figure.axes[0].patches
        if isinstance(patch, FancyArrowPatch)
    ]
    for x, y in sums:
        assert any(0 < x - tip[0] < 0.2 and tip[1] == pytest.approx(y, abs=0.2) for tip in tips)
