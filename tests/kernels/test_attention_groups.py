"""The causal mask of the last positions, and groups of heads that share keys and values."""

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import bias
from torch.testing import assert_close

from blocklab.attention import causal_lower_right, causal_mask, repeat_kv, scaled_dot_product_attention
from tolerance import TOLERANCE

EXACT = TOLERANCE[torch.float64]


def normal(*shape, rng):
    return torch.randn(shape, generator=rng, dtype=torch.float64)


@pytest.mark.parametrize("L", range(5))
@pytest.mark.parametrize("S", range(5))
@pytest.mark.filterwarnings("ignore:Lower right causal bias will produce NaNs")
def test_causal_lower_right_matches_torch(L, S):
    mask = causal_lower_right(L, S)
    assert (mask.shape, mask.dtype) == ((L, S), torch.bool)
    assert mask.tolist() == [[j <= i + S - L for j in range(S)] for i in range(L)]
    if L and S:
        assert torch.equal(mask, bias.causal_lower_right(L, S)._materialize())
    assert torch.equal(causal_lower_right(S, S), causal_mask(S))


def test_first_queries_give_zeros_if_there_are_more_queries_than_keys(rng):
    query, key, value = normal(5, 4, rng=rng), normal(3, 4, rng=rng), normal(3, 6, rng=rng)
    mask = causal_lower_right(5, 3)
    assert mask.any(-1).tolist() == [False, False, True, True, True]
    y = scaled_dot_product_attention(query, key, value, mask)
    assert torch.equal(y[:2], torch.zeros(2, 6))
    assert_close(y, F.scaled_dot_product_attention(query, key, value, mask), **EXACT)


@pytest.mark.parametrize("shape", [(2, 3, 5, 4), (3, 5, 4), (1, 2, 3, 5, 4), (2, 0, 5, 4)])
@pytest.mark.parametrize("n_rep", [1, 2, 4])
def test_repeat_kv_puts_copies_of_a_head_next_to_each_other(shape, n_rep, rng):
    x = normal(*shape, rng=rng)
    y = repeat_kv(x, n_rep)
    *batch, g, S, d = shape
    assert_close(y, x.unsqueeze(-3).expand(*batch, g, n_rep, S, d).reshape(*batch, g * n_rep, S, d), rtol=0, atol=0)
    assert y.numel() == 0 or y.data_ptr() != x.data_ptr()


def test_grouped_heads_match_torch(rng):
    query, key, value = normal(2, 6, 4, 5, rng=rng), normal(2, 3, 7, 5, rng=rng), normal(2, 3, 7, 8, rng=rng)
    wanted = F.scaled_dot_product_attention(query, key, value, enable_gqa=True)
    assert_close(scaled_dot_product_attention(query, repeat_kv(key, 2), repeat_kv(value, 2)), wanted, **EXACT)
    assert_close(scaled_dot_product_attention(query, key, value, enable_gqa=True), wanted, **EXACT)
