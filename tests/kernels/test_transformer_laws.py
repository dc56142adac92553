"""Properties of the layers for every input: which tokens affect which, and recorded numbers."""

import pytest
import torch
from torch.testing import assert_close

from blocklab.attention import causal_mask
from blocklab.normalization import layer_norm
from blocklab.transformer import DecoderLayer, EncoderLayer
from tolerance import TOLERANCE

both_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=torch.float64)


def random_layer(layer_class, rng, **options):
    layer = layer_class(6, 3, 7, 0.0, **options, dtype=torch.float64)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, generator=rng)
    return layer


# Vectors: weights and inputs are sines and cosines of their place


def filled(layer):
    """Deterministic weights: parameter j, number i is sin(0.7 i + j), scaled by 0.3; norm weights lie around one."""
    for j, (name, parameter) in enumerate(layer.named_parameters()):
        wave = torch.sin(torch.arange(parameter.numel(), dtype=torch.float64) * 0.7 + j).view_as(parameter)
        is_norm_weight = "norm" in name and name.endswith("weight")
        parameter.data.copy_(1 + 0.1 * wave if is_norm_weight else 0.3 * wave)
    return layer


X = torch.cos(torch.arange(80, dtype=torch.float64) * 0.3).view(2, 5, 8)
MEMORY = torch.sin(torch.arange(64, dtype=torch.float64) * 0.5).view(2, 4, 8)
ENCODER_VECTORS = {  # (norm_first, causal): y[0, 0, :3], sum
    (False, False): ([-0.0925442197, 1.3500644248, 0.9298590531], 2.0107823837),
    (False, True): ([-0.4480339375, 1.2883884261, 1.1765749036], 1.7763805989),
    (True, False): ([1.00283286, 4.7108344992, 4.3258482371], -9.2458082491),
    (True, True): ([0.5782996844, 4.5157455233, 4.5983414713], -4.6361116652),
}
DECODER_VECTORS = {  # norm_first: the same, causal
    False: ([-1.0766576125, -1.0690110701, 0.3594527815], 1.2978867989),
    True: ([-1.1954082805, 0.0229974804, 3.648716142], 8.1771092048),
}


@pytest.mark.parametrize(("norm_first", "causal"), ENCODER_VECTORS)
def test_encoder_layer_matches_recorded_numbers(norm_first, causal):
    layer = filled(EncoderLayer(8, 2, 16, 0.0, norm_first=norm_first, dtype=torch.float64))
    y = layer(X, ~causal_mask(5) if causal else None)
    first, total = ENCODER_VECTORS[norm_first, causal]
    assert y[0, 0, :3].tolist() == pytest.approx(first, abs=1e-9)
    assert y.sum().item() == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("norm_first", DECODER_VECTORS)
def test_decoder_layer_matches_recorded_numbers(norm_first):
    layer = filled(DecoderLayer(8, 2, 16, 0.0, norm_first=norm_first, dtype=torch.float64))
    y = layer(X, MEMORY, ~causal_mask(5))
    first, total = DECODER_VECTORS[norm_first]
    assert y[0, 0, :3].tolist() == pytest.approx(first, abs=1e-9)
    assert y.sum().item() == pytest.approx(total, abs=1e-8)


# Who influences whom


@both_orders
@pytest.mark.parametrize("place", range(5))
def test_causal_token_affects_only_itself_and_later_ones(norm_first, place, rng):
    encoder, decoder = (random_layer(c, rng, norm_first=norm_first) for c in (EncoderLayer, DecoderLayer))
    x, memory = normal((2, 5, 6), rng), normal((2, 4, 6), rng)
    poked = x.clone()
    poked[1, place] += normal(6, rng)
    expected = torch.zeros(2, 5, dtype=torch.bool)
    expected[1, place:] = True
    for layer in (lambda x: encoder(x, ~causal_mask(5)), lambda x: decoder(x, memory, ~causal_mask(5))):
        assert torch.equal((layer(poked) != layer(x)).any(-1), expected)


@both_orders
def test_memory_reaches_every_token_of_its_sequence(norm_first, rng):
    decoder = random_layer(DecoderLayer, rng, norm_first=norm_first)
    x, memory = normal((2, 5, 6), rng), normal((2, 4, 6), rng)
    poked = memory.clone()
    poked[1, 2] += normal(6, rng)
    hidden = torch.zeros(2, 4, dtype=torch.bool)
    moved = (decoder(x, poked, ~causal_mask(5)) != decoder(x, memory, ~causal_mask(5))).any(-1)
    assert torch.equal(moved, torch.tensor([[False] * 5, [True] * 5]))
    hidden[1, 2] = True
    y, unmoved = (decoder(x, m, memory_key_padding_mask=hidden) for m in (memory, poked))
    assert torch.equal(y, unmoved)


@both_orders
def test_padding_does_not_affect_other_tokens(norm_first, rng):
    layer = random_layer(EncoderLayer, rng, norm_first=norm_first)
    x, padding = normal((2, 5, 6), rng), torch.zeros(2, 5, dtype=torch.bool)
    padding[1, 3:] = True
    y = layer(x, src_key_padding_mask=padding)
    assert_close(y[1, :3], layer(x[1, :3]), **TOLERANCE[y.dtype])
    assert_close(y[0], layer(x[0]), **TOLERANCE[y.dtype])


@both_orders
def test_permutation_equivariant_without_a_mask(norm_first, rng):
    encoder, decoder = (random_layer(c, rng, norm_first=norm_first) for c in (EncoderLayer, DecoderLayer))
    x, memory = normal((2, 5, 6), rng), normal((2, 4, 6), rng)
    order, other = [4, 2, 0, 1, 3], [3, 0, 2, 1]
    close = TOLERANCE[x.dtype]
    assert_close(encoder(x[:, order]), encoder(x)[:, order], **close)
    assert_close(decoder(x[:, order], memory[:, other]), decoder(x, memory)[:, order], **close)


# What each norm is for


@pytest.mark.parametrize("layer_class", [EncoderLayer, DecoderLayer])
def test_post_norm_ends_with_a_norm_and_pre_norm_with_a_sum(layer_class, rng):
    x, memory = normal((2, 5, 6), rng), [normal((2, 4, 6), rng)] * (layer_class is DecoderLayer)
    post, pre = (layer_class(6, 3, 7, 0.0, norm_first=n, dtype=torch.float64) for n in (False, True))
    y = post(x, *memory)
    assert_close(y, layer_norm(y, (6,), eps=0.0), rtol=1e-4, atol=1e-4)  # but for eps
    # with every sublayer's last matrix at zero, pre-norm is the identity and post-norm normalizes
    for layer in (post, pre):
        for module in layer.modules():
            for name in ("out_proj", "linear2"):
                if hasattr(module, name):
                    torch.nn.init.zeros_(getattr(module, name).weight)
                    torch.nn.init.zeros_(getattr(module, name).bias)
    assert torch.equal(pre(x, *memory), x)
    assert_close(post(x, *memory), layer_norm(x, (6,)), rtol=1e-4, atol=1e-4)


def test_pre_norm_does_not_normalize_the_memory(rng):
    decoder = random_layer(DecoderLayer, rng, norm_first=True)
    x, memory = normal((2, 5, 6), rng), normal((2, 4, 6), rng)
    assert (decoder(x, 3 * memory) - decoder(x, memory)).abs().max() > 0.1


@both_orders
@pytest.mark.parametrize("layer_class", [EncoderLayer, DecoderLayer])
def test_first_and_second_derivative(layer_class, norm_first, rng):
    layer = layer_class(4, 2, 3, 0.0, "gelu", 0.1, norm_first=norm_first, dtype=torch.float64)
    x = [normal((1, 3, 4), rng).requires_grad_()]
    if layer_class is DecoderLayer:
        x.append(normal((1, 2, 4), rng).requires_grad_())

    def run(*x):
        return layer(*x, ~causal_mask(3))

    assert torch.autograd.gradcheck(run, x)
    assert torch.autograd.gradgradcheck(run, x)
