import numpy as np
import pytest

from blocklab_course.lessons.attention.attention_map import attention_map
from blocklab_course.pretrained.trace import stored_trace


@pytest.fixture
def reading():
    return stored_trace()


@pytest.fixture
def update(figure, reading):
    return attention_map(reading.pieces, reading.attention)(figure)


def test_map_and_bars_are_the_weights_of_the_chosen_head(figure, reading, update):
    update(layer=3, head=1, row=8)
    grid, bars = figure.axes
    assert np.array_equal(grid.images[0].get_array(), reading.attention[3, 1].numpy())
    assert [bar.get_width() for bar in bars.patches] == reading.attention[3, 1, 8].tolist()
    assert grid.lines[0].get_xdata().tolist() == reading.attention[3, 1].argmax(-1).tolist()
    assert grid.patches[0].get_y() == 7.5
    for labels in (grid.get_xticklabels(), grid.get_yticklabels(), bars.get_yticklabels()):
        assert tuple(label.get_text() for label in labels) == reading.pieces
    assert "“it”" in figure.texts[0].get_text()


def test_the_lesson_says_what_is_seen(reading, update):
    line = update(layer=5, head=11, row=reading.pieces.index("it"))
    assert "“it” looks most at “cat”, with weight 0.71. The mean of that column is 0.64." in line
    assert "most at “cat”, with weight 0.49" in update(layer=3, head=1, row=8)


def test_where_each_word_looks(reading):
    def looks(layer, head):
        return [reading.pieces[j] for j in reading.attention[layer, head].argmax(-1).tolist()]

    assert looks(5, 11).count("cat") == 12
    assert looks(0, 2) == ["[CLS]", *reading.pieces[:-1]]
    pairs = list(zip(reading.pieces, looks(3, 1), strict=True))
    assert {("the", "cat"), ("the", "mat"), ("on", "mat"), ("it", "cat")} <= set(pairs)
