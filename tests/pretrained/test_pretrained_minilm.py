"""MiniLM through this package's layers gives what Hugging Face's transformers and torch's layers give; mistakes do not.

tests/data/minilm_reference.npz holds what transformers gives; data/minilm_sentences.py beside it made the file.
"""

import copy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from real_packages import loaded
from torch import nn
from torch.testing import assert_close

from blocklab.feed_forward import gelu, relu
from blocklab.normalization import LayerNorm, rms_norm
from blocklab_course.pretrained import load_minilm, minilm_layer_norms, minilm_positions
from blocklab_course.pretrained.minilm import sentence_vectors
from data.minilm_sentences import SENTENCES
from tolerance import TOLERANCE

CLOSE = 1e-5  # of numbers up to 10; measured in float32: 2.9e-6
SHORT = [0, 1, 3]  # all sentences but the long one


@pytest.fixture(scope="module", autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@pytest.fixture(scope="module")
def minilm():
    return loaded(load_minilm)


@pytest.fixture(scope="module")
def reference():
    with np.load(Path(__file__).parents[1] / "data" / "minilm_reference.npz") as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays.files if name != "made_with"}


def distance(model, reference, sentences):
    """The largest difference from the last hidden states of the reference, padding cut where no sentence reaches."""
    padding = reference["padding"][sentences]
    length = int((~padding).sum(1).max())
    x = model(reference["tokens"][sentences, :length].long(), padding[:, :length])
    n, p = reference["places"].long().T
    rows = torch.isin(n, torch.tensor(sentences))
    n = torch.tensor([sentences.index(i) for i in n[rows].tolist()])
    return (x[n, p[rows]] - reference["last_hidden"][rows]).abs().max().item()


# It is right


def test_tokens_and_padding_are_those_of_the_reference(minilm, reference):
    tokens, padding = minilm.tokenize(SENTENCES)
    assert tokens.shape == (4, 256)  # the long sentence has been cut
    assert (~padding).sum(1).tolist() == [13, 25, 256, 4]
    assert torch.equal(tokens, reference["tokens"].long())
    assert torch.equal(padding, reference["padding"])


@pytest.mark.parametrize("sentences", [[0, 1, 2, 3], SHORT, [0], [2]], ids=str)
def test_last_hidden_states_are_those_of_the_reference(sentences, minilm, reference):
    assert distance(minilm, reference, sentences) < CLOSE


def test_sentence_vectors_are_those_of_the_reference(minilm, reference):
    assert_close(minilm.encode(SENTENCES), reference["embeddings"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_each_layer_is_torchs_layer(dtype, minilm, reference):
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


def test_padding_changes_nothing(minilm):
    together = minilm.encode(SENTENCES)
    for n in SHORT:
        assert_close(minilm.encode([SENTENCES[n]])[0], together[n], rtol=0, atol=1e-6)


def test_near_meanings_are_near(minilm):
    vectors = minilm.encode(["A cat sits on the mat.", "A kitten is on the rug.", "Momentum is a weight."])
    cosines = vectors @ vectors.T
    assert_close(cosines.diag(), torch.ones(3), **TOLERANCE[torch.float32])
    assert cosines[0, 1] > 0.5
    assert cosines[0, 2] < 0.2


def test_the_extract_in_the_package_is_part_of_the_weights(minilm):
    state, extract = minilm.state_dict(), minilm_layer_norms()
    assert all(torch.equal(state[name], tensor) for name, tensor in extract.items())
    norms = [name for name, module in minilm.named_modules() if isinstance(module, LayerNorm)]
    assert {f"{name}.{kind}" for name in norms for kind in ("weight", "bias")} == extract.keys()


def test_the_positions_in_the_package_are_the_models_rounded_to_float16(minilm):
    assert torch.equal(minilm_positions(), minilm.positions.weight.half().float())


def test_loading_leaves_the_random_numbers_alone(minilm):
    assert not minilm.training
    assert sum(p.numel() for p in minilm.parameters()) == 22_565_376
    before = torch.get_rng_state()
    load_minilm()
    assert torch.equal(torch.get_rng_state(), before)


# Mistakes move it past the tolerance


def of_each_layer(change):
    def change_all(model):
        for layer in model.layers:
            change(layer)

    return change_all


def norms_of(model):
    return [module for module in model.modules() if isinstance(module, LayerNorm)]


def eps_of_torch(model):
    for norm in norms_of(model):
        norm.eps = 1e-5


def without_weight_and_bias(model):
    for norm in norms_of(model):
        norm.weight.fill_(1)
        norm.bias.fill_(0)


class RMSNormWithBias(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return rms_norm(x, (x.shape[-1],), self.norm.weight, self.norm.eps) + self.norm.bias


def rms_norm_for_layer_norm(model):
    for layer in [model, *model.layers]:
        for name, norm in list(layer.named_children()):
            if isinstance(norm, LayerNorm):
                setattr(layer, name, RMSNormWithBias(norm))


def positions_from_one(model):
    model.positions.weight.copy_(model.positions.weight.roll(-1, 0))


def mask_dropped(layer):
    right = layer.forward
    layer.forward = lambda x, src_key_padding_mask: right(x)


def mask_inverted(layer):
    right = layer.forward
    layer.forward = lambda x, src_key_padding_mask: right(x, src_key_padding_mask=~src_key_padding_mask)


def keys_for_queries(layer):
    q, k, v = layer.self_attn.in_proj_weight.chunk(3)
    layer.self_attn.in_proj_weight.copy_(torch.cat([k, q, v]))
    q, k, v = layer.self_attn.in_proj_bias.chunk(3)
    layer.self_attn.in_proj_bias.copy_(torch.cat([k, q, v]))


def norms_exchanged(layer):
    layer.norm1, layer.norm2 = layer.norm2, layer.norm1


def activation(function):
    return of_each_layer(lambda layer: setattr(layer, "activation", function))


MISTAKES = {  # what is done, and how far off it has been measured to be, rounded down
    "eps 1e-5 for 1e-12": (eps_of_torch, 1.5e-3),
    "tanh for erf in gelu": (activation(partial(gelu, approximate="tanh")), 4e-3),
    "relu for gelu": (activation(relu), 2.0),
    "RMSNorm for LayerNorm": (rms_norm_for_layer_norm, 1.0),
    "weight 1 and bias 0": (without_weight_and_bias, 15.0),
    "pre-norm for post-norm": (of_each_layer(lambda layer: setattr(layer, "norm_first", True)), 200.0),
    "norms exchanged": (of_each_layer(norms_exchanged), 10.0),
    "no positions": (lambda model: model.positions.weight.zero_(), 2.0),
    "positions from 1": (positions_from_one, 1.5),
    "no types": (lambda model: model.types.weight.zero_(), 7.0),
    "queries and keys exchanged": (of_each_layer(keys_for_queries), 5.0),
    "6 heads for 12": (of_each_layer(lambda layer: setattr(layer.self_attn, "num_heads", 6)), 1.5),
    "padding seen": (of_each_layer(mask_dropped), 1.5),
    "padding mask inverted": (of_each_layer(mask_inverted), 2.0),
    "one layer less": (lambda model: model.layers.pop(5), 5.0),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_seen(name, minilm, reference):
    mistake, at_least = MISTAKES[name]
    model = copy.deepcopy(minilm)
    mistake(model)
    assert distance(model, reference, SHORT) > at_least > CLOSE


def test_a_mean_over_padding_is_seen(minilm, reference):
    x = minilm(reference["tokens"][SHORT, :25].long(), reference["padding"][SHORT, :25])
    right = sentence_vectors(x, reference["padding"][SHORT, :25])
    assert_close(right, reference["embeddings"][SHORT], rtol=0, atol=1e-6)
    wrong = sentence_vectors(x, torch.zeros(3, 25, dtype=torch.bool))
    assert (wrong - right).abs().max() > 0.01


# Bad input


def test_sentence_vectors_in_the_head():
    x = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [100.0, 100.0]]])
    padding = torch.tensor([[False, False, True]])
    assert_close(sentence_vectors(x, padding), torch.tensor([[0.6, 0.8]]))
    with pytest.raises(ValueError, match=r"padding to have shape \(1, 3\), got \(3,\)"):
        sentence_vectors(x, padding[0])


@pytest.mark.parametrize("sentences", ["one string", [b"bytes"], ["a", 3]], ids=str)
def test_sentences_are_a_list_of_strings(sentences, minilm):
    with pytest.raises(TypeError, match="a list of strings"):
        minilm.encode(sentences)


def test_no_sentence_at_all(minilm):
    with pytest.raises(ValueError, match="at least one sentence, got none"):
        minilm.encode([])


def test_more_positions_than_learned(minilm):
    with pytest.raises(ValueError, match=r"L at most 512, got \(1, 513\)"):
        minilm(torch.zeros(1, 513, dtype=torch.long))
    with pytest.raises(ValueError, match=r"\(N, L\), L at most 512, got \(5,\)"):
        minilm(torch.zeros(5, dtype=torch.long))
    with pytest.raises(TypeError, match=r"integer type, got torch\.float32"):
        minilm(torch.zeros(1, 5))
