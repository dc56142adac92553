"""MiniLM built from blocklab's layers matches Hugging Face's transformers and torch's layers; mistakes do not.

tests/data/minilm_reference.npz holds the output of transformers; data/minilm_sentences.py beside it wrote the file.
"""

import copy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from optional_models import load_or_skip
from torch import nn
from torch.testing import assert_close

from blocklab.feed_forward import gelu
from blocklab.normalization import LayerNorm, standardize
from blocklab_course.model_swap import messages
from blocklab_course.model_swap.networks import GUITAR
from blocklab_course.pretrained import load_minilm, minilm_layer_norms, minilm_positions, patch_functions
from blocklab_course.pretrained.minilm import sentence_vectors
from data.minilm_sentences import SENTENCES

CLOSE = 1e-5  # of numbers up to 10; measured in float32: 2.9e-6
SHORT = [0, 1, 3]  # all sentences but the long one


@pytest.fixture(scope="module")
def minilm():
    return load_or_skip(load_minilm)


@pytest.fixture(scope="module")
def reference():
    with np.load(Path(__file__).parents[1] / "data" / "minilm_reference.npz") as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays.files if name != "made_with"}


def distance(model, reference, sentences):
    """The largest difference from the reference's last hidden states, without padding beyond the longest sentence."""
    padding = reference["padding"][sentences]
    length = int((~padding).sum(1).max())
    x = model(reference["tokens"][sentences, :length].long(), padding[:, :length])
    n, p = reference["places"].long().T
    rows = torch.isin(n, torch.tensor(sentences))
    n = torch.tensor([sentences.index(i) for i in n[rows].tolist()])
    return (x[n, p[rows]] - reference["last_hidden"][rows]).abs().max().item()


# Agreement with the reference


def test_tokens_match_reference(minilm, reference):
    tokens, padding = minilm.tokenize(SENTENCES)
    assert tokens.shape == (4, 256)  # the long sentence has been cut
    assert (~padding).sum(1).tolist() == [13, 25, 256, 4]
    assert torch.equal(tokens, reference["tokens"].long())
    assert torch.equal(padding, reference["padding"])


@pytest.mark.parametrize("sentences", [[0, 1, 2, 3], SHORT, [0], [2]], ids=str)
def test_hidden_states_match_reference(sentences, minilm, reference):
    assert distance(minilm, reference, sentences) < CLOSE


def test_sentence_vectors_match_reference(minilm, reference):
    assert_close(minilm.encode(SENTENCES), reference["embeddings"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_layers_match_torch(dtype, minilm, reference):
    model = copy.deepcopy(minilm).to(dtype)
    padding = reference["padding"][SHORT, :25]
    x = y = model.embed(reference["tokens"][SHORT, :25].long())
    for layer in model.layers:
        theirs = nn.TransformerEncoderLayer(384, 12, 1536, 0.1, "gelu", 1e-12, batch_first=True, dtype=dtype).eval()
        theirs.load_state_dict(layer.state_dict(), strict=True)
        alone = theirs(x, src_key_padding_mask=padding)
        x, y = layer(x, src_key_padding_mask=padding), theirs(y, src_key_padding_mask=padding)
        tolerance = {torch.float32: CLOSE, torch.float64: 1e-12}[dtype]
        assert_close(x[~padding], alone[~padding], rtol=0, atol=tolerance)
        assert_close(x[~padding], y[~padding], rtol=0, atol=tolerance)


def test_padding_has_no_effect(minilm):
    together = minilm.encode(SENTENCES)
    for n in SHORT:
        assert_close(minilm.encode([SENTENCES[n]])[0], together[n], rtol=0, atol=1e-6)


def test_bundled_layer_norms_match_model(minilm):
    state, extract = minilm.state_dict(), minilm_layer_norms()
    assert all(torch.equal(state[name], tensor) for name, tensor in extract.items())
    norms = [name for name, module in minilm.named_modules() if isinstance(module, LayerNorm)]
    assert {f"{name}.{kind}" for name in norms for kind in ("weight", "bias")} == extract.keys()


def test_bundled_positions_match_model(minilm):
    assert torch.equal(minilm_positions(), minilm.positions.weight.half().float())


def test_loading_does_not_touch_rng(minilm):
    assert not minilm.training
    assert sum(p.numel() for p in minilm.parameters()) == 22_565_376
    before = torch.get_rng_state()
    load_minilm()
    assert torch.equal(torch.get_rng_state(), before)


# Mistakes


def in_each_layer(change):
    def change_all(model):
        for layer in model.layers:
            change(layer)

    return change_all


def norms_of(model):
    return [module for module in model.modules() if isinstance(module, LayerNorm)]


def use_torch_eps(model):
    for norm in norms_of(model):
        norm.eps = 1e-5


def use_tanh_gelu(layer):
    layer.activation = partial(gelu, approximate="tanh")


def shift_positions(model):
    model.positions.weight.copy_(model.positions.weight.roll(-1, 0))


def drop_mask(layer):
    right = layer.forward
    layer.forward = lambda x, src_key_padding_mask: right(x)


def exchange_queries_and_keys(layer):
    q, k, v = layer.self_attn.in_proj_weight.chunk(3)
    layer.self_attn.in_proj_weight.copy_(torch.cat([k, q, v]))
    q, k, v = layer.self_attn.in_proj_bias.chunk(3)
    layer.self_attn.in_proj_bias.copy_(torch.cat([k, q, v]))


MISTAKES = {  # a change, and the measured error it causes, rounded down
    "eps 1e-5 for 1e-12": (use_torch_eps, 1.5e-3),
    "tanh for erf in gelu": (in_each_layer(use_tanh_gelu), 4e-3),
    "pre-norm for post-norm": (in_each_layer(lambda layer: setattr(layer, "norm_first", True)), 200.0),
    "positions from 1": (shift_positions, 1.5),
    "no types": (lambda model: model.types.weight.zero_(), 7.0),
    "queries and keys exchanged": (in_each_layer(exchange_queries_and_keys), 5.0),
    "6 heads for 12": (in_each_layer(lambda layer: setattr(layer.self_attn, "num_heads", 6)), 1.5),
    "padding seen": (in_each_layer(drop_mask), 1.5),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_changes_hidden_states(name, minilm, reference):
    mistake, at_least = MISTAKES[name]
    model = copy.deepcopy(minilm)
    mistake(model)
    assert distance(model, reference, SHORT) > at_least > CLOSE


def test_statistics_over_the_sentence_ruin_the_vectors(minilm):
    """Lesson 02 quotes this."""

    def over_the_sentence(x, _normalized_shape, weight, bias, eps):
        return standardize(x, (-2, -1), eps) * weight + bias

    with patch_functions(minilm, layer_norm=over_the_sentence):
        guitar, *others = minilm.encode([GUITAR, *messages.SENTENCES])
    cosines = dict(zip(messages.SENTENCES, [guitar.dot(x).item() for x in others], strict=True))
    assert min(cosines.values()) > 0.99
    assert min(cosines, key=cosines.get) == "Someone makes music."


def test_mean_over_padding_changes_vectors(minilm, reference):
    x = minilm(reference["tokens"][SHORT, :25].long(), reference["padding"][SHORT, :25])
    right = sentence_vectors(x, reference["padding"][SHORT, :25])
    assert_close(right, reference["embeddings"][SHORT], rtol=0, atol=1e-6)
    wrong = sentence_vectors(x, torch.zeros(3, 25, dtype=torch.bool))
    assert (wrong - right).abs().max() > 0.01


# Errors


def test_rejects_wrong_input(minilm):
    with pytest.raises(TypeError, match="a list of strings, got a string"):
        minilm.encode("one string")
    with pytest.raises(ValueError, match="at least one sentence, got none"):
        minilm.encode([])
    with pytest.raises(ValueError, match=r"tokens to have shape \(N, L\), L at most 512, got \(1, 513\)"):
        minilm(torch.zeros(1, 513, dtype=torch.long))
    with pytest.raises(TypeError, match=r"integer dtype, got torch\.float32"):
        minilm(torch.zeros(1, 5))
    with pytest.raises(ValueError, match=r"padding to have shape \(1, 3\), got \(3,\)"):
        sentence_vectors(torch.ones(1, 3, 2), torch.zeros(3, dtype=torch.bool))
