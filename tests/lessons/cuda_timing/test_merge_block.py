"""The recipe of `merge_block` makes one softmax of all blocks, and its wrong rows give what was worked out for them."""

import pytest
import torch
import torch.nn.functional as F

from blocklab_course.lessons.catalog import EXERCISES
from tolerance import TOLERANCE

MERGE_BLOCK = EXERCISES["merge_block"]
PLACES = torch.arange(6)
SCORES = torch.tensor([[1.0, 3, 2, 5, -1, 4]], dtype=torch.float64)  # (L, S)
VALUES = torch.stack([PLACES + 1.0, PLACES.double().cos()], -1).double()  # (S, d)
ANSWER = [4.230546, -0.518835]


def by_blocks(merge, scores, values, size=2):
    """Maximum, sum and output behind every block."""
    start = torch.zeros(len(scores), dtype=scores.dtype)  # (L,)
    state = start - torch.inf, start, start.unsqueeze(-1) * values[:1]
    found = []
    for s, v in zip(scores.split(size, -1), values.split(size, -2), strict=True):
        state = merge(*state, s, v)
        found.append(state)
    return found


def answer(*mistakes, scores=SCORES):
    merge = MERGE_BLOCK.variant(*(MERGE_BLOCK.mistake(name) for name in mistakes))
    *_, (_, total, output) = by_blocks(merge, scores, VALUES)
    return output[0] / total


def test_the_table_of_the_lesson():
    found = [[m.item(), l.item(), *o[0].tolist()] for m, l, o in by_blocks(MERGE_BLOCK.recipe, SCORES, VALUES)]
    assert [[round(x, 6) for x in row] for row in found] == [
        [3, 1.135335, 2.135335, 0.675638],
        [5, 1.203438, 4.438347, -0.919274],
        [5, 1.573796, 6.658018, -0.816540],
    ]
    m, l, o = by_blocks(MERGE_BLOCK.recipe, SCORES, VALUES)[-1]
    assert [round(x, 6) for x in (o[0] / l).tolist()] == ANSWER
    assert round((m + l.log()).item(), 6) == 5.453491
    torch.testing.assert_close(m + l.log(), SCORES.logsumexp(-1), **TOLERANCE[torch.float64])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("offset", [0, -1000, 1000])
def test_blocks_of_any_size_give_the_softmax_of_all(size, offset):
    _, total, output = by_blocks(MERGE_BLOCK.recipe, SCORES + offset, VALUES, size)[-1]
    torch.testing.assert_close(output / total.unsqueeze(-1), SCORES.softmax(-1) @ VALUES, **TOLERANCE[torch.float64])


@pytest.mark.parametrize(
    ("mistakes", "first"),
    [
        (["output-not-rescaled"], 5.403728),
        (["sum-not-rescaled"], 2.605388),
        (["nothing-rescaled"], 3.327893),
        (["each-block-by-its-own-maximum"], 3.859312),
    ],
    ids=str,
)
def test_a_mistake_gives_what_it_is_known_by(mistakes, first):
    assert answer(*mistakes)[0].item() == pytest.approx(first, abs=5e-7)


def test_a_maximum_that_starts_at_0_ends_in_nan():
    assert answer("maximum-not-below-zero", scores=SCORES - 1000).isnan().all()
    assert not answer(scores=SCORES - 1000).isnan().any()


def test_a_first_block_without_a_score_ends_in_nan_where_infinities_are_subtracted():
    hidden = SCORES.clone()
    hidden[:, :2] = -torch.inf
    assert answer("infinity-minus-infinity", scores=hidden).isnan().all()
    assert round(answer(scores=hidden)[0].item(), 6) == 4.484775


WINDOW = torch.ones(8, 8, dtype=torch.bool).tril().triu(-2)  # the last three keys
HOLE = (torch.arange(8)[:, None] != 5) | (torch.arange(8) // 2 != 1)  # the second block is hidden from one query


def attention(merge, seen):
    """Attention of eight queries, in blocks of two keys, and torch's."""
    query, key, value = torch.randn(3, 8, 4, dtype=torch.float64)
    scores = (query @ key.T / 2).masked_fill(~seen, -torch.inf)
    *_, (_, total, output) = by_blocks(merge, scores, value)
    return output / total.unsqueeze(-1), F.scaled_dot_product_attention(query, key, value, seen)


@pytest.mark.parametrize("seen", [WINDOW, HOLE], ids=["window", "hole"])
def test_whole_blocks_may_be_hidden_from_some_queries(seen):
    found, wanted = attention(MERGE_BLOCK.recipe, seen)
    torch.testing.assert_close(found, wanted, **TOLERANCE[torch.float64])


@pytest.mark.parametrize(
    ("mistake", "seen"),
    [
        ("skipped-only-where-all-are-hidden", WINDOW),
        ("skipped-where-any-has-seen-nothing", WINDOW),
        ("zero-where-the-block-is-hidden", HOLE),
    ],
)
def test_what_is_not_decided_by_each_query_s_maximum_is_wrong_there(mistake, seen):
    found, wanted = attention(MERGE_BLOCK.variant(MERGE_BLOCK.mistake(mistake)), seen)
    assert not torch.allclose(found, wanted)


def test_a_query_that_sees_no_key_ends_in_nan_where_torch_gives_0():
    query, key, value = torch.randn(3, 8, 4, dtype=torch.float64)
    seen = torch.arange(8)[:, None] != 3  # (L, 1)
    scores = (query @ key.T / 2).masked_fill(~seen, -torch.inf)
    *_, (_, total, output) = by_blocks(MERGE_BLOCK.recipe, scores, value)
    wanted = F.scaled_dot_product_attention(query, key, value, seen.expand(8, 8))
    assert (output / total.unsqueeze(-1)).isnan().all(-1).tolist() == [place == 3 for place in range(8)]
    assert wanted[3].tolist() == [0] * 4
