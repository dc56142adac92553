from pathlib import Path

import pytest

from blocklab.pictures.lesson_map import WRITTEN, lesson_map, links, stem_of
from blocklab.pictures.palette import MOVED

ROOT = Path(__file__).parents[2]


def test_the_written_lessons_are_those_whose_source_is_there():
    assert list(WRITTEN) == sorted(file.stem for file in (ROOT / "notebooks" / "source").glob("[0-9]*.py"))


def test_every_written_lesson_but_this_page_is_linked():
    assert {target for _, target, _ in links()} == {f"{stem}.ipynb" for stem in WRITTEN[1:]}
    assert all(target.startswith(name) for _, target, name in links())


def test_the_links_lie_on_what_they_name(figure):
    lesson_map(figure)
    canvas = figure.canvas
    canvas.draw()
    axes = figure.axes[0]
    for text in axes.texts:
        number = text.get_text()
        if not number.isdigit() or stem_of(int(number)) is None:
            continue
        x, y = axes.transData.transform(text.get_position()) / figure.bbox.size
        names = [name for (left, top, wide, high), _, name in links() if 0 < x - left < wide and 0 < 1 - y - top < high]
        assert names == [number]


def test_filled_circles_are_the_written_lessons(figure):
    lesson_map(figure)
    circles = [line for line in figure.axes[0].lines if line.get_markersize() == 20]
    numbers = [text.get_text() for text in figure.axes[0].texts if text.get_text().isdigit()]
    filled = {number for line, number in zip(circles, numbers, strict=True) if line.get_markerfacecolor() == MOVED}
    assert filled == {stem[:2] for stem in WRITTEN[1:]}


@pytest.mark.parametrize(("lesson", "stem"), [(0, "00_start_here"), (5, "05_layer_norm"), (99, None)])
def test_stem_of(lesson, stem):
    assert stem_of(lesson) == stem
