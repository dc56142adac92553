"""MultiheadAttention compared with torch's: constructor, state, masks, weights, dropout, one sequence."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from blocklab import attention as ours
from tolerance import TOLERANCE

# arguments, and the widths of key and value
KINDS = {
    "plain": ((6, 2), {}, 6, 6),
    "one head": ((6, 1), {}, 6, 6),
    "no bias": ((6, 3), {"bias": False}, 6, 6),
    "other widths": ((6, 2), {"kdim": 5, "vdim": 4}, 5, 4),
    "other value width, no bias": ((6, 2), {"vdim": 4, "bias": False}, 6, 4),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def normal(shape, rng, dtype=torch.float64):
    return torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype)


def pair(kind, rng, dtype=torch.float64, **more):
    """Ours and torch's with the same random weights; zeros would hide a forgotten bias."""
    arguments, options, *_ = KINDS[kind]
    layers = [
        ours.MultiheadAttention(*arguments, **options, **more, dtype=dtype),
        nn.MultiheadAttention(*arguments, **options, **more, dtype=dtype, batch_first=True),
    ]
    for parameter in layers[1].parameters():
        nn.init.normal_(parameter, generator=rng)
    layers[0].load_state_dict(layers[1].state_dict(), strict=True)
    return layers


def inputs(kind, rng, dtype=torch.float64, N=2, L=4, S=5):
    *_, kdim, vdim = KINDS[kind]
    return [normal(shape, rng, dtype) for shape in [(N, L, 6), (N, S, kdim), (N, S, vdim)]]


@each_kind
def test_same_seed_gives_the_same_initial_weights(kind):
    arguments, options, *_ = KINDS[kind]
    states = []
    for layer_class, more in ((ours.MultiheadAttention, {}), (nn.MultiheadAttention, {"batch_first": True})):
        torch.manual_seed(0)
        states.append(layer_class(*arguments, **options, **more).state_dict())
    assert list(states[0]) == list(states[1])
    assert_close(dict(states[0]), dict(states[1]), rtol=0, atol=0)


@each_kind
def test_state_dict_goes_both_ways(kind, rng):
    layer, reference = pair(kind, rng)
    assert [(n, p.shape) for n, p in layer.named_parameters()] == [
        (n, p.shape) for n, p in reference.named_parameters()
    ]
    for parameter in layer.parameters():
        nn.init.normal_(parameter, generator=rng)
    reference.load_state_dict(layer.state_dict(), strict=True)
    tensors = inputs(kind, rng)
    assert_close(layer(*tensors), reference(*tensors), **TOLERANCE[torch.float64])


@each_kind
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("average", [True, False])
def test_result_and_weights_match_torch(kind, dtype, average, rng):
    layer, reference = pair(kind, rng, dtype)
    tensors = inputs(kind, rng, dtype)
    close = {key: 10 * tolerance for key, tolerance in TOLERANCE[dtype].items()}
    got, expected = (m(*tensors, average_attn_weights=average) for m in (layer, reference))
    assert_close(got, expected, **close)
    assert got[1].shape == ((2, 4, 5) if average else (2, layer.num_heads, 4, 5))
    without, nothing = layer(*tensors, need_weights=False)
    assert nothing is None
    assert torch.equal(without, got[0])


def added(shape, rng, dtype):
    """A mask to add: random numbers, and -inf in places, but never in a whole row."""
    hidden = torch.rand(shape, generator=rng) < 0.4
    hidden[..., 0] = False
    return normal(shape, rng, dtype).masked_fill(hidden, -math.inf)


@st.composite
def masks(draw):
    N, L, S = draw(st.lists(st.integers(1, 6), min_size=3, max_size=3, unique=True))
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    made = {}
    for name, shapes in {"attn_mask": [(L, S), (2 * N, L, S)], "key_padding_mask": [(N, S)]}.items():
        form = draw(st.sampled_from(["none", "boolean", "float"]))
        mask = added(draw(st.sampled_from(shapes)), rng, torch.float64)
        if form != "none":
            made[name] = mask if form == "float" else mask == -math.inf
    return N, L, S, rng, made


@pytest.mark.filterwarnings("ignore:Support for mismatched")  # torch's layer warns of one boolean and one float mask
@given(masks())
@settings(max_examples=100)
def test_boolean_and_float_masks_match_torch(case):
    N, L, S, rng, options = case
    layer, reference = pair("plain", rng)
    tensors = inputs("plain", rng, N=N, L=L, S=S)
    got, expected = layer(*tensors, **options), reference(*tensors, **options)
    assert_close(got, expected, **TOLERANCE[torch.float64])


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("shape", [(4, 5), (2, 4, 5)], ids=["(L, S)", "(h, L, S)"])
def test_accepts_one_sequence_without_a_batch_axis(need_weights, shape, rng):
    layer, reference = pair("plain", rng)
    tensors = [x[0] for x in inputs("plain", rng)]
    options = {"attn_mask": added(shape, rng, torch.float64), "key_padding_mask": added((5,), rng, torch.float64)}
    for average in (True, False):
        chosen = options | {"need_weights": need_weights, "average_attn_weights": average}
        got, expected = (m(*tensors, **chosen) for m in (layer, reference))
        assert_close(got[0], expected[0], **TOLERANCE[torch.float64])
        if need_weights:
            assert_close(got[1], expected[1], **TOLERANCE[torch.float64])
    batched = layer(*(x[None] for x in tensors), attn_mask=options["attn_mask"])[0][0]
    assert_close(layer(*tensors, attn_mask=options["attn_mask"])[0], batched, **TOLERANCE[torch.float64])


def test_true_in_a_layer_mask_hides_the_key(rng):
    layer, reference = pair("plain", rng)
    x, causal = inputs("plain", rng)[0], ~ours.causal_mask(4)
    y = layer(x, x, x, attn_mask=causal)[0]
    assert_close(y, reference(x, x, x, attn_mask=causal)[0], **TOLERANCE[y.dtype])
    assert (y - layer(x, x, x, attn_mask=~causal)[0]).abs().max() > 0.1
    padding = torch.tensor([[False, False, True, True]] * 2)
    shorter = layer(x[:, :2], x[:, :2], x[:, :2])[0]
    assert_close(layer(x, x, x, padding)[0][:, :2], shorter, **TOLERANCE[y.dtype])


def test_two_float16_masks_do_not_overflow_to_minus_infinity(rng):
    layer, _ = pair("plain", rng, torch.float16)
    x = inputs("plain", rng, torch.float16)[0]
    lowest = torch.finfo(torch.float16).min
    weights = layer(x, x, x, torch.full((2, 4), lowest).half(), attn_mask=torch.full((4, 4), lowest).half())[1]
    assert (weights.sum(-1) > 0.9).all()


def test_is_causal_only_describes_the_mask(rng):
    layer, reference = pair("plain", rng)
    x, causal = inputs("plain", rng)[0], ~ours.causal_mask(4)
    for need_weights in (True, False):
        got, expected = (
            m(x, x, x, need_weights=need_weights, attn_mask=causal, is_causal=True)[0] for m in (layer, reference)
        )
        assert_close(got, expected, **TOLERANCE[got.dtype])
    # Where the hint is false, torch obeys it with need_weights=False, and the mask otherwise. Ours obeys the mask.
    everything = torch.zeros(4, 4, dtype=torch.bool)
    for need_weights in (True, False):
        y = layer(x, x, x, need_weights=need_weights, attn_mask=everything, is_causal=True)[0]
        assert_close(y, layer(x, x, x)[0], **TOLERANCE[y.dtype])


@pytest.mark.parametrize("form", ["boolean", "float", "padding", "both"])
def test_a_fully_masked_row_gives_the_output_bias_in_training_and_eval(form, rng):
    # torch's gives NaN with weights, and without them in eval and no_grad; this is what it gives otherwise
    layer, reference = pair("plain", rng)
    x = inputs("plain", rng)[0]
    hidden = torch.zeros(4, 4, dtype=torch.bool)
    hidden[1] = True
    padding = torch.tensor([[False] * 4, [True] * 4])
    options = {
        "boolean": {"attn_mask": hidden},
        "float": {"attn_mask": torch.where(hidden, -math.inf, 0.0).double()},
        "padding": {"key_padding_mask": padding},
        "both": {"attn_mask": hidden, "key_padding_mask": padding},
    }[form]
    rows = torch.zeros(2, 4, dtype=torch.bool)
    rows[:, 1] |= form != "padding"
    rows[1] |= form in ("padding", "both")
    expected = reference(x, x, x, need_weights=False, **options)[0]
    results = [layer(x, x, x, **options)[0], layer(x, x, x, need_weights=False, **options)[0]]
    layer.eval()
    with torch.no_grad():
        results += [layer(x, x, x, **options)[0], layer(x, x, x, need_weights=False, **options)[0]]
    for y in results:
        assert_close(y, expected, **TOLERANCE[y.dtype])
        assert_close(y[rows], layer.out_proj.bias.expand_as(y[rows]), rtol=0, atol=0)
    weights = layer(x, x, x, **options)[1]
    assert torch.equal(weights.sum(-1) == 0, rows)
    leaf = x.clone().requires_grad_()
    layer(leaf, leaf, leaf, **options)[0].sum().backward()
    gradients = [leaf.grad, *(p.grad for p in layer.parameters())]
    assert all(torch.isfinite(g).all() for g in gradients)


@pytest.mark.parametrize("need_weights", [True, False])
def test_dropout_from_the_same_seed_is_torchs(need_weights, rng):
    layer, reference = pair("plain", rng, dropout=0.4)
    tensors = inputs("plain", rng)
    results = []
    for m in (layer, reference):
        torch.manual_seed(7)
        results.append(m(*tensors, need_weights=need_weights, average_attn_weights=False))
    assert_close(results[0][0], results[1][0], **TOLERANCE[torch.float64])
    if need_weights:
        assert (results[0][1] == 0).any()
        assert_close(results[0][1], results[1][1], **TOLERANCE[torch.float64])
    layer.eval()
    assert torch.equal(layer(*tensors)[0], layer(*tensors)[0])
    assert_close(layer(*tensors), reference.eval()(*tensors), **TOLERANCE[torch.float64])


@each_kind
def test_gradients_agree_with_torch(kind, rng):
    layer, reference = pair(kind, rng)
    tensors = [x.requires_grad_() for x in inputs(kind, rng)]
    mask = added((4, 5), rng, torch.float64)
    direction = normal((2, 4, 6), rng)
    got, expected = (
        torch.autograd.grad((m(*tensors, attn_mask=mask)[0] * direction).sum(), [*tensors, *m.parameters()])
        for m in (layer, reference)
    )
    assert_close(got, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(rng):
    layer, _ = pair("plain", rng)
    tensors, mask = inputs("plain", rng), added((4, 5), rng, torch.float64)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert_close(compiled(*tensors, attn_mask=mask), layer(*tensors, attn_mask=mask), **TOLERANCE[torch.float64])


@pytest.mark.parametrize(("N", "S"), [(0, 5), (2, 0)])
def test_empty_batch_and_no_keys(N, S, rng):
    layer, reference = pair("plain", rng)
    tensors = inputs("plain", rng, N=N, S=S)
    mask = torch.zeros(4, S, dtype=torch.bool)
    y, weights = layer(*tensors, attn_mask=mask)
    assert_close(y, reference(*tensors)[0], **TOLERANCE[y.dtype])
    assert weights.shape == (N, 4, S)


def test_half_types_are_kept(rng):
    layer, _ = pair("plain", rng, torch.bfloat16)
    y, weights = layer(*inputs("plain", rng, torch.bfloat16), attn_mask=added((4, 5), rng, torch.float32))
    assert y.dtype == weights.dtype == torch.bfloat16


def test_repr_shows_other_widths():
    assert "\n  6, 2, dropout=0.0, bias=True, kdim=5, vdim=4\n" in repr(ours.MultiheadAttention(6, 2, kdim=5, vdim=4))
    layer = ours.MultiheadAttention(6, 2, 0.1, kdim=5)
    assert repr(layer).startswith("MultiheadAttention(\n  6, 2, dropout=0.1, bias=True, kdim=5\n")
    assert layer.batch_first


@pytest.mark.parametrize("options", [{}, {"kdim": 4, "vdim": 3}, {"bias": False}], ids=str)
def test_reset_parameters_matches_torch(options):
    states = []
    for made in (ours.MultiheadAttention, nn.MultiheadAttention):
        torch.manual_seed(0)
        layer = made(6, 2, batch_first=True, **options)
        for parameter in layer.parameters():
            nn.init.constant_(parameter, 7)
        layer._reset_parameters()
        states.append(dict(layer.state_dict()))
    assert_close(*states, rtol=0, atol=0)
