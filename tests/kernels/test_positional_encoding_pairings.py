"""The two pairings of the rotation, and the order of weight rows that converts one into the other."""

import pytest
import torch
from torch.testing import assert_close

from blocklab.positional_encoding import rotary_embedding
from tolerance import TOLERANCE

DOUBLE = torch.float64
SIX_DIGITS = {"rtol": 0, "atol": 6e-7}
HEADS, WIDTH, D_MODEL, LENGTH = 2, 8, 16, 5
ORDER = [0, 2, 4, 6, 1, 3, 5, 7]  # the first features of all pairs, then the second

SCORES = {  # of the query at m and the key at n
    "adjacent": {
        (0, 0): 0.386226,
        (3, 0): -0.890667,
        (8, 5): -0.890667,
        (16, 13): -0.890667,
        (0, 3): -0.100298,
        (16, 0): -0.719832,
    },
    "half": {(0, 0): 0.386226, (3, 0): -0.250629, (8, 5): -0.250629, (16, 13): -0.250629, (0, 3): -0.961472},
}


@pytest.mark.parametrize("pairing", SCORES)
def test_scores_match_recorded_numbers(pairing):
    query, key = (f(torch.arange(8, dtype=DOUBLE))[None] for f in (torch.sin, torch.cos))
    for (m, n), score in SCORES[pairing].items():
        turned = [rotary_embedding(x, torch.tensor([at]), pairing=pairing) for x, at in ((query, m), (key, n))]
        assert (turned[0] @ turned[1].T).item() == pytest.approx(score, abs=6e-7), (m, n)


@pytest.mark.parametrize(
    ("pairing", "expected"),
    [
        ("adjacent", [-1.142640, 1.922076, 2.585679, 4.279517]),
        ("half", [-3.667053, 1.391008, 2.929851, 3.991998]),
    ],
)
def test_first_position_matches_recorded_numbers(pairing, expected):
    x = torch.arange(1, 9, dtype=DOUBLE)[None]
    y = rotary_embedding(x, torch.tensor([1]), pairing=pairing)
    assert_close(y[0, :4], torch.tensor(expected, dtype=DOUBLE), **SIX_DIGITS)


def published(weight):
    """The rows as huggingface/transformers reorders Meta's, in models/llama/convert_llama_weights_to_hf.py."""
    return weight.view(HEADS, WIDTH // 2, 2, D_MODEL).transpose(1, 2).reshape(HEADS * WIDTH, D_MODEL)


def per_head(weight):
    return weight.view(HEADS, WIDTH, D_MODEL)[:, ORDER].flatten(0, 1)


def across_heads(weight):
    rows = torch.arange(HEADS * WIDTH)
    return weight[torch.cat([rows[0::2], rows[1::2]])]


def scores(x, weights, pairing):
    """(h, L, L), of rotated queries and keys."""
    heads = [(x @ w.T).unflatten(-1, (HEADS, WIDTH)).transpose(0, 1) for w in weights]
    query, key = (rotary_embedding(each, torch.arange(LENGTH), pairing=pairing) for each in heads)
    return query @ key.mT


@pytest.fixture
def case(rng):
    """What the model reads, and its matrices for queries and keys, made for the pairing "adjacent"."""
    shapes = (HEADS * WIDTH, D_MODEL), (HEADS * WIDTH, D_MODEL), (LENGTH, D_MODEL)
    *weights, x = (torch.randn(shape, generator=rng, dtype=DOUBLE) for shape in shapes)
    return x, weights


def test_rows_reordered_within_each_head_make_the_same_scores(case):
    x, weights = case
    assert all(torch.equal(per_head(weight), published(weight)) for weight in weights)
    got = scores(x, map(per_head, weights), "half")
    assert_close(got, scores(x, weights, "adjacent"), **TOLERANCE[DOUBLE])
    back = [0, 4, 1, 5, 2, 6, 3, 7]
    assert torch.equal(per_head(weights[0]).view(HEADS, WIDTH, D_MODEL)[:, back].flatten(0, 1), weights[0])


@pytest.mark.parametrize(
    ("wrong", "off"), [(lambda weight: weight, 78), (across_heads, 196)], ids=["not reordered", "across heads"]
)
def test_rows_in_another_order_make_other_scores(case, wrong, off):
    x, weights = case
    right = scores(x, weights, "adjacent")
    assert right.abs().max().item() == pytest.approx(163, abs=0.5)
    assert (scores(x, map(wrong, weights), "half") - right).abs().max().item() == pytest.approx(off, abs=0.5)


def test_a_single_token_cannot_tell_whether_rows_were_reordered(case):
    x, weights = case
    right, wrong = scores(x, weights, "adjacent"), scores(x, weights, "half")
    assert_close(wrong.diagonal(dim1=1, dim2=2), right.diagonal(dim1=1, dim2=2), **TOLERANCE[DOUBLE])
    assert not torch.allclose(wrong, right)
