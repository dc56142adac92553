"""A decoder with caches gives each token the same scores as without."""

import copy
import re

import pytest
import torch
from optional_models import load_or_skip
from torch import nn
from torch.testing import assert_close

from blocklab.attention import scaled_dot_product_attention
from blocklab.kv_cache import KeyValueCache, cached_attention
from blocklab_course.pretrained import load_glassllm, patch_functions
from blocklab_course.pretrained.decoder import Decoder, DecoderConfig

CONFIG = DecoderConfig(
    vocab_size=9, layers=2, d_model=8, heads=4, kv_heads=2, hidden=12, rope_base=100.0, eps=1e-5, max_length=9
)
IDS = torch.tensor([[1, 5, 2, 7, 0, 8, 3], [4, 4, 6, 1, 2, 8, 0]])


def decoder(**sizes):
    torch.manual_seed(0)
    model = Decoder(DecoderConfig(**vars(CONFIG) | sizes)).eval()
    nn.init.normal_(model.tokens.weight)
    return model.double()


def read_in_pieces(model, ids, lengths):
    caches = model.new_caches()
    return torch.cat([model(piece, caches) for piece in ids.split(lengths, 1)], 1), caches


@pytest.mark.parametrize("lengths", [[1] * 7, [7], [4, 1, 2], [1, 5, 1]], ids=str)
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_pieces_match_whole_text(lengths, kv_heads):
    model = decoder(kv_heads=kv_heads)
    logits, caches = read_in_pieces(model, IDS, lengths)
    assert_close(logits, model(IDS), rtol=0, atol=1e-12)
    assert [cache.length for cache in caches] == [7, 7]
    assert (
        sum(cache.nbytes for cache in caches) == 2 * 2 * 2 * kv_heads * 7 * 2 * 8
    )  # layers, k and v, N, heads, L, d, bytes


def test_window_gives_same_result_in_pieces():
    model = decoder()
    caches, in_one = ([KeyValueCache(window=3) for _ in model.blocks] for _ in range(2))
    pieces = torch.cat([model(piece, caches) for piece in IDS.split([4, 1, 2], 1)], 1)
    whole = model(IDS, in_one)
    assert_close(pieces, whole, rtol=0, atol=1e-12)
    assert (whole - model(IDS)).abs().amax((0, 2)).gt(1e-3).tolist() == [False] * 3 + [True] * 4
    assert caches[0].keys.shape == (2, 2, 3, 2)


@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 1e-4)], ids=str)
def test_glassllm_token_by_token(dtype, close):
    model = copy.deepcopy(load_or_skip(load_glassllm)).to(dtype)
    ids = torch.randint(1024, (1, 128), generator=torch.Generator().manual_seed(0))
    logits, caches = read_in_pieces(model, ids, [64] + [1] * 64)
    whole = model(ids)
    assert whole.abs().max() > 10
    assert (logits - whole).abs().max() <= close
    assert torch.equal(logits.argmax(-1), whole.argmax(-1))
    assert sum(cache.nbytes for cache in caches) == 128 * 512 * ids.new_empty(0, dtype=dtype).element_size()


# Replaced functions


def test_replaced_attention_is_used_with_cache():
    model, calls = decoder(), []

    def watched(query, key, value, **options):
        calls.append((query.shape[2], key.shape[2], sorted(options)))
        return scaled_dot_product_attention(query, key, value, **options)

    with patch_functions(model, attention=watched):
        logits, _ = read_in_pieces(model, IDS, [4, 1, 2])
    assert_close(logits, model(IDS), rtol=0, atol=1e-12)
    assert calls == [(L, S, ["attn_mask", "enable_gqa"]) for L, S in ((4, 4), (1, 5), (2, 7)) for _ in model.blocks]


def test_replaced_attention_respects_window():
    model = decoder()
    caches, others = ([KeyValueCache(window=3) for _ in model.blocks] for _ in range(2))
    right = [model(piece, caches) for piece in IDS.split([4, 3], 1)]
    with patch_functions(model, attention=lambda *inputs, **options: scaled_dot_product_attention(*inputs, **options)):
        assert_close([model(piece, others) for piece in IDS.split([4, 3], 1)], right, rtol=0, atol=1e-12)


def test_replaced_cached_attention_takes_precedence():
    model, calls = decoder(), []

    def watched(query, key, value, cache):
        calls.append(cache.length)
        return cached_attention(query, key, value, cache)

    with patch_functions(model, cached_attention=watched, attention=lambda *_, **__: pytest.fail("attention called")):
        read_in_pieces(model, IDS, [4, 3])
    assert calls == [0, 0, 4, 4]


# Errors


def read(model, n=4):
    caches = model.new_caches()
    model(IDS[:, :n], caches)
    return caches


WRONG = {
    "no list": (KeyValueCache(), IDS, TypeError, "expected caches to be a list of 2 KeyValueCache, got Key"),
    "too few": ([KeyValueCache()], IDS, ValueError, "expected 2 different caches, one for each block, got 1"),
    "one for all": ([KeyValueCache()] * 2, IDS, ValueError, "one for each block, got the same one twice"),
    "unequal lengths": (
        [*read(decoder())[:1], *read(decoder(), 2)[1:]],
        IDS,
        ValueError,
        "expected caches of equal length, got [2, 4]",
    ),
    "another batch": (read(decoder()), IDS[:1, :5], ValueError, "expected key to have shape (2, 2, L, 2) as in the"),
    "too long": (
        read(decoder()),
        IDS[:, :6],
        ValueError,
        "expected ids to have shape (N, L), L at most 5 after 4 cached, got (2, 6)",
    ),
    "one axis": (read(decoder()), IDS[0], ValueError, "expected ids to have shape (N, L), L at most 5 after 4 cached"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_caches_are_rejected_and_unchanged(wrong):
    caches, ids, error, message = WRONG[wrong]
    each = caches if isinstance(caches, list) else [caches]
    before = [dict(vars(cache)) for cache in each]
    with pytest.raises(error, match=re.escape(message)):
        decoder()(ids, caches)
    assert all(vars(cache)[name] is then[name] for cache, then in zip(each, before, strict=True) for name in then)


def test_error_in_last_block_rolls_back_caches(monkeypatch):
    model = decoder()
    caches = read(model)

    def fails(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(model.blocks[1], "cached_attention", fails)
    with pytest.raises(KeyboardInterrupt):
        model(IDS[:, 4:], caches)
    assert [cache.length for cache in caches] == [4, 4]
    monkeypatch.undo()
    assert_close(model(IDS[:, 4:], caches), model(IDS)[:, 4:], rtol=0, atol=1e-12)


def test_longest_text_fits_in_pieces():
    model, ids = decoder(), torch.ones(1, 9, dtype=torch.int64)
    logits, caches = read_in_pieces(model, ids, [8, 1])
    assert_close(logits, model(ids), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="L at most 0 after 9 cached"):
        model(ids[:, :1], caches)
