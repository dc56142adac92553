"""SmolLM2 answers with a cache only if the block in it gives the same result in pieces."""

import pytest
import torch

from blocklab import rms_norm, rotary_embedding, scaled_dot_product_attention
from blocklab_course.model_swap import networks
from blocklab_course.model_swap.errors import swap_error
from blocklab_course.pretrained import patch_functions


def over_sentence(x, _shape, weight, eps):
    return x * torch.rsqrt(x.square().mean((1, 2), keepdim=True) + eps) * weight


def positions_from_0(x, _positions, base, pairing):
    return rotary_embedding(x, torch.arange(x.shape[-2]), base, pairing)


def equal_lengths_only(query, key, value, attn_mask=None, is_causal=False, enable_gqa=False):
    if query.shape[-2] != key.shape[-2]:
        raise swap_error("raises", error="AssertionError", line="")
    return scaled_dot_product_attention(query, key, value, attn_mask, is_causal=is_causal, enable_gqa=enable_gqa)


def no_causal_mask(query, key, value, attn_mask=None, is_causal=False, enable_gqa=False):  # noqa: ARG001
    return scaled_dot_product_attention(query, key, value, enable_gqa=enable_gqa)


@pytest.mark.parametrize(
    ("block", "function", "works"),
    [
        ("rms_norm", rms_norm, True),
        ("rms_norm", lambda x, shape, weight, eps: rms_norm(x, shape, None, eps), True),
        ("rms_norm", over_sentence, False),
        ("rotary_embedding", positions_from_0, False),
        ("attention", lambda *inputs, **options: scaled_dot_product_attention(*inputs, **options), True),
        ("attention", equal_lengths_only, False),
        ("attention", no_causal_mask, False),
    ],
)
@torch.no_grad()
def test_which_blocks_work_in_pieces(block, function, works):
    try:
        network = networks.Glassllm()
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    with patch_functions(network.model, **{block: function}):
        assert network.works_in_pieces(network.alice[:8]) is works


@pytest.mark.parametrize("works", [True, False])
@torch.no_grad()
def test_answer_uses_cache_if_block_allows_it(works, smollm2, monkeypatch):
    network, cached_calls = networks.SmolLM2(), []
    monkeypatch.setattr(network, "works_in_pieces", lambda _ids: works)
    monkeypatch.setattr(smollm2, "next_tokens", lambda _ids, _most, cached: cached_calls.append(cached) or iter([5]))
    network.run()
    assert cached_calls == [works]
