import pytest

from blocklab_course.model_swap import whole_layer
from blocklab_course.model_swap.whole_layer import swap_layer

where_smollm2_is = pytest.mark.usefixtures("smollm2")


def test_where_memory_is_short_it_says_so(monkeypatch):
    monkeypatch.setattr(whole_layer, "free_memory", lambda: 1e9)
    assert swap_layer(None, None, None) == "SmolLM2 wants 2 GB of free memory; 1.0 GB are there."


def parts(block):
    return block.attend, block.feed_forward, block.norm1, block.norm2


def pre_norm(x, sublayer, norm):
    return x + sublayer(norm(x))


def post_norm(x, sublayer, norm):
    return norm(x + sublayer(x))


@where_smollm2_is
def test_the_models_own_parts_give_its_numbers_and_its_answer():
    def layer(x, attention, feed_forward, norm1, norm2, around):
        return around(around(x, attention, norm1), feed_forward, norm2)

    right = swap_layer(layer, parts, pre_norm)
    assert right == "layer 0: the same numbers, up to rounding\nin all 30: The capital of France is Paris."


@where_smollm2_is
def test_a_layer_that_does_nothing_is_another_one():
    first, second, unused = swap_layer(lambda x, *_: x, parts, pre_norm).splitlines()
    assert first == "layer 0: other numbers"
    assert "Paris" not in second
    assert "never calls `around`" in unused


@where_smollm2_is
def test_sums_of_ones_own_are_right_and_said_to_stay_as_they_are():
    def layer(x, attention, feed_forward, norm1, norm2, _around):
        h = x + attention(norm1(x))
        return h + feed_forward(norm2(h))

    same, answer, unused = swap_layer(layer, parts, pre_norm).splitlines()
    assert same == "layer 0: the same numbers, up to rounding"
    assert "Paris" in answer
    assert "another `around` will change nothing" in unused


@where_smollm2_is
def test_an_error_is_told_in_a_line():
    told = swap_layer(lambda x, attention, *others: others[-1](x, attention(x), others[1]), parts, pre_norm)
    assert told == "layer 0: it stops with TypeError: 'Tensor' object is not callable"


@where_smollm2_is
@pytest.mark.parametrize(
    ("around", "layer", "answer"), [(pre_norm, "the same numbers", "Paris"), (post_norm, "other numbers", "enthus")]
)
def test_until_it_is_written_the_right_one_is_told_and_said_so(around, layer, answer):
    said, first, second = swap_layer(lambda *_: ..., parts, around).splitlines()
    assert said.startswith("Yours gives no tensor")
    assert layer in first
    assert answer in second
