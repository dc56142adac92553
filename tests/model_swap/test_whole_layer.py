"""The learner's layer in every block of SmolLM2."""

import pytest

from blocklab_course.model_swap import whole_layer
from blocklab_course.model_swap.whole_layer import swap_layer

needs_smollm2 = pytest.mark.usefixtures("smollm2")


def test_reports_too_little_memory(monkeypatch):
    monkeypatch.setattr(whole_layer, "free_memory", lambda: 1e9)
    assert swap_layer(None, None, None) == "SmolLM2 needs 2 GB of free memory, but only 1.0 GB are available."


def parts(block):
    return block.attend, block.feed_forward, block.norm1, block.norm2


def pre_norm(x, sublayer, norm):
    return x + sublayer(norm(x))


def post_norm(x, sublayer, norm):
    return norm(x + sublayer(x))


@needs_smollm2
def test_right_layer_gives_same_numbers_and_answer():
    def layer(x, attention, feed_forward, norm1, norm2, around):
        return around(around(x, attention, norm1), feed_forward, norm2)

    right = swap_layer(layer, parts, pre_norm)
    assert right == "layer 0: the same numbers, up to rounding\nin all 30: The capital of France is Paris."


@needs_smollm2
def test_layer_that_does_nothing_is_different():
    first, second, unused = swap_layer(lambda x, *_: x, parts, pre_norm).splitlines()
    assert first == "layer 0: different numbers"
    assert "Paris" not in second
    assert "never calls `around`" in unused


@needs_smollm2
def test_layer_that_ignores_around_is_reported():
    def layer(x, attention, feed_forward, norm1, norm2, _around):
        h = x + attention(norm1(x))
        return h + feed_forward(norm2(h))

    same, answer, unused = swap_layer(layer, parts, pre_norm).splitlines()
    assert same == "layer 0: the same numbers, up to rounding"
    assert "Paris" in answer
    assert "another `around` will change nothing" in unused


@needs_smollm2
def test_error_is_reported_in_one_line():
    message = swap_layer(lambda x, attention, *others: others[-1](x, attention(x), others[1]), parts, pre_norm)
    assert message == "layer 0: it raises TypeError: 'Tensor' object is not callable"


@needs_smollm2
@pytest.mark.parametrize(
    ("around", "layer", "answer"), [(pre_norm, "the same numbers", "Paris"), (post_norm, "different numbers", "enthus")]
)
def test_unwritten_layer_is_replaced_by_right_one(around, layer, answer):
    notice, first, second = swap_layer(lambda *_: ..., parts, around).splitlines()
    assert notice.startswith("Yours gives no tensor")
    assert layer in first
    assert answer in second
