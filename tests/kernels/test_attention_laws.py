"""Properties of attention for every input: which tokens affect which, queries that see no key, gradients."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab.attention import MultiheadAttention, causal_mask, scaled_dot_product_attention
from tolerance import TOLERANCE


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=torch.float64)


def query_key_value(rng, *batch, L=4, S=6, d=5, d_v=3):
    return [normal((*batch, *last), rng) for last in [(L, d), (S, d), (S, d_v)]]


# Who influences whom


@settings(max_examples=40)
@given(length=st.integers(1, 8), place=st.integers(0, 7), seed=st.integers(0, 99))
def test_causal_token_affects_only_itself_and_later_ones(length, place, seed):
    rng = torch.Generator().manual_seed(seed)
    place %= length
    x = normal((2, length, 4), rng)
    poked = x.clone()
    poked[1, place] += 1
    layer = MultiheadAttention(4, 2, dtype=torch.float64)
    for attend in (
        lambda x: scaled_dot_product_attention(x, x, x, is_causal=True),
        lambda x: scaled_dot_product_attention(x, x, x, causal_mask(length)),
        lambda x: layer(x, x, x, attn_mask=~causal_mask(length))[0],
    ):
        moved = (attend(poked) != attend(x)).any(-1)
        expected = torch.zeros(2, length, dtype=torch.bool)
        expected[1, place:] = True
        assert torch.equal(moved, expected)


def test_perturbing_a_token_reveals_the_mask(rng):
    # Poke value j, and see which queries move: column j of the mask.
    query, key, value = query_key_value(rng)
    mask = torch.rand(4, 6, generator=rng) < 0.5
    drawn = torch.zeros_like(mask)
    for j in range(6):
        poked = value.clone()
        poked[j] += 1
        y, moved = (scaled_dot_product_attention(query, key, v, mask) for v in (value, poked))
        drawn[:, j] = (y != moved).any(-1)
    assert torch.equal(drawn, mask)


def test_masked_values_may_be_infinite(rng):
    query, key, value = query_key_value(rng)
    mask = torch.ones(4, 6, dtype=torch.bool)
    mask[:, 5] = False
    wild = key.clone()
    wild[5] = math.inf
    y = scaled_dot_product_attention(query, wild, value, mask)
    assert_close(y, scaled_dot_product_attention(query, key[:5], value[:5]), **TOLERANCE[y.dtype])


@given(st.permutations(range(6)), st.integers(0, 99))
def test_permutation_equivariant_without_a_mask(order, seed):
    rng = torch.Generator().manual_seed(seed)
    query, key, value = query_key_value(rng, 2)
    y = scaled_dot_product_attention(query, key, value)
    assert_close(scaled_dot_product_attention(query, key[:, order], value[:, order]), y, **TOLERANCE[y.dtype])
    x, layer = normal((2, 6, 4), rng), MultiheadAttention(4, 2, dtype=torch.float64)
    moved = layer(x[:, order], x[:, order], x[:, order])[0]
    assert_close(moved, layer(x, x, x)[0][:, order], **TOLERANCE[y.dtype])


def test_not_permutation_equivariant_with_a_causal_mask(rng):
    x = normal((5, 4), rng)
    order = [4, 2, 0, 1, 3]
    y, moved = (scaled_dot_product_attention(z, z, z, is_causal=True) for z in (x, x[order]))
    assert (moved - y[order]).abs().max() > 0.1


def test_attention_stays_between_the_values(rng):
    query, key, value = query_key_value(rng, 7, S=4)
    y = scaled_dot_product_attention(3 * query, key, value)
    assert (y >= value.amin(-2, keepdim=True) - 1e-12).all()
    assert (y <= value.amax(-2, keepdim=True) + 1e-12).all()
    ones = scaled_dot_product_attention(query, key, torch.ones_like(value))
    assert_close(ones, torch.ones_like(ones), **TOLERANCE[y.dtype])


def test_large_scale_selects_the_best_key(rng):
    query, key, value = query_key_value(rng)
    best = (query @ key.mT).argmax(-1)
    assert_close(scaled_dot_product_attention(query, key, value, scale=1e4), value[best], rtol=1e-9, atol=1e-9)


def test_shifting_all_scores_changes_nothing(rng):
    query, key, value = query_key_value(rng)
    shift = normal((4, 1), rng)
    y = scaled_dot_product_attention(query, key, value, shift)
    assert_close(y, scaled_dot_product_attention(query, key, value), rtol=1e-11, atol=1e-11)


# A query that may see no key

HALF = torch.tensor([[True] * 6, [False] * 6, [True, False] * 3, [False] * 6])
NOTHING = {
    "boolean": lambda dtype: HALF,
    "float": lambda dtype: torch.where(HALF, 0.0, -math.inf).to(dtype),
    "one column": lambda dtype: HALF.any(-1, keepdim=True),
    "per sample": lambda dtype: HALF.expand(2, 3, 4, 6),
}


@pytest.mark.parametrize("kind", NOTHING)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_a_query_that_sees_no_key_gets_zeros_and_finite_gradients(kind, dtype, rng):
    mask = NOTHING[kind](dtype)
    tensors = [t.to(dtype).requires_grad_() for t in query_key_value(rng, 2, 3)]
    y = scaled_dot_product_attention(*tensors, mask)
    assert torch.equal(y[:, :, 1::2], torch.zeros_like(y[:, :, 1::2]))
    assert (y[:, :, ::2] != 0).all()
    with torch.autograd.set_detect_anomaly(True):  # no NaN on the way either
        gradients = torch.autograd.grad(y.sum(), tensors, create_graph=True)
        assert all(torch.isfinite(g).all() for g in gradients)
        assert torch.equal(gradients[0][:, :, 1::2], torch.zeros_like(tensors[0][:, :, 1::2]))
        second = torch.autograd.grad(sum(g.square().sum() for g in gradients), tensors)
    assert all(torch.isfinite(g).all() for g in second)


def test_most_negative_number_in_a_mask_is_not_minus_infinity(rng):
    # torch's rule too: such a row still looks at everything alike
    query, key, value = query_key_value(rng)
    lowest = torch.full((4, 6), torch.finfo(torch.float64).min, dtype=torch.float64)
    got, expected = (
        f(query, key, value, lowest) for f in (scaled_dot_product_attention, F.scaled_dot_product_attention)
    )
    assert_close(got, expected, **TOLERANCE[got.dtype])
    assert_close(got, value.mean(-2, keepdim=True).expand_as(got), **TOLERANCE[got.dtype])


def test_mask_values_that_overflow_to_minus_infinity_hide_the_key(rng):
    query, key, value = (t.float() for t in query_key_value(rng))
    mask = torch.zeros(4, 6, dtype=torch.float64)
    mask[1] = -1e300
    y = scaled_dot_product_attention(query, key, value, mask)
    assert torch.equal(y[1], torch.zeros(3))
    assert torch.isfinite(y).all()


# Groups of heads


@pytest.mark.parametrize(("heads", "key_heads", "value_heads"), [(6, 3, 3), (6, 1, 1), (6, 6, 6), (6, 2, 3)])
@pytest.mark.parametrize("causal", [False, True])
def test_grouped_queries_are_repeated_heads(heads, key_heads, value_heads, causal, rng):
    query, key, value = (
        normal((2, heads, 4, 5), rng),
        normal((2, key_heads, 7, 5), rng),
        normal((2, value_heads, 7, 8), rng),
    )
    y = scaled_dot_product_attention(query, key, value, is_causal=causal, enable_gqa=True)
    # query head i reads key head i * key_heads // heads: neighbours share
    all_keys = key[:, [i * key_heads // heads for i in range(heads)]]
    all_values = value[:, [i * value_heads // heads for i in range(heads)]]
    assert_close(y, scaled_dot_product_attention(query, all_keys, all_values, is_causal=causal), rtol=0, atol=0)
    torchs = F.scaled_dot_product_attention(query, key, value, is_causal=causal, enable_gqa=True)
    assert_close(y, torchs, **TOLERANCE[y.dtype])


def test_grouped_queries_without_a_batch_and_with_a_mask(rng):
    query, key, value = normal((4, 3, 5), rng), normal((2, 7, 5), rng), normal((2, 7, 8), rng)
    mask = torch.rand(4, 3, 7, generator=rng) < 0.5
    got, expected = (
        f(query, key, value, mask, enable_gqa=True)
        for f in (scaled_dot_product_attention, F.scaled_dot_product_attention)
    )
    assert_close(got, expected, **TOLERANCE[got.dtype])


# Dropout


def test_dropout_applies_to_the_weights_and_keeps_their_mean():
    # values of an identity matrix show the weights: 1/8 each, then 0 or 1/8 / (1 - 0.25)
    torch.manual_seed(0)
    query, key, value = torch.zeros(300, 5, 2), torch.zeros(300, 8, 2), torch.eye(8).expand(300, 8, 8)
    y = scaled_dot_product_attention(query, key, value, dropout_p=0.25)
    assert_close(y.unique(), torch.tensor([0.0, 1 / 6]))
    assert (y == 0).double().mean().item() == pytest.approx(0.25, abs=0.02)
    everything = scaled_dot_product_attention(query, key, value, dropout_p=1.0)
    assert torch.equal(everything, torch.zeros(300, 5, 8))


# Derivatives, compilation, empty tensors

CASES = {
    "bare": {},
    "causal": {"is_causal": True},
    "boolean": {"attn_mask": HALF},
    "float": {"attn_mask": torch.where(HALF, 0.5, -math.inf).double()},
    "scale": {"scale": 0.7},
}


@pytest.mark.parametrize("case", CASES)
def test_first_and_second_derivative(case, rng):
    inputs = [t.requires_grad_() for t in query_key_value(rng, d=2, d_v=2)]

    def attend(*tensors):
        return scaled_dot_product_attention(*tensors, **CASES[case])

    assert torch.autograd.gradcheck(attend, inputs)
    assert torch.autograd.gradgradcheck(attend, inputs)


@pytest.mark.parametrize("case", [*CASES, "groups"])
def test_compiles_without_graph_breaks(case, rng):
    options = CASES.get(case, {"enable_gqa": True})
    query, key, value = query_key_value(rng, 2, 3)
    if case == "groups":
        key, value = key[:, :1], value[:, :1]

    def attend(*tensors):
        return scaled_dot_product_attention(*tensors, **options)

    compiled = torch.compile(attend, fullgraph=True, backend="aot_eager")
    assert_close(compiled(query, key, value), attend(query, key, value), **TOLERANCE[query.dtype])


SHAPES = {  # (N, L, S, d, d_v)
    "no batch": (0, 4, 6, 5, 3),
    "no query": (2, 0, 6, 5, 3),
    "no key": (2, 4, 0, 5, 3),
    "no feature": (2, 4, 6, 0, 3),
    "no value feature": (2, 4, 6, 5, 0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masked", [False, True])
def test_empty_tensors_match_torch(shape, masked, rng):
    N, L, S, d, d_v = SHAPES[shape]
    query, key, value = query_key_value(rng, N, L=L, S=S, d=d, d_v=d_v)
    mask = torch.ones(L, S, dtype=torch.bool) if masked else None
    got, expected = (f(query, key, value, mask) for f in (scaled_dot_product_attention, F.scaled_dot_product_attention))
    assert got.shape == (N, L, d_v)
    assert_close(got, expected, **TOLERANCE[got.dtype])


@pytest.mark.parametrize("types", [("float32",) * 3, ("float32", "bfloat16", "bfloat16"), ("float64",) * 3], ids=str)
def test_autocast_changes_types_but_not_the_arithmetic(types, rng):
    q, k, v = (torch.randn(2, 3, 5, 8, generator=rng).to(getattr(torch, name)) for name in types)
    with torch.autocast("cpu", torch.bfloat16):
        got, theirs = scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v)
    assert got.dtype == theirs.dtype
    chosen = [x if x.dtype == torch.float64 else x.bfloat16() for x in (q, k, v)]
    assert torch.equal(got, scaled_dot_product_attention(*chosen))


def test_autocast_does_not_change_attention_between_the_projections(rng):
    layer = MultiheadAttention(8, 2)
    x = torch.randn(2, 5, 8, generator=rng)
    with torch.autocast("cpu", torch.bfloat16):
        _, weights = layer(x, x, x, average_attn_weights=False)
        q, k, _ = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1)
    q, k = (each.unflatten(-1, (2, 4)).transpose(1, 2).float() for each in (q, k))
    assert torch.equal(weights, (0.5 * q @ k.mT).softmax(-1).bfloat16())
