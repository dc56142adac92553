import pytest

from blocklab_course.lessons.kv_cache.cache_size import LEAST, LONGEST, SHORTEST, cache_size, in_words, panel
from blocklab_course.lessons.kv_cache.published_caches import SHARINGS, cached_models

START = {"model": 0, "sharing": "built", "length": 8192, "window": False}


@pytest.fixture
def update(figure):
    return cache_size(figure)


def shown(figure):
    heads, bars = figure.axes
    return [bar for bar in bars.patches if bar.get_visible()], [cell for cell in heads.patches if cell.get_visible()]


def test_bars_up_to_the_model_are_shown_with_their_sizes(figure, update):
    update(**START)
    assert len(shown(figure)[0]) == 1
    update(**START | {"model": 3})
    bars, _ = shown(figure)
    sizes = [model.bytes_of(8192) for model in cached_models()[:4]]
    assert [LEAST + bar.get_width() for bar in bars] == pytest.approx(sizes)
    words = [text.get_text() for text in figure.axes[1].texts if text.get_visible()]
    assert [in_words(size) for size in sizes] == words[-4:] == ["180 MiB", "4 GiB", "64 MiB", "1 GiB"]


@pytest.mark.parametrize("length", [SHORTEST, 2048, 8192, LONGEST])
@pytest.mark.parametrize("sharing", SHARINGS)
def test_every_bar_has_room_for_its_size_beside_the_stroke(length, sharing, figure, update):
    update(model=8, sharing=sharing, length=length, window=True)
    axes = figure.axes[1]
    draw = figure.canvas.get_renderer()
    [marks] = [c for c in axes.collections if len(c.get_segments()) == 9]
    sizes = [text for text in axes.texts if text.get_text().endswith("iB")]
    for bar, size, ((stroke, _), _) in zip(shown(figure)[0], sizes, marks.get_segments(), strict=True):
        box = size.get_window_extent(draw)
        ends = [axes.transData.transform((x, 0))[0] for x in (LEAST + bar.get_width(), stroke)]
        assert box.x1 < min(ends)


def test_the_stroke_stays_where_the_model_was_built_and_the_bar_moves(figure, update):
    update(**START | {"model": 1, "sharing": "MQA"})
    [marks] = [c for c in figure.axes[1].collections if len(c.get_segments()) == 2]
    llama = cached_models()[1]
    assert marks.get_segments()[1][0][0] == llama.bytes_of(8192) == 4 * 2**30
    assert LEAST + shown(figure)[0][1].get_width() == pytest.approx(llama.bytes_of(8192) / 32)


@pytest.mark.parametrize(
    ("model", "sharing", "asking", "kept"),
    [
        *[(0, "built", 9, 3), (1, "built", 32, 32), (2, "built", 71, 1), (4, "built", 32, 8), (8, "built", 128, 1)],
        *[(4, "MHA", 32, 32), (7, "MQA", 64, 1), (0, "GQA", 9, 3), (6, "GQA", 32, 8)],
    ],
)
def test_the_heads_are_as_many_as_the_model_has_and_a_wire_leads_to_the_shared_one(
    model, sharing, asking, kept, figure, update
):
    update(**START | {"model": model, "sharing": sharing})
    cells = shown(figure)[1]
    above, below = cells[:asking], cells[asking:]
    assert len(below) == kept
    assert {round(cell.get_y(), 2) for cell in above} == {0.62}
    for place, ((x, _), (to, _)) in enumerate(figure.axes[0].collections[0].get_segments()):
        assert above[place].get_x() < x < above[place].get_x() + above[place].get_width()
        [shared] = [cell for cell in below if cell.get_x() < to < cell.get_x() + cell.get_width()]
        assert shared.get_x() <= x <= shared.get_x() + shared.get_width()


def test_the_line_works_it_out(update):
    assert update(**START | {"model": 7}) == (
        "Llama 3.1 70B, as built: 80 layers × 2048 numbers × 2 bytes = 327680 bytes a token; 8192 tokens: 2.5 GiB."
    )
    line = update(**START | {"model": 6, "length": 131072.0, "window": True})
    assert line.endswith("507904 bytes a token; 131072 tokens: 10.4 GiB.")


def test_the_right_guess_is_what_the_bytes_say():
    small, large = (next(m for m in cached_models() if m.name == name) for name in ("Llama 2 7B", "Llama 3.1 70B"))
    ratio = large.bytes_a_token() / small.bytes_a_token()
    meant = {"ten": ratio == 10, "layers": ratio == 2.5, "equal": ratio == 1, "smaller": ratio < 1}
    assert [name for name, true in meant.items() if true] == [panel().prediction.right]
    assert ratio == 0.625
    assert large.layers / small.layers == 2.5


def test_nothing_of_the_two_is_seen_before_the_guess():
    assert "Llama" not in panel().line
