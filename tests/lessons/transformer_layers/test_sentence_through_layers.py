import pytest

from blocklab_course.lessons.transformer_layers.sentence_through_layers import (
    LARGEST,
    SMALLEST,
    sentence_through_layers,
)
from blocklab_course.pretrained.trace import stored_trace

READING = stored_trace()
SIZES = READING.sizes()


def test_the_lesson_says_what_is_seen(figure):
    update = sentence_through_layers(READING.pieces, SIZES)(figure)
    lines = [update(layer=layer) for layer in range(6)]
    assert all("“[CLS]”, by the feed-forward network" in line for line in lines[:4])
    assert "added 9.9, sum 11.4, after the norm 0.4." in lines[0]
    others = SIZES[0, 1, 1, 1:]
    assert (round(others.min().item(), 1), round(others.max().item(), 1)) == (0.2, 0.4)
    after = SIZES[0, 1, 3]
    assert after[0] == after.min()
    for layer in range(4):  # far more than to the others
        of_cls, *rest = SIZES[layer, 1, 1].tolist()
        assert of_cls > 6 * max(rest)


def test_the_giant_is_one_feature_and_the_same_one_in_four_layers():
    sizes, features = READING.fed[:4, 0].abs().topk(2)
    assert features[:, 0].tolist() == [99] * 4
    assert sizes[0].tolist() == pytest.approx([194, 1.5], rel=0.01)


@pytest.mark.parametrize("layer", range(6))
def test_marks_stand_at_the_sizes(figure, layer):
    sentence_through_layers(READING.pieces, SIZES)(figure)(layer=layer)
    for axes, half in zip(figure.axes, SIZES[layer], strict=True):
        assert [line.get_xdata().tolist() for line in axes.lines] == half.tolist()
        assert SMALLEST < half.min() <= half.max() < LARGEST
