import pytest
from matplotlib.patches import FancyArrowPatch

from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.start_here.lesson_map import (
    COLOURS,
    FIRST,
    LAYER,
    LAYERS,
    LOW,
    PARTS,
    PATH,
    RADIUS,
    SIZE,
    STEP,
    STREAM,
    TOPICS,
    lesson_map,
    links,
    stations,
)
from blocklab_course.panel.palette import MOVED, PAPER
from blocklab_course.session import set_language

WIDE, HIGH = SIZE


def links_at(x, y):
    """The links at a place of the drawing: the targets and the names."""
    across, down = x / WIDE, 1 - y / HIGH
    return [
        (target, name)
        for (left, top, width, height), target, name in links()
        if 0 < across - left < width and 0 < down - top < height
    ]


def test_every_lesson_except_this_one_is_linked():
    assert {target for _, target, _ in links()} == {f"{lesson.name}.ipynb" for lesson in LESSONS[1:]}
    assert all(target.startswith(name) for _, target, name in links())


def test_a_click_on_a_number_or_on_its_topic_opens_that_lesson(figure):
    lesson_map(figure)
    axes = figure.axes[0]
    topics = {str(topic): package for package, topic in TOPICS.items()}
    opened = set()
    for text in axes.texts:
        x, y = text.get_position()
        written = text.get_text()
        if x < PATH or not (written.isdigit() or written in topics):
            continue
        [(target, name)] = links_at(x + 0.01, y)
        assert name == written or target.endswith(f"{topics[written]}.ipynb")
        opened.add(target)
    assert len(opened) == len(LESSONS) - 1


def test_the_lessons_stand_in_their_order_on_one_path_and_its_side_trips(figure):
    lesson_map(figure)
    places = list(stations())
    assert [lesson for *_, lesson in places] == list(LESSONS[1:])
    assert [y for _, y, _ in places] == sorted({y for _, y, _ in places})
    assert all((x != PATH) == lesson.side_trip for x, _, lesson in places)
    [path] = [line for line in figure.axes[0].lines if line.get_color() == MOVED and line.get_xdata()[0] == PATH][:1]
    assert list(path.get_xdata()) == [PATH, PATH]
    assert list(path.get_ydata()) == pytest.approx([FIRST, places[-1][1]])


def test_a_side_trip_leaves_the_path_and_comes_back(figure):
    lesson_map(figure)
    runs = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 4 and line.get_xdata()[0] == PATH]
    reached = []
    for run in runs:
        xs, ys = run.get_xdata(), run.get_ydata()
        assert xs[0] == xs[-1] == PATH
        reached += [lesson.package for x, y, lesson in stations() if x == xs[1] and ys[1] - 0.01 < y < ys[2] + 0.01]
    assert reached == [lesson.package for lesson in LESSONS if lesson.side_trip]


def test_a_lesson_has_the_colour_of_its_part(figure):
    lesson_map(figure)
    colours = {
        (line.get_xdata()[0], line.get_ydata()[0]): line.get_markerfacecolor()
        for line in figure.axes[0].lines
        if line.get_marker() == "o"
    }
    drawn = {lesson.package: colours[x, y] for x, y, lesson in stations()}
    assert drawn["rms_norm"] == COLOURS["normalization"]
    assert {drawn[lesson] for lesson in ("why_normalize", "ema_momentum", "small_batches")} == {drawn["rms_norm"]}
    assert drawn["swiglu_width"] == COLOURS["feed-forward"]
    assert drawn["transformer_layers"] == PAPER
    boxes = {part.text.en: part.colour for part in PARTS}
    assert boxes["RMSNorm"] == COLOURS["normalization"]
    assert boxes["rotary positions"] == drawn["rotary_positions"]
    assert boxes["attention"] == drawn["attention"]
    assert boxes["SwiGLU"] == drawn["activations_and_gates"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_of_the_map_touches_another_or_the_edge(figure, language):
    with use_language(language):
        set_language(language)
        figure.set_size_inches(SIZE)
        lesson_map(figure)
        figure.canvas.draw()
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert all(figure.bbox.contains(*corner) for box in boxes for corner in (box.min, box.max))
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])
    assert STEP > 2 * RADIUS


def test_the_map_has_as_many_normalizations_as_the_model():
    """The start page says 61: two in each layer and one after the last layer."""
    _, bottom, _, height = LAYER
    tops = [part.top for part in PARTS if part.text.en == "RMSNorm"]
    inside = [top for top in tops if bottom < top < bottom + height]
    assert LAYERS * len(inside) + len(tops) - len(inside) == 61


def test_rotary_positions_are_drawn_inside_attention():
    spans = {part.text.en: (part.top - part.height, part.top) for part in PARTS}
    (low, high), (bottom, top) = spans["rotary positions"], spans["attention"]
    assert bottom < low < high < top


def test_a_click_on_a_part_opens_its_lesson():
    for part in PARTS:
        opened = [target for target, _ in links_at(STREAM, part.top - min(part.height, LOW) / 2)]
        assert opened == [f"{lesson.name}.ipynb" for lesson in LESSONS if lesson.package == part.lesson]


def test_an_arrow_leads_to_every_sum(figure):
    lesson_map(figure)
    sums = [text.get_position() for text in figure.axes[0].texts if text.get_text() == "+"]
    tips = [
        patch.get_path().vertices[patch.get_path().vertices[:, 0].argmax()]
        for patch in figure.axes[0].patches
        if isinstance(patch, FancyArrowPatch)
    ]
    in_layer = [(x, y) for x, y in sums if x == STREAM]
    assert len(in_layer) == 2
    for x, y in in_layer:
        assert any(0 < x - tip[0] < 0.15 and tip[1] == pytest.approx(y, abs=0.1) for tip in tips)
