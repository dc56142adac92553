from pathlib import Path

from blocklab.lessons import LESSONS
from blocklab.lessons.start_here.lesson_map import lesson_map, links

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
