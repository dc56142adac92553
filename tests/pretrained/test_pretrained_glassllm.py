"""glassllm through this package's functions gives the logits of its own NumPy model; mistakes do not."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from real_packages import loaded
from torch import nn

from blocklab import feed_forward
from blocklab.attention import scaled_dot_product_attention
from blocklab.feed_forward import gated_unit, gelu, relu, swiglu
from blocklab.normalization import RMSNorm, layer_norm
from blocklab.positional_encoding import rotary_embedding
from blocklab_course.pretrained import load_glassllm
from blocklab_course.pretrained.decoder import DecoderBlock

TEXT = {  # Carroll 1865; Machado de Assis 1881
    "en": "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do: "
    "once or twice she had peeped into the book her sister was reading",
    "pt": "Algum tempo hesitei se devia abrir estas memórias pelo princípio ou pelo fim",
}
CLOSE = 1e-4  # of logits up to 19; measured in float32: 8.9e-6


@pytest.fixture(scope="module", autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@pytest.fixture(scope="module", params=TEXT)
def language(request):
    return request.param


@pytest.fixture(scope="module")
def model(language):
    return loaded(load_glassllm, language)


@pytest.fixture(scope="module")
def ids(model, language):  # noqa: ARG001  skipped where the package is missing
    from glassllm import load_pretrained

    return torch.tensor([load_pretrained(language)[1].encode(TEXT[language])])


@pytest.fixture(scope="module")
def logits_of(language):
    """The wheel's own model, computing in a type of NumPy."""
    from importlib.resources import files

    from glassllm import GlassLM

    def run(ids, dtype=np.float32):
        theirs = GlassLM.load(files("glassllm") / "weights" / f"{language}.npz", dtype=dtype)
        return torch.from_numpy(theirs(ids.numpy()).data)

    return run


def distance(logits, expected):
    assert logits.shape == expected.shape
    return (logits - expected).abs().max().item()


# It is right


def test_logits_are_those_of_its_own_model(model, ids, logits_of):
    expected = logits_of(ids)
    assert expected.abs().max() > 10
    assert distance(model(ids), expected) < CLOSE


def test_in_float64_to_the_last_digits(model, ids, logits_of):
    assert distance(copy.deepcopy(model).double()(ids), logits_of(ids, np.float64)) < 1e-12


def test_each_text_of_a_batch_by_itself(model, ids, logits_of):
    batch = torch.cat([ids, ids.flip(1)])
    assert distance(model(batch), logits_of(batch)) < CLOSE


def test_no_token_sees_a_later_one(model, ids):
    changed = ids.clone()
    changed[:, 10:] = 5
    assert distance(model(changed)[:, :10], model(ids)[:, :10]) < 1e-5
    assert distance(model(changed)[:, 10:], model(ids)[:, 10:]) > 1


def test_it_has_learned_its_language(model, ids, language):
    loss = F.cross_entropy(model(ids)[0, :-1], ids[0, 1:]).item()
    assert loss == pytest.approx({"en": 4.0633, "pt": 4.5202}[language], abs=1e-3)
    assert loss < np.log(1024) - 2  # guessing


def test_what_is_loaded(model):
    assert not model.training
    assert sum(p.numel() for p in model.parameters()) == 852_608
    assert {p.dtype for p in model.parameters()} == {torch.float32}


# Mistakes move it past the tolerance


def with_base_100000(x, positions, base, pairing):
    return rotary_embedding(x, positions, 10 * base, pairing)


def turned_back(x, positions, base, pairing):
    return rotary_embedding(x, -positions, base, pairing)


def half_split(x, positions, base, pairing):
    assert pairing == "adjacent"
    return rotary_embedding(x, positions, base, "half")


def seeing_all(query, key, value, is_causal, enable_gqa):
    assert is_causal
    return scaled_dot_product_attention(query, key, value, enable_gqa=enable_gqa)


def groups_side_by_side(query, key, value, is_causal, enable_gqa):
    """Heads 0 1 0 1 in place of 0 0 1 1."""
    assert enable_gqa
    key, value = (x.repeat(1, query.shape[1] // x.shape[1], 1, 1) for x in (key, value))
    return scaled_dot_product_attention(query, key, value, is_causal=is_causal)


REPLACED = {  # a function of ours, what stands in for it, and how far off that is in both languages, rounded down
    "GeGLU": (feed_forward.SwiGLU, "swiglu", partial(gated_unit, activation=gelu), 2.0),
    "ReGLU": (feed_forward.SwiGLU, "swiglu", partial(gated_unit, activation=relu), 4.0),
    "bilinear": (feed_forward.SwiGLU, "swiglu", partial(gated_unit, activation=lambda gate: gate), 10.0),
    "sigmoid GLU": (feed_forward.SwiGLU, "swiglu", partial(gated_unit, activation=torch.sigmoid), 8.0),
    "gate and value exchanged": (feed_forward.SwiGLU, "swiglu", lambda gate, value: swiglu(value, gate), 10.0),
    "no positions": (DecoderBlock, "rotary_embedding", lambda x, positions, base, pairing: x, 9.0),
    "half-split pairing": (DecoderBlock, "rotary_embedding", half_split, 6.0),
    "another base": (DecoderBlock, "rotary_embedding", with_base_100000, 2.0),
    "turned back": (DecoderBlock, "rotary_embedding", turned_back, 10.0),
    "no causal mask": (DecoderBlock, "attention", seeing_all, 8.0),
    "groups side by side": (DecoderBlock, "attention", groups_side_by_side, 6.0),
}


@pytest.mark.parametrize("name", REPLACED)
def test_another_function_is_seen(name, model, ids, logits_of, monkeypatch):
    owner, function, mistake, at_least = REPLACED[name]
    expected = logits_of(ids)
    monkeypatch.setattr(owner, function, staticmethod(mistake))
    assert distance(model(ids), expected) > at_least > CLOSE


class WithMean(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return layer_norm(x, (x.shape[-1],), self.norm.weight, None, self.norm.eps)


def layer_norm_for_rms_norm(model):
    for owner in [model, *model.blocks]:
        for name, norm in list(owner.named_children()):
            if isinstance(norm, RMSNorm):
                setattr(owner, name, WithMean(norm))


def norms_of(model):
    return [module for module in model.modules() if isinstance(module, RMSNorm)]


def weight_of_one(model):
    for norm in norms_of(model):
        norm.weight.fill_(1)


def another_eps(model):
    for norm in norms_of(model):
        norm.eps = 1e-5


CHANGED = {  # what is done to the model, and how far off that is in both languages, rounded down
    "weight 1": (weight_of_one, 8.0),
    "LayerNorm for RMSNorm": (layer_norm_for_rms_norm, 1.5),
    "eps 1e-5 for 1e-6": (another_eps, 0.015),
    "one block less": (lambda model: model.blocks.pop(3), 2.0),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_model_is_seen(name, model, ids, logits_of):
    mistake, at_least = CHANGED[name]
    expected, wrong = logits_of(ids), copy.deepcopy(model)
    mistake(wrong)
    assert distance(wrong(ids), expected) > at_least > CLOSE


# Bad input


def test_another_language():
    with pytest.raises(ValueError, match="one of en, pt, got 'zh'"):
        load_glassllm("zh")


def test_more_positions_than_it_was_trained_on(model):
    with pytest.raises(ValueError, match=r"L at most 128, got \(1, 129\)"):
        model(torch.zeros(1, 129, dtype=torch.long))
    with pytest.raises(ValueError, match=r"\(N, L\), L at most 128, got \(3,\)"):
        model(torch.zeros(3, dtype=torch.long))
