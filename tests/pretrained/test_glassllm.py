"""glassllm built from blocklab's functions gives the logits of its own NumPy model; wrong functions do not."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from optional_models import load_or_skip

from blocklab import feed_forward
from blocklab.attention import scaled_dot_product_attention
from blocklab.feed_forward import gated_unit, gelu, swiglu
from blocklab.positional_encoding import rotary_embedding
from blocklab_course.pretrained import load_glassllm
from blocklab_course.pretrained.decoder import DecoderBlock

TEXT = {  # Carroll 1865; Machado de Assis 1881
    "en": "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do: "
    "once or twice she had peeped into the book her sister was reading",
    "pt": "Algum tempo hesitei se devia abrir estas memórias pelo princípio ou pelo fim",
}
CLOSE = 1e-4  # of logits up to 19; measured in float32: 8.9e-6


@pytest.fixture(scope="module", params=TEXT)
def language(request):
    return request.param


@pytest.fixture(scope="module")
def model(language):
    return load_or_skip(load_glassllm, language)


@pytest.fixture(scope="module")
def ids(model, language):  # noqa: ARG001  skips if the package is missing
    from glassllm import load_pretrained

    return torch.tensor([load_pretrained(language)[1].encode(TEXT[language])])


@pytest.fixture(scope="module")
def logits_of(language):
    """The package's own NumPy model."""
    from importlib.resources import files

    from glassllm import GlassLM

    def run(ids, dtype=np.float32):
        theirs = GlassLM.load(files("glassllm") / "weights" / f"{language}.npz", dtype=dtype)
        return torch.from_numpy(theirs(ids.numpy()).data)

    return run


def distance(logits, expected):
    assert logits.shape == expected.shape
    return (logits - expected).abs().max().item()


# Agreement with the original


def test_logits_match_numpy_model(model, ids, logits_of):
    expected = logits_of(ids)
    assert expected.abs().max() > 10
    assert distance(model(ids), expected) < CLOSE


def test_float64_logits_match_numpy_model(model, ids, logits_of):
    assert distance(copy.deepcopy(model).double()(ids), logits_of(ids, np.float64)) < 1e-12


def test_batch_matches_numpy_model(model, ids, logits_of):
    batch = torch.cat([ids, ids.flip(1)])
    assert distance(model(batch), logits_of(batch)) < CLOSE


def test_attention_is_causal(model, ids):
    changed = ids.clone()
    changed[:, 10:] = 5
    assert distance(model(changed)[:, :10], model(ids)[:, :10]) < 1e-5
    assert distance(model(changed)[:, 10:], model(ids)[:, 10:]) > 1


def test_loss_of_trained_model(model, ids, language):
    loss = F.cross_entropy(model(ids)[0, :-1], ids[0, 1:]).item()
    assert loss == pytest.approx({"en": 4.0633, "pt": 4.5202}[language], abs=1e-3)
    assert loss < np.log(1024) - 2  # guessing


def test_loaded_parameters(model):
    assert not model.training
    assert sum(p.numel() for p in model.parameters()) == 852_608
    assert {p.dtype for p in model.parameters()} == {torch.float32}


# Wrong functions


def base_times_10(x, positions, base, pairing):
    return rotary_embedding(x, positions, 10 * base, pairing)


def half_split_pairing(x, positions, base, pairing):
    assert pairing == "adjacent"
    return rotary_embedding(x, positions, base, "half")


def no_causal_mask(query, key, value, is_causal, enable_gqa):
    assert is_causal
    return scaled_dot_product_attention(query, key, value, enable_gqa=enable_gqa)


def tiled_groups(query, key, value, is_causal, enable_gqa):
    """Heads 0 1 0 1 in place of 0 0 1 1."""
    assert enable_gqa
    key, value = (x.repeat(1, query.shape[1] // x.shape[1], 1, 1) for x in (key, value))
    return scaled_dot_product_attention(query, key, value, is_causal=is_causal)


WRONG = {  # owner, function, wrong function, and the logit error it causes in both languages, rounded down
    "GeGLU": (feed_forward.SwiGLU, "swiglu", partial(gated_unit, activation=gelu), 2.0),
    "gate and value exchanged": (feed_forward.SwiGLU, "swiglu", lambda gate, value: swiglu(value, gate), 10.0),
    "no positions": (DecoderBlock, "rotary_embedding", lambda x, positions, base, pairing: x, 9.0),
    "half-split pairing": (DecoderBlock, "rotary_embedding", half_split_pairing, 6.0),
    "another base": (DecoderBlock, "rotary_embedding", base_times_10, 2.0),
    "no causal mask": (DecoderBlock, "attention", no_causal_mask, 8.0),
    "tiled groups": (DecoderBlock, "attention", tiled_groups, 6.0),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_function_changes_logits(name, model, ids, logits_of, monkeypatch):
    owner, function, mistake, at_least = WRONG[name]
    expected = logits_of(ids)
    monkeypatch.setattr(owner, function, staticmethod(mistake))
    assert distance(model(ids), expected) > at_least > CLOSE


# Bad input


def test_rejects_unknown_language():
    with pytest.raises(ValueError, match="one of en, pt, got 'zh'"):
        load_glassllm("zh")


def test_rejects_too_long_input(model):
    with pytest.raises(ValueError, match=r"L at most 128, got \(1, 129\)"):
        model(torch.zeros(1, 129, dtype=torch.long))
