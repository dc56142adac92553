"""EncoderLayer and DecoderLayer compared with torch's: same weights, same results, in training and eval."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from blocklab.attention import MultiheadAttention, causal_mask
from blocklab.feed_forward import gelu, relu
from blocklab.transformer import DecoderLayer, EncoderLayer
from tolerance import TOLERANCE

N, L, S, D_MODEL, NHEAD, HIDDEN = 2, 5, 4, 6, 3, 7
PAIRS = {
    "encoder": (EncoderLayer, nn.TransformerEncoderLayer),
    "decoder": (DecoderLayer, nn.TransformerDecoderLayer),
}
VARIANTS = {  # torch's arguments
    "defaults": {},
    "pre-norm": {"norm_first": True},
    "gelu": {"activation": "gelu"},
    "relu": {"activation": "relu", "norm_first": True},
    "function": {"activation": F.silu},
    "module": {"activation": nn.PReLU, "norm_first": True},  # one for each layer: it has a weight
    "no bias": {"bias": False},
    "pre-norm, no bias, gelu": {"bias": False, "norm_first": True, "activation": "gelu"},
    "large eps": {"layer_norm_eps": 0.3},
}
each_layer = pytest.mark.parametrize("layer", PAIRS)
each_variant = pytest.mark.parametrize("variant", VARIANTS)
both_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def normal(shape, rng, dtype=torch.float64):
    return torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype)


def randomize(module, rng):
    """Ones and zeros would hide a forgotten weight or bias, or two norms that have changed places."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, generator=rng)


def pair(layer, rng, dtype=torch.float64, dropout=0.0, **options):
    """Ours and torch's with the same random weights."""
    our_class, torch_class = PAIRS[layer]

    def build(layer_class, **more):
        own = {"activation": nn.PReLU()} if options.get("activation") is nn.PReLU else {}
        return layer_class(D_MODEL, NHEAD, HIDDEN, dropout, **options | own | more).to(dtype)

    reference, module = build(torch_class, batch_first=True), build(our_class)
    randomize(reference, rng)
    module.load_state_dict(reference.state_dict(), strict=True)
    return module, reference


def inputs(layer, rng, dtype=torch.float64, batch=(N,)):
    shapes = {"encoder": [(*batch, L, D_MODEL)], "decoder": [(*batch, L, D_MODEL), (*batch, S, D_MODEL)]}[layer]
    return [normal(shape, rng, dtype) for shape in shapes]


# Results and state


@each_layer
@each_variant
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_same_weights_give_the_same_result(layer, variant, dtype, rng):
    module, reference = pair(layer, rng, dtype, **VARIANTS[variant])
    close = {key: 10 * tolerance for key, tolerance in TOLERANCE[dtype].items()}
    for batch in [(N,), ()]:
        x = inputs(layer, rng, dtype, batch)
        y = module(*x)
        assert y.shape == x[0].shape
        assert y.dtype == dtype
        assert_close(y, reference(*x), **close)
        module.eval(), reference.eval()
        with torch.no_grad():  # torch's other, fused way to compute the same
            assert_close(module(*x), reference(*x), **close)


@each_layer
@each_variant
def test_state_dict_goes_both_ways(layer, variant, rng):
    module, reference = pair(layer, rng, **VARIANTS[variant])
    assert list(module.state_dict()) == list(reference.state_dict())
    assert [p.shape for p in module.parameters()] == [p.shape for p in reference.parameters()]
    randomize(module, rng)
    reference.load_state_dict(module.state_dict(), strict=True)
    x = inputs(layer, rng)
    assert_close(module(*x), reference(*x), rtol=1e-11, atol=1e-11)


@each_layer
def test_same_seed_and_defaults_give_the_same_layer(layer, rng):
    modules = []
    for layer_class, more in zip(PAIRS[layer], ({}, {"batch_first": True}), strict=True):
        torch.manual_seed(0)
        modules.append(layer_class(D_MODEL, NHEAD, **more))
    assert_close(dict(modules[0].state_dict()), dict(modules[1].state_dict()), rtol=0, atol=0)
    assert modules[0].linear1.out_features == 2048
    probabilities = [[m.p for m in module.modules() if isinstance(m, nn.Dropout)] for module in modules]
    assert probabilities[0] == probabilities[1]
    assert modules[0].self_attn.dropout == 0.1
    x = inputs(layer, rng, torch.float32)
    close = {key: 10 * tolerance for key, tolerance in TOLERANCE[torch.float32].items()}
    assert_close(modules[0].eval()(*x), modules[1].eval()(*x), **close)


def test_parameter_counts():
    counts = [sum(p.numel() for p in c(512, 8, device="meta").parameters()) for c in (EncoderLayer, DecoderLayer)]
    assert counts == [3_152_384, 4_204_032]


@pytest.mark.parametrize(("name", "function"), [("relu", relu), ("gelu", gelu)])
def test_activation_names_select_our_functions(name, function):
    assert EncoderLayer(6, 2, activation=name).activation is function
    assert DecoderLayer(6, 2, activation=function).activation is function


@each_layer
@both_orders
def test_gradients_agree_with_torch(layer, norm_first, rng):
    module, reference = pair(layer, rng, norm_first=norm_first, activation="gelu")
    x = [t.requires_grad_() for t in inputs(layer, rng)]
    mask = ~causal_mask(L)
    direction = normal((N, L, D_MODEL), rng)
    got, expected = (
        torch.autograd.grad((m(*x, mask) * direction).sum(), [*x, *m.parameters()]) for m in (module, reference)
    )
    assert_close(got, expected, rtol=1e-9, atol=1e-9)


# Masks


@st.composite
def masks(draw):
    """Any choice of masks, each of them boolean or float; no row hides everything."""
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    layer = draw(st.sampled_from(list(PAIRS)))
    shapes = {"src_mask": [(L, L), (N * NHEAD, L, L)], "src_key_padding_mask": [(N, L)]}
    if layer == "decoder":
        shapes = {
            "tgt_mask": [(L, L), (N * NHEAD, L, L)],
            "memory_mask": [(L, S), (N * NHEAD, L, S)],
            "tgt_key_padding_mask": [(N, L)],
            "memory_key_padding_mask": [(N, S)],
        }
    options = {}
    for name, choices in shapes.items():
        form = draw(st.sampled_from(["none", "boolean", "float"]))
        hidden = torch.rand(draw(st.sampled_from(choices)), generator=rng) < 0.4
        hidden[..., 0] = False
        if form != "none":
            options[name] = hidden if form == "boolean" else normal(hidden.shape, rng).masked_fill(hidden, -math.inf)
    return layer, draw(st.booleans()), rng, options


@pytest.mark.filterwarnings("ignore:Support for mismatched")  # torch's layer warns of one boolean and one float mask
@given(masks())
@settings(max_examples=120)
def test_boolean_and_float_masks_match_torch(case):
    layer, norm_first, rng, options = case
    module, reference = pair(layer, rng, norm_first=norm_first)
    x = inputs(layer, rng)
    assert_close(module(*x, **options), reference(*x, **options), rtol=1e-11, atol=1e-11)


@each_layer
def test_positional_arguments_are_in_torchs_order(layer, rng):
    module, reference = pair(layer, rng)
    x, target, memory = inputs(layer, rng), ~causal_mask(L), torch.rand(L, S, generator=rng) < 0.3
    padding, other = torch.zeros(N, L, dtype=torch.bool), torch.zeros(N, S, dtype=torch.bool)
    padding[1, 3:] = True
    other[0, 2:] = True
    places = [target, padding, True] if layer == "encoder" else [target, memory & ~other[0], padding, other, True]
    assert_close(module(*x, *places), reference(*x, *places), **TOLERANCE[torch.float64])
    names = {"src_key_padding_mask": padding} if layer == "encoder" else {"tgt_key_padding_mask": padding}
    assert_close(module(*x, **names), reference(*x, **names), **TOLERANCE[torch.float64])


@pytest.mark.parametrize("layer", [EncoderLayer, DecoderLayer])
def test_layers_use_a_replaced_attention_function(layer):
    x = torch.ones(1, 3, 4)
    module = layer(4, 2, 8, dropout=0.0)
    memory = [x] if layer is DecoderLayer else []
    calls = []
    for part in module.modules():
        if isinstance(part, MultiheadAttention):
            part.attention = lambda q, k, v, *_: calls.append(q.shape) or v
    module(x, *memory)
    assert calls == [(1, 2, 3, 2)] * (2 if memory else 1)


def test_is_causal_reaches_its_attention(rng):
    x, memory = inputs("decoder", rng)
    module, _ = pair("decoder", rng)
    with pytest.raises(ValueError, match="expected tgt_mask with tgt_is_causal"):
        module(x, memory, memory_mask=torch.zeros(L, S, dtype=torch.bool), tgt_is_causal=True)
    with pytest.raises(ValueError, match="expected memory_mask with memory_is_causal"):
        module(x, memory, tgt_mask=~causal_mask(L), memory_is_causal=True)
    with pytest.raises(ValueError, match="expected src_mask with is_causal"):
        pair("encoder", rng)[0](x, is_causal=True)


@both_orders
def test_a_fully_masked_row_is_the_same_in_training_and_eval(norm_first, rng):
    # the result that torch has in training; out of it, its fused way gives NaN
    for layer, name in (("encoder", "src_key_padding_mask"), ("decoder", "memory_key_padding_mask")):
        module, reference = pair(layer, rng, norm_first=norm_first)
        x = inputs(layer, rng)
        hidden = {name: torch.zeros(x[-1].shape[:2], dtype=torch.bool)}
        hidden[name][1] = True
        expected = reference(*x, **hidden)
        assert torch.isfinite(expected).all()
        assert_close(module(*x, **hidden), expected, **TOLERANCE[torch.float64])
        module(*x, **hidden).sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in module.parameters())
        module.eval()
        with torch.no_grad():
            assert_close(module(*x, **hidden), expected, **TOLERANCE[torch.float64])


# Dropout


@each_layer
@both_orders
@pytest.mark.parametrize("batch", [(), (1,)], ids=["no batch", "batch of one"])
def test_dropout_from_the_same_seed_is_torchs(layer, norm_first, batch, rng):
    # For a larger batch torch lays the numbers out otherwise in memory; the next test takes over there. GELU, because
    # ReLU does not care whether dropout comes before or after it.
    module, reference = pair(layer, rng, dropout=0.4, norm_first=norm_first, activation="gelu")
    x = inputs(layer, rng, batch=batch)
    results = []
    for m in (module, reference):
        torch.manual_seed(3)
        results.append(m(*x))
    assert_close(*results, **TOLERANCE[torch.float64])
    assert (results[0] - module.eval()(*x)).abs().max() > 0.01
    assert torch.equal(module(*x), module(*x))


@each_layer
@both_orders
def test_dropout_is_where_torch_has_it(layer, norm_first, rng, monkeypatch):
    calls = []

    def recognisable(x, p, training=True, _inplace=False):
        """In place of dropout: every number of every call gets a factor of its own."""
        if not training or p == 0:
            return x
        calls.append((tuple(x.shape), p))
        places = torch.arange(x.numel(), dtype=x.dtype).view(x.shape)
        return x * (1 + 0.5 * torch.sin(places + 10 * len(calls)))

    def attention(query, key, value, mask, dropout_p, _is_causal):
        """torch's function drops out inside; this one does it in the open, for torch's layer alone."""
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return recognisable((scores if mask is None else scores + mask).softmax(-1), dropout_p) @ value

    module, reference = pair(layer, rng, dropout=0.25, norm_first=norm_first, activation="gelu")
    x = inputs(layer, rng)
    monkeypatch.setattr(F, "dropout", recognisable)
    monkeypatch.setattr(F, "scaled_dot_product_attention", attention)
    got, made = module(*x), list(calls)
    calls.clear()
    assert_close(got, reference(*x), **TOLERANCE[torch.float64])
    features = (N, L, D_MODEL)
    expected = [(N, NHEAD, L, L), features, (N, L, HIDDEN), features]
    if layer == "decoder":
        expected[2:2] = [(N, NHEAD, L, S), features]
    assert made == calls == [(shape, 0.25) for shape in expected]
    calls.clear()
    module.eval()(*x)
    assert calls == []


# Compiled, exported, stacked


@each_layer
@both_orders
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(layer, norm_first, rng):
    module, _ = pair(layer, rng, norm_first=norm_first, activation="gelu")
    x, mask = inputs(layer, rng), ~causal_mask(L)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    assert_close(compiled(*x, mask), module(*x, mask), **TOLERANCE[torch.float64])


def test_an_exported_encoder_layer_takes_other_lengths(rng):
    module, reference = pair("encoder", rng)
    module.eval(), reference.eval()
    x, padding = inputs("encoder", rng)[0], torch.zeros(N, L, dtype=torch.bool)
    axes = {0: torch.export.Dim("N", min=2, max=64), 1: torch.export.Dim("L", min=2, max=64)}
    shapes = {"src": axes, "src_key_padding_mask": axes}
    exported = torch.export.export(module, (x,), {"src_key_padding_mask": padding}, dynamic_shapes=shapes).module()
    longer, padding = normal((3, 11, D_MODEL), rng), torch.zeros(3, 11, dtype=torch.bool)
    padding[2, 4:] = True
    y = exported(longer, src_key_padding_mask=padding)
    assert_close(y, reference(longer, src_key_padding_mask=padding), **TOLERANCE[torch.float64])


@both_orders
def test_nn_transformer_encoder_accepts_our_layer(norm_first, rng):
    module, reference = pair("encoder", rng, norm_first=norm_first)
    stacks = [nn.TransformerEncoder(m, 2, enable_nested_tensor=False) for m in (module, reference)]
    randomize(stacks[1], rng)
    stacks[0].load_state_dict(stacks[1].state_dict(), strict=True)
    x = inputs("encoder", rng)[0]
    got, expected = (stack(x, mask=~causal_mask(L)) for stack in stacks)
    assert_close(got, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("module", "start"),
    [
        (EncoderLayer(6, 2, 7), "EncoderLayer(\n  post-norm"),
        (DecoderLayer(6, 2, 7, norm_first=True), "DecoderLayer(\n  pre-norm"),
    ],
    ids=["encoder", "decoder"],
)
def test_repr_shows_the_order_of_the_norms(module, start):
    assert repr(module).startswith(start)
