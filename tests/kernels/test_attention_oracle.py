"""Scaled dot product attention compared with plain loops and with torch's, in every shape and dtype."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab.attention import causal_mask, scaled_dot_product_attention
from tolerance import TOLERANCE

INFINITY = math.inf


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=torch.float64)


def by_hand(query, key, value, mask, scale):
    """One head, in Python floats: query (L, d), key (S, d), value (S, d_v), mask (L, S) of numbers to add."""
    rows = []
    for i, q in enumerate(query.tolist()):
        scores = [
            scale * sum(a * b for a, b in zip(q, k, strict=True)) + mask[i][j] for j, k in enumerate(key.tolist())
        ]
        exponentials = [math.exp(score - max(scores)) if max(scores) > -INFINITY else 0.0 for score in scores]
        total = sum(exponentials) or 1.0
        columns = zip(*value.tolist(), strict=True)
        rows.append([sum(e * v for e, v in zip(exponentials, column, strict=True)) / total for column in columns])
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("mask", ["none", "boolean", "float", "causal"])
def test_attention_matches_its_definition(mask, dtype, rng):
    L, S, d, d_v = 4, 6, 5, 3
    query, key, value = (normal(shape, rng).to(dtype) for shape in [(L, d), (S, d), (S, d_v)])
    allowed = torch.rand(L, S, generator=rng) < 0.5
    allowed[2] = False  # a query that may see no key
    added = normal((L, S), rng).to(dtype)
    arguments, numbers = {
        "none": ({}, torch.zeros(L, S)),
        "boolean": ({"attn_mask": allowed}, torch.where(allowed, 0.0, -INFINITY)),
        "float": ({"attn_mask": added.masked_fill(~allowed, -INFINITY)}, added.masked_fill(~allowed, -INFINITY)),
        "causal": ({"is_causal": True}, torch.ones(L, S).tril().log()),
    }[mask]
    y = scaled_dot_product_attention(query, key, value, **arguments)
    assert y.dtype == dtype
    assert_close(y.double(), by_hand(query, key, value, numbers.tolist(), 1 / math.sqrt(d)), **TOLERANCE[dtype])


MASKS = ["none", "causal", "bool", "float", "learned"]


@st.composite
def cases(draw, masks=MASKS):
    """query, key, value and options; the axes have different lengths, so that none can stand for another."""
    L, S, d, d_v, *batch = draw(st.lists(st.integers(1, 9), min_size=4, max_size=7, unique=True))
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    dtype = draw(st.sampled_from(list(TOLERANCE)))
    tensors = [2 * normal((*batch, *last), rng) for last in [(L, d), (S, d), (S, d_v)]]
    if draw(st.booleans()):  # the memory layout that splitting into heads gives
        tensors = [t.transpose(0, -2).contiguous().transpose(0, -2) for t in tensors]
    options = {"scale": draw(st.sampled_from([None, 0.0, 0.3, -1.5]))}
    kind = draw(st.sampled_from(masks))
    kept = draw(st.integers(0, len(batch)))
    shape = (*batch[len(batch) - kept :], L, S)
    shape = tuple(1 if draw(st.booleans()) else n for n in shape) if draw(st.booleans()) else shape
    allowed = torch.rand(shape, generator=rng) < 0.6  # now and then a row is all False
    if kind == "causal":
        options["is_causal"] = True
    elif kind == "bool":
        options["attn_mask"] = allowed
    elif kind == "float":
        options["attn_mask"] = torch.where(allowed, 0.0, -INFINITY).to(dtype)
    elif kind == "learned":
        options["attn_mask"] = normal(shape, rng).masked_fill(~allowed, -INFINITY).to(dtype)
    return [t.to(dtype) for t in tensors], options


def in_float64(options):
    mask = options.get("attn_mask")
    return options | {"attn_mask": mask.double()} if mask is not None and mask.is_floating_point() else options


@given(cases())
@settings(max_examples=300)
def test_agrees_with_torch_in_float64_and_is_rounded_once(case):
    tensors, options = case
    before = [t.clone() for t in tensors]
    y = scaled_dot_product_attention(*tensors, **options)
    expected = F.scaled_dot_product_attention(*(t.double() for t in tensors), **in_float64(options))
    assert y.dtype == tensors[0].dtype
    assert y.shape == expected.shape
    assert_close(y.double(), expected, **TOLERANCE[y.dtype])
    assert all(map(torch.equal, tensors, before))


@given(cases())
@settings(max_examples=100)
def test_gradients_agree_with_torch(case):
    tensors, options = case
    tensors = [t.detach().double().requires_grad_() for t in tensors]
    options = in_float64(options)
    inputs = list(tensors)
    if options.get("attn_mask") is not None and options["attn_mask"].is_floating_point():
        options["attn_mask"] = options["attn_mask"].detach().requires_grad_()
        inputs.append(options["attn_mask"])
    results = [
        function(*tensors, **options) for function in (scaled_dot_product_attention, F.scaled_dot_product_attention)
    ]
    direction = normal(results[0].shape, torch.Generator().manual_seed(1))
    got, expected = (torch.autograd.grad((y * direction).sum(), inputs) for y in results)
    assert all(torch.isfinite(g).all() for g in got)
    assert_close(got, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_half_type_is_rounded_once_over_many_numbers(dtype, rng):
    # 48,000 numbers: a second rounding, of the scores, the weights or the values, would show in some of them
    query, key, value = (normal((4, 8, 50, n), rng).to(dtype) for n in (16, 16, 30))
    mask = normal((50, 50), rng).to(dtype)
    y = scaled_dot_product_attention(query, key, value, mask)
    expected = F.scaled_dot_product_attention(query.double(), key.double(), value.double(), mask.double())
    assert_close(y.double(), expected, **TOLERANCE[dtype])


@pytest.mark.parametrize("mask_dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_a_mask_of_any_float_type_goes_with_every_type(dtype, mask_dtype, rng):
    query, key, value = (normal((3, n, 4), rng).to(dtype) for n in (5, 6, 6))
    mask = normal((5, 6), rng).to(mask_dtype)
    y = scaled_dot_product_attention(query, key, value, mask)
    expected = F.scaled_dot_product_attention(query.double(), key.double(), value.double(), mask.double())
    assert y.dtype == dtype
    assert_close(y.double(), expected, **TOLERANCE[dtype])


def test_float16_scores_do_not_overflow():
    query = torch.full((2, 4), 200.0, dtype=torch.float16)  # 4 * 200² = 160,000 > 65,504
    key = query * torch.tensor([[1.0], [-1.0]], dtype=torch.float16)
    value = torch.tensor([[3.0], [5.0]], dtype=torch.float16)
    y = scaled_dot_product_attention(query, key, value, scale=1.0)
    assert torch.equal(y, torch.full((2, 1), 3.0, dtype=torch.float16))


def test_small_cases_worked_by_hand():
    query = torch.tensor([[0.0, 0.0], [math.log(3) * 2**0.5, 7.0]], dtype=torch.float64)
    key = torch.tensor([[1.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    value = torch.tensor([[4.0], [8.0]], dtype=torch.float64)
    # no match with either key: the plain mean. Scores log 3 and 0 after the root of 2: weights 3/4 and 1/4.
    assert_close(scaled_dot_product_attention(query, key, value), torch.tensor([[6.0], [5.0]], dtype=torch.float64))
    # the first query sees the first key alone
    causal = scaled_dot_product_attention(query, key, value, is_causal=True)
    assert_close(causal, torch.tensor([[4.0], [5.0]], dtype=torch.float64))
    # adding log 2 to a score doubles the weight: 2/3 and 1/3, then 6/7 and 1/7
    added = torch.tensor([[math.log(2), 0.0]], dtype=torch.float64)
    doubled = scaled_dot_product_attention(query, key, value, added)
    assert_close(doubled, torch.tensor([[16 / 3], [32 / 7]], dtype=torch.float64))


def test_causal_mask():
    expected = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
    assert torch.equal(causal_mask(3), expected)
    assert causal_mask(0).shape == (0, 0)
    floats = torch.where(causal_mask(7), 0.0, -INFINITY)
    assert torch.equal(floats, torch.nn.Transformer.generate_square_subsequent_mask(7))


@pytest.mark.parametrize("length", [1, 3, 8])
def test_is_causal_is_the_causal_mask(length, rng):
    query, key, value = (normal((2, length, n), rng) for n in (4, 4, 3))
    y = scaled_dot_product_attention(query, key, value, is_causal=True)
    assert torch.equal(y, scaled_dot_product_attention(query, key, value, causal_mask(length)))
    if length > 1:
        inverted = scaled_dot_product_attention(query, key, value, ~causal_mask(length))
        assert (y - inverted).abs().max() > 0.1


def test_mask_polarity_matches_torch_function():
    # cos(0), cos(1), ...: the mask of the Modules, given to the function, differs by 1.6077
    x = torch.cos(torch.arange(12.0, dtype=torch.float64)).view(1, 1, 3, 4)
    right, wrong = (scaled_dot_product_attention(x, x, x, mask) for mask in (causal_mask(3), ~causal_mask(3)))
    assert (right - wrong).abs().max().item() == pytest.approx(1.6077, abs=5e-5)


def test_two_causal_heads_match_recorded_numbers():
    # cos(0), cos(1), ... as two heads of two features, causal; rows 0 and 1 of the merged result
    x = torch.cos(torch.arange(12.0, dtype=torch.float64)).view(3, 2, 2).transpose(0, 1)
    y = scaled_dot_product_attention(x, x, x, causal_mask(3)).transpose(0, 1).flatten(1)
    expected = [[1.0, 0.540302, -0.416147, -0.989992], [-0.109638, 0.36809, 0.775432, 0.519825]]
    assert_close(y[:2], torch.tensor(expected, dtype=torch.float64), rtol=0, atol=5e-7)
