"""SmolLM2 answers with a cache where the block in it gives the same in pieces, and without where it does not."""

import pytest
import torch

from blocklab import rms_norm, rotary_embedding, scaled_dot_product_attention
from blocklab_course.model_swap import networks
from blocklab_course.model_swap.errors import swap_error
from blocklab_course.pretrained import patch_functions


def over_the_sentence(x, _shape, weight, eps):
    return x * torch.rsqrt(x.square().mean((1, 2), keepdim=True) + eps) * weight


def counting_from_0(x, _positions, base, pairing):
    return rotary_embedding(x, torch.arange(x.shape[-2]), base, pairing)


def as_wide_as_high(query, key, value, attn_mask=None, is_causal=False, enable_gqa=False):
    if query.shape[-2] != key.shape[-2]:
        raise swap_error("raises", error="AssertionError", line="")
    return scaled_dot_product_attention(query, key, value, attn_mask, is_causal=is_causal, enable_gqa=enable_gqa)


def seeing_all(query, key, value, attn_mask=None, is_causal=False, enable_gqa=False):  # noqa: ARG001
    return scaled_dot_product_attention(query, key, value, enable_gqa=enable_gqa)


@pytest.mark.parametrize(
    ("block", "function", "reads"),
    [
        ("rms_norm", rms_norm, True),
        ("rms_norm", lambda x, shape, weight, eps: rms_norm(x, shape, None, eps), True),
        ("rms_norm", over_the_sentence, False),
        ("rotary_embedding", counting_from_0, False),
        ("attention", lambda *inputs, **options: scaled_dot_product_attention(*inputs, **options), True),
        ("attention", as_wide_as_high, False),
        ("attention", seeing_all, False),
    ],
)
@torch.no_grad()
def test_which_blocks_read_in_pieces(block, function, reads):
    try:
        speaker = networks.Glassllm()
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    with patch_functions(speaker.model, **{block: function}):
        assert speaker.reads_in_pieces(speaker.alice[:8]) is reads


@pytest.mark.parametrize("reads", [True, False])
@torch.no_grad()
def test_an_answer_takes_the_cache_where_the_block_allows(reads, smollm2, monkeypatch):
    network, taken = networks.SmolLM2(), []
    monkeypatch.setattr(network, "reads_in_pieces", lambda _ids: reads)
    monkeypatch.setattr(smollm2, "next_tokens", lambda _ids, _most, cached: taken.append(cached) or iter([5]))
    network.say()
    assert taken == [reads]
