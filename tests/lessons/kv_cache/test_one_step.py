import pytest
import torch
from matplotlib.colors import to_hex

from blocklab.attention import causal_mask
from blocklab_course.lessons.kv_cache.one_step import LAST_STEP, LENGTH, LONGEST_PROMPT, computed, one_step, so_far
from blocklab_course.panel.palette import MOVED, OTHER, STILL


@pytest.fixture
def update(figure):
    return one_step(figure)


@pytest.mark.parametrize("prompt", [1, 4, LONGEST_PROMPT])
@pytest.mark.parametrize("step", [0, 1, LAST_STEP])
def test_what_is_computed_is_counted_in_the_mask(prompt, step):
    sees = causal_mask(prompt + step)
    assert computed(prompt, step, cache=False) == (prompt + step, int(sees.sum()))
    assert computed(prompt, step, cache=True) == ((1, int(sees[-1].sum())) if step else (prompt, int(sees.sum())))
    assert so_far(prompt, step, cache=True) == (prompt + step, int(sees.sum()))  # each token and each score once


def test_what_the_lesson_says_of_step_6():
    assert so_far(4, 6, cache=False)[0] == sum(range(4, 11)) == 49
    assert so_far(4, 6, cache=True)[0] == 10


def cells(figure):
    return [[to_hex(colour) for colour in row] for row in figure.axes[0].images[0].get_array()]


@pytest.mark.parametrize("cache", [False, True])
def test_cells_and_boxes_show_what_is_computed_and_what_is_read(cache, figure, update):
    update(prompt=4, step=3, cache=cache)
    sees = causal_mask(LENGTH)
    for row in range(LENGTH):
        for column in range(LENGTH):
            before = STILL if cache and row < 6 else MOVED
            expected = before if sees[row, column] and row < 7 else "#ffffff"
            assert cells(figure)[row][column] == expected
    boxes = [box for box in figure.axes[0].patches if box.get_height() == 0.8 and box.get_visible()]
    assert [to_hex(box.get_facecolor()) for box in boxes] == [OTHER if cache else MOVED] * 6 + [MOVED]
    framed = figure.axes[0].patches[-1]
    assert framed.get_y() == 5.5


def test_a_prompt_is_computed_whole_with_a_cache_too(figure, update):
    update(prompt=4, step=0, cache=True)
    assert STILL not in {colour for row in cells(figure) for colour in row}


def test_the_bars_are_both_sums(figure, update):
    line = update(prompt=4, step=6, cache=True)
    assert [bar.get_width() for bar in figure.axes[1].patches] == [49, 10, 210, 55]
    assert line.startswith("Step 6, cache: 1 of 10 tokens pass through all matrices, and 10 scores are computed.")
    assert torch.tensor([n * (n + 1) // 2 for n in range(4, 11)]).sum() == 210
