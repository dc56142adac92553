"""Reading a text in pieces with a cache matches reading it at once; a failed call leaves the cache unchanged."""

import re

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab import KeyValueCache, cached_attention, causal_lower_right, causal_mask, rotary_embedding
from blocklab.attention import scaled_dot_product_attention
from blocklab.kv_cache import rollback_on_error
from tolerance import TOLERANCE

EXACT = TOLERANCE[torch.float64]


def normal(*shape, rng):
    return torch.randn(shape, generator=rng, dtype=torch.float64)


# In pieces as in one


@st.composite
def cases(draw):
    """N, g, n_rep, d, d_v, the lengths of the pieces and a window."""
    sizes = [draw(st.integers(1, 3)) for _ in range(3)] + [draw(st.integers(1, 5)) for _ in range(2)]
    pieces = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    return *sizes, pieces, draw(st.none() | st.integers(1, sum(pieces) + 1))


@given(cases(), st.sampled_from(["boolean", "float"]), st.sampled_from([None, 0.3]))
def test_cached_attention_in_pieces_matches_the_whole_text(case, polarity, scale):
    N, g, n_rep, d, d_v, pieces, window = case
    L, rng = sum(pieces), torch.Generator().manual_seed(0)
    query, key = normal(N, g * n_rep, L, d, rng=rng), normal(N, g, L, d, rng=rng)
    value = normal(N, g, L, d_v, rng=rng)
    seen = torch.tensor([[0 <= i - j < (window or L) for j in range(L)] for i in range(L)])
    mask = seen if polarity == "boolean" else torch.where(seen, 0.0, -torch.inf)
    whole = scaled_dot_product_attention(query, key, value, mask, scale=scale, enable_gqa=True)

    cache, got = KeyValueCache(window), []
    for q, k, v in zip(*(x.split(pieces, 2) for x in (query, key, value)), strict=True):
        got.append(cached_attention(q, k, v, cache, scale, enable_gqa=n_rep > 1))
    assert_close(torch.cat(got, 2), whole, **EXACT)

    kept = min(L, window or L)
    assert cache.length == L
    assert torch.equal(cache.keys, key[:, :, L - kept :])
    assert torch.equal(cache.values, value[:, :, L - kept :])
    assert cache.nbytes == N * g * kept * (d + d_v) * 8
    assert cache.keys.untyped_storage().nbytes() + cache.values.untyped_storage().nbytes() == cache.nbytes


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_cached_attention_keeps_the_dtype(dtype, rng):
    query, key, value = (normal(2, heads, 5, 8, rng=rng).to(dtype) for heads in (4, 2, 2))
    cache = KeyValueCache()
    pieces = [cached_attention(query[:, :, i : i + 1], key[:, :, [i]], value[:, :, [i]], cache) for i in range(5)]
    y = torch.cat(pieces, 2)
    assert y.dtype == cache.keys.dtype == dtype
    wanted = scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    assert_close(y, wanted, **TOLERANCE[dtype])


@pytest.mark.parametrize("window", [None, 2])
def test_gradients_in_pieces_match_the_whole_text(window, rng):
    query, key, value = (normal(1, heads, 5, 4, rng=rng).requires_grad_() for heads in (2, 1, 1))
    seen = causal_mask(5) if window is None else causal_mask(5).triu(1 - window)
    weights = normal(1, 2, 5, 4, rng=rng)
    whole = (scaled_dot_product_attention(query, key, value, seen, enable_gqa=True) * weights).sum()
    cache = KeyValueCache(window)
    pieces = zip(*(x.split([2, 1, 2], 2) for x in (query, key, value)), strict=True)
    y = torch.cat([cached_attention(*piece, cache) for piece in pieces], 2)
    inputs = query, key, value
    assert_close(torch.autograd.grad((y * weights).sum(), inputs), torch.autograd.grad(whole, inputs), **EXACT)


def test_cache_copies_its_input_and_leaves_earlier_results(rng):
    key, value = normal(2, 3, 4, 5, rng=rng), normal(2, 3, 4, 6, rng=rng)
    cache, before = KeyValueCache(), key.clone()
    first, _ = cache.update(key, value)
    key.zero_()
    assert torch.equal(cache.keys, before)
    cache.update(key, value)
    assert torch.equal(first, before)
    assert cache.length == 8


def test_cache_does_not_keep_a_larger_tensor_alive(rng):
    joined = normal(2, 4, 9, 5, rng=rng).transpose(1, 2)
    cache = KeyValueCache()
    cache.update(joined[:, :3], joined[:, 3:6])
    assert cache.keys.untyped_storage().nbytes() == cache.keys.nbytes == cache.nbytes / 2


def test_cache_under_autocast_has_the_autocast_dtype(rng):
    query, key, value = (torch.randn(1, 2, 3, 4, generator=rng) for _ in range(3))
    cache = KeyValueCache()
    with torch.autocast("cpu", torch.bfloat16):
        y = cached_attention(query, key, value, cache)
    assert y.dtype == cache.keys.dtype == torch.bfloat16
    with pytest.raises(
        TypeError, match=r"expected key to have dtype torch.bfloat16 as in the cache, got torch.float32"
    ):
        cached_attention(query, key, value, cache)


# The small case: the last token is given five that are kept, and every mistake has a number of its own


def small_case():
    """Rotated queries and keys, values, and a function that rotates: 2 texts of 6, 4 heads on 2, width 4."""
    N, L, d, h, g = 2, 6, 16, 4, 2

    def matrix(rows, start):
        return (0.7 * torch.arange(rows * d, dtype=torch.float64) + start).sin().view(rows, d) / 2

    x = (0.3 * torch.arange(N * L * d, dtype=torch.float64)).cos().view(N, L, d)
    heads = [F.linear(x, matrix(rows, j)) for j, rows in enumerate((d, d * g // h, d * g // h))]
    return [y.unflatten(-1, (-1, d // h)).transpose(1, 2) for y in heads]


def rotated(x, first=0):
    return rotary_embedding(x, torch.arange(first, first + x.shape[2]))


def last_token(y):
    """(N, h, 1, d) to (N, h * d)."""
    return y.transpose(1, 2).flatten(1)


def with_five_kept(keys, values, query, key, value):
    cache = KeyValueCache()
    cache.update(keys, values)
    return cached_attention(query, key, value, cache)


def mistakes():
    plain_q, plain_k, v = small_case()
    q, k = rotated(plain_q), rotated(plain_k)
    new = q[:, :, 5:], k[:, :, 5:], v[:, :, 5:]
    kept = k[:, :, :5], v[:, :, :5]
    at_0 = rotated(plain_q[:, :, 5:]), rotated(plain_k[:, :, 5:]), new[2]
    zeros = torch.zeros(2, 2, 2, 4, dtype=torch.float64)

    def attend(key, value, **options):
        return scaled_dot_product_attention(new[0], key, value, enable_gqa=True, **options)

    return {
        "right": with_five_kept(*kept, *new),
        "position 0": with_five_kept(*kept, *at_0),
        "not rotated": with_five_kept(plain_k[:, :, :5], kept[1], *new),
        "rotated again": with_five_kept(rotated(kept[0]), kept[1], *new),
        "is_causal": attend(k, v, is_causal=True),
        "tiled": scaled_dot_product_attention(new[0], k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)),
        "new one missing": attend(*kept),
        "zeros unmasked": attend(torch.cat([k, zeros], 2), torch.cat([v, zeros], 2)),
        "one cache for both": attend(k[[1, 1]], v[[1, 1]]),
    }


FINGERPRINTS = {  # the first three numbers, and how far off the farthest is
    "right": ((0.091814, 0.141096, -0.034527), 0),
    "position 0": ((0.078049, 0.120544, -0.029107), 0.022753),
    "not rotated": ((0.085738, 0.096845, -0.046418), 0.050820),
    "rotated again": ((0.081751, 0.129735, -0.029077), 0.039778),
    "is_causal": ((0.031668, 0.530569, 0.183748), 0.389473),
    "tiled": ((0.091814, 0.141096, -0.034527), 0.124361),
    "new one missing": ((0.001195, 0.074343, 0.028989), 0.121410),
    "zeros unmasked": ((0.067969, 0.104453, -0.025560), 0.042610),
    "one cache for both": ((0.008100, -0.120035, -0.056835), 0.261131),
}


@pytest.mark.parametrize("mistake", FINGERPRINTS)
def test_mistakes_differ_from_cached_attention_as_recorded(mistake):
    first, off = FINGERPRINTS[mistake]
    got = mistakes()
    y, right = last_token(got[mistake]), last_token(got["right"])
    assert y[0, :3].tolist() == pytest.approx(first, abs=2e-6)
    assert (y - right).abs().max().item() == pytest.approx(off, abs=2e-6)


def test_cached_steps_match_attention_over_all_tokens():
    q, k, v = small_case()
    whole = scaled_dot_product_attention(rotated(q), rotated(k), v, is_causal=True, enable_gqa=True)
    assert_close(mistakes()["right"], whole[:, :, 5:], **EXACT)


@pytest.mark.parametrize(
    ("mask", "off"),
    [
        (causal_lower_right(3, 6), (0, 0, 0)),
        (torch.ones(3, 6, dtype=torch.bool).tril(), (0.594, 0.385, 0.147)),
        (None, (0.169, 0.116, 0)),
    ],
    ids=["lower right", "upper left", "no mask"],
)
def test_wrong_mask_for_a_chunk_changes_the_result_as_recorded(mask, off):
    q, k, v = small_case()
    q, k = rotated(q), rotated(k)
    whole = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    chunk = scaled_dot_product_attention(q[:, :, 3:], k, v, mask, enable_gqa=True)
    assert (chunk - whole[:, :, 3:]).abs().amax((0, 1, 3)).tolist() == pytest.approx(off, abs=5e-4)


# Bad input


q, k, v = torch.ones(2, 6, 4, 8), torch.ones(2, 3, 4, 8), torch.ones(2, 3, 4, 5)


def held():
    cache = KeyValueCache()
    cache.update(k, v)
    return cache


WRONG = {
    "another batch": (
        q[:1],
        k[:1],
        v[:1],
        ValueError,
        "key to have shape (2, 3, L, 8) as in the cache, got (1, 3, 4, 8)",
    ),
    "other heads": (
        q,
        k[:, :2],
        v[:, :2],
        ValueError,
        "key to have shape (2, 3, L, 8) as in the cache, got (2, 2, 4, 8)",
    ),
    "another width": (
        q[..., :7],
        k[..., :7],
        v,
        ValueError,
        "key to have shape (2, 3, L, 8) as in the cache, got (2, 3, ",
    ),
    "values of another width": (
        q,
        k,
        v[..., :4],
        ValueError,
        "expected value to have shape (2, 3, L, 5) as in the cache, got (2, 3, 4, 4)",
    ),
    "another type": (
        q.double(),
        k.double(),
        v.double(),
        TypeError,
        "expected key to have dtype torch.float32 as in the cache, got torch.float64",
    ),
    "another device": (
        q.to("meta"),
        k.to("meta"),
        v.to("meta"),
        ValueError,
        "expected key on cpu like cache, got it on meta",
    ),
    "no position": (
        q,
        k[:, :, :0],
        v[:, :, :0],
        ValueError,
        "to have shape (N, g, L, d), none of them 0, got (2, 3, 0, 8)",
    ),
    "no text": (
        q,
        k[:0],
        v[:0],
        ValueError,
        "expected key to have shape (N, g, L, d), none of them 0, got (0, 3, 4, 8)",
    ),
    "three axes": (q, k[0], v, ValueError, "expected key to have shape (N, g, L, d), none of them 0, got (3, 4, 8)"),
    "fewer values": (
        q,
        k,
        v[:, :, :3],
        ValueError,
        "expected one value for each key, got key of shape (2, 3, 4, 8) and",
    ),
    "two types": (
        q,
        k,
        v.double(),
        TypeError,
        "expected key and value to have the same dtype, got torch.float32 and torch.float64",
    ),
    "integers": (q, k.long(), v.long(), TypeError, "expected key to have a floating point dtype, got torch.int64"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("how", ["update", "cached_attention"])
def test_mismatched_keys_and_values_leave_the_cache_unchanged(wrong, how):
    query, key, value, kind, said = WRONG[wrong]
    cache = held()
    before = dict(vars(cache))
    with pytest.raises(kind, match=re.escape(said)) as error:
        cache.update(key, value) if how == "update" else cached_attention(query, key, value, cache)
    assert str(error.value).startswith(("KeyValueCache: ", f"{how}: "))
    assert all(vars(cache)[name] is before[name] for name in before)


QUERIES = {
    "another length": (
        q[:, :, :3],
        {},
        "expected query to have shape (2, h, 4, 8), h a multiple of 3, for key of shape (",
    ),
    "one text, which would broadcast": (q[:1], {}, "expected query to have shape (2, h, 4, 8), h a multiple of 3"),
    "another width": (q[..., :7], {}, "expected query to have shape (2, h, 4, 8), h a multiple of 3"),
    "uneven groups": (q[:, :5], {}, "h a multiple of 3, for key of shape (2, 3, 4, 8), got (2, 5, 4, 8)"),
    "no heads": (q[:, :0], {}, "h a multiple of 3, for key of shape (2, 3, 4, 8), got (2, 0, 4, 8)"),
    "groups that nobody wants": (
        q,
        {"enable_gqa": False},
        "expected query to have shape (2, h, 4, 8), h = 3, for key of",
    ),
    "three axes": (q[0], {}, "expected query to have shape (2, h, 4, 8), h a multiple of 3"),
}


@pytest.mark.parametrize("wrong", QUERIES)
def test_mismatched_query_leaves_the_cache_unchanged(wrong):
    query, options, said = QUERIES[wrong]
    cache = held()
    with pytest.raises(ValueError, match=re.escape(said)):
        cached_attention(query, k, v, cache, **options)
    assert cache.length == 4
    with pytest.raises(
        TypeError, match=r"expected query and key to have the same dtype, got torch.float64 and torch.float32"
    ):
        cached_attention(q.double(), k, v, cache)
    with pytest.raises(TypeError, match="expected scale to be a number, got str"):
        cached_attention(q, k, v, cache, scale="small")
    assert cache.length == 4


@pytest.mark.parametrize(
    ("cache", "got"), [(None, "NoneType"), (KeyValueCache, "the class KeyValueCache"), ({}, "dict {}")]
)
def test_cached_attention_rejects_other_types_of_cache(cache, got):
    with pytest.raises(TypeError, match=f"^cached_attention: expected cache to be a KeyValueCache, got {got}$"):
        cached_attention(q, k, v, cache)


def test_cached_attention_checks_enable_gqa_before_the_heads():
    with pytest.raises(TypeError, match=r"^cached_attention: expected enable_gqa to be True or False, got int 1$"):
        cached_attention(q, k, v, held(), enable_gqa=1)


@pytest.mark.parametrize(("window", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)])
def test_window_must_be_a_positive_integer(window, error):
    with pytest.raises(error, match="KeyValueCache: expected window to be"):
        KeyValueCache(window)


def stopped(caches, error):
    for cache in caches:
        cache.update(k, v)
    raise error


def test_rollback_restores_all_caches_after_an_exception():
    caches = [held(), KeyValueCache()]
    for error in (ArithmeticError, KeyboardInterrupt):
        with pytest.raises(error), rollback_on_error(*caches):
            stopped(caches, error)
        assert [cache.length for cache in caches] == [4, 0]
        assert [cache.keys is None for cache in caches] == [False, True]
    with rollback_on_error(*caches):
        caches[1].update(k, v)
    assert caches[1].length == 4


def test_repr():
    assert repr(held()) == f"KeyValueCache(window=None, length=4, nbytes={2 * 3 * 4 * 13 * 4})"
