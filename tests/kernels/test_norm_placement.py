"""Norm placements and QK-norm compared with their equations in torch's functions; DyT."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from blocklab.attention import MultiheadAttention, causal_mask
from blocklab.feed_forward import gelu, relu
from blocklab.norm_placement import OVER, PLACES, DyT, NormPlacementLayer, QKNormAttention, dyt
from blocklab.positional_encoding import rotary_embedding
from blocklab.transformer import EncoderLayer
from tolerance import TOLERANCE

N, L, D_MODEL, NHEAD, HIDDEN = 2, 5, 12, 3, 7
CLOSE = {"rtol": 1e-11, "atol": 1e-11}
each_place = pytest.mark.parametrize("place", PLACES)
each_form = pytest.mark.parametrize("over", OVER)


def normal(shape, rng, dtype=torch.float64):
    return torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype)


def randomized(module, rng):
    """Ones and zeros would hide a forgotten weight or bias, or two norms that have changed places."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, generator=rng)
    return module


def made(place, rng, dtype=torch.float64, **options):
    return randomized(NormPlacementLayer(place, D_MODEL, NHEAD, HIDDEN, **options).to(dtype), rng)


# A layer


def by_its_equation(layer, x, mask=None):
    """What a layer gives, from its weights and torch's functions alone."""
    theirs = nn.MultiheadAttention(D_MODEL, NHEAD, batch_first=True, dtype=x.dtype)
    theirs.load_state_dict(layer.self_attn.state_dict())

    def f(x):
        return theirs(x, x, x, attn_mask=mask)[0]

    def g(x):
        hidden = F.linear(x, layer.linear1.weight, layer.linear1.bias)
        return F.linear(F.gelu(hidden), layer.linear2.weight, layer.linear2.bias)

    def norm(number):
        own = layer.get_submodule(f"norm{number}")
        return lambda x: F.layer_norm(x, (D_MODEL,), own.weight, own.bias, 1e-5)

    match layer.place:
        case "post":
            x = norm(1)(x + f(x))
            return norm(2)(x + g(x))
        case "pre":
            x = x + f(norm(1)(x))
            return x + g(norm(2)(x))
        case "output":
            x = x + norm(1)(f(x))
            return x + norm(2)(g(x))
        case "sandwich":
            x = x + norm(2)(f(norm(1)(x)))
            return x + norm(4)(g(norm(3)(x)))
        case "parallel":
            return x + f(norm(1)(x)) + g(norm(1)(x))


@each_place
@pytest.mark.parametrize("batch", [(N,), ()], ids=["batch", "one sequence"])
def test_each_place_matches_its_equation(place, batch, rng):
    layer, x = made(place, rng, activation=gelu), normal((*batch, L, D_MODEL), rng)
    y = layer(x)
    assert y.shape == x.shape
    assert_close(y, by_its_equation(layer, x), **CLOSE)
    hidden = ~causal_mask(L)
    assert_close(layer(x, hidden, is_causal=True), by_its_equation(layer, x, hidden), **CLOSE)


@each_place
def test_gradients_are_those_of_the_equation(place, rng):
    layer, x = made(place, rng, activation="gelu"), normal((N, L, D_MODEL), rng).requires_grad_()
    direction = normal((N, L, D_MODEL), rng)
    own = [p for name, p in layer.named_parameters() if not name.startswith("self_attn")]
    got, wanted = (torch.autograd.grad((y * direction).sum(), [x, *own]) for y in (layer(x), by_its_equation(layer, x)))
    assert_close(got, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("place", "norm_first"), [("post", False), ("pre", True)])
@pytest.mark.parametrize("torchs", [False, True], ids=["ours", "torch's"])
def test_post_and_pre_are_the_encoder_layer_with_its_weights(place, norm_first, torchs, rng):
    options = {"batch_first": True} if torchs else {}
    encoder = (nn.TransformerEncoderLayer if torchs else EncoderLayer)(
        D_MODEL, NHEAD, HIDDEN, 0.0, "gelu", norm_first=norm_first, **options
    )
    randomized(encoder.double(), rng)
    layer = NormPlacementLayer(place, D_MODEL, NHEAD, HIDDEN, "gelu").double()
    assert list(layer.state_dict()) == list(encoder.state_dict())
    layer.load_state_dict(encoder.state_dict(), strict=True)
    x, padding = normal((N, L, D_MODEL), rng), torch.zeros(N, L, dtype=torch.bool)
    padding[1, 3:] = True
    assert_close(layer(x, ~causal_mask(L), padding), encoder(x, ~causal_mask(L), padding), **CLOSE)


def test_norms_have_weights_of_their_own():
    names = {place: [n for n, _ in NormPlacementLayer(place, 4, 2, 3).named_children()] for place in PLACES}
    norms = {place: [n for n in each if n.startswith("norm")] for place, each in names.items()}
    two, four = ["norm1", "norm2"], ["norm1", "norm2", "norm3", "norm4"]
    assert norms == {"post": two, "pre": two, "output": two, "sandwich": four, "parallel": ["norm1"]}
    assert NormPlacementLayer("pre", 4, 2).linear1.out_features == 2048
    assert NormPlacementLayer("pre", 4, 2, 3).activation is relu
    assert not any(name.endswith("bias") for name in NormPlacementLayer("sandwich", 4, 2, 3, bias=False).state_dict())
    assert made("pre", torch.Generator(), layer_norm_eps=0.3).norm2.eps == 0.3


@each_place
def test_zero_sublayers_give_the_identity_except_in_post(place, rng):
    layer, x = made(place, rng), normal((N, L, D_MODEL), rng)
    for name in ("self_attn.out_proj", "linear2"):
        for parameter in layer.get_submodule(name).parameters():
            nn.init.zeros_(parameter)
    for name, norm in layer.named_children():
        if name.startswith("norm"):
            nn.init.ones_(norm.weight)
            nn.init.zeros_(norm.bias)
    wanted = F.layer_norm(x, (D_MODEL,)) if place == "post" else x
    assert_close(layer(x), wanted, rtol=0, atol=1e-4 if place == "post" else 0)  # eps twice, against once


@pytest.mark.parametrize(
    ("place", "forgets"), [("pre", False), ("output", True), ("sandwich", True), ("parallel", False)]
)
def test_an_output_norm_ignores_the_scale_of_the_sublayer(place, forgets, rng):
    layer, x = made(place, rng), normal((N, L, D_MODEL), rng)
    y = layer(x)
    with torch.no_grad():
        for name in ("self_attn.out_proj", "linear2"):
            for parameter in layer.get_submodule(name).parameters():
                parameter *= 1000
    assert ((layer(x) - y).abs().max() < 1e-3) == forgets


@each_place
def test_half_types_are_kept(place, rng):
    layer = made(place, rng, torch.bfloat16)
    assert layer(normal((N, L, D_MODEL), rng, torch.bfloat16)).dtype == torch.bfloat16


@each_place
@each_form
def test_a_layer_with_a_norm_for_queries_and_keys(place, over, rng):
    layer, plain = made(place, rng, qk_norm=over), made(place, rng)
    assert isinstance(layer.self_attn, QKNormAttention)
    assert layer.self_attn.over == over
    assert type(plain.self_attn) is MultiheadAttention
    assert set(layer.state_dict()) - set(plain.state_dict()) == {"self_attn.q_norm.weight", "self_attn.k_norm.weight"}
    x = normal((N, L, D_MODEL), rng)
    y = layer(x)
    with torch.no_grad():
        rows = layer.self_attn.in_proj_weight
        rows[: 2 * D_MODEL] *= 50
        layer.self_attn.in_proj_bias[: 2 * D_MODEL] *= 50
    assert_close(layer(x), y, rtol=1e-4, atol=1e-4)  # eps, of numbers that are not large


def test_nn_transformer_encoder_accepts_the_layer(rng):
    stack = nn.TransformerEncoder(made("sandwich", rng), 2, enable_nested_tensor=False)
    x = normal((N, L, D_MODEL), rng)
    assert_close(stack(x, mask=~causal_mask(L)), stack.layers[1](stack.layers[0](x, ~causal_mask(L)), ~causal_mask(L)))


@each_place
@pytest.mark.exhaustive
def test_compiles_without_graph_breaks(place, rng):
    layer, x = made(place, rng, qk_norm="head"), normal((N, L, D_MODEL), rng)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert_close(compiled(x), layer(x), **TOLERANCE[torch.float64])


def test_repr_shows_the_place():
    assert repr(NormPlacementLayer("output", 4, 2, 3, qk_norm="whole")).startswith(
        "NormPlacementLayer(\n  place=output"
    )
    assert "over=whole" in repr(NormPlacementLayer("output", 4, 2, 3, qk_norm="whole"))
    assert "\n  8, 2, dropout=0.0, bias=True, over=head, rope_base=100.0\n" in repr(
        QKNormAttention(8, 2, rope_base=100)
    )
    assert "\n  8, 2, dropout=0.0, bias=True, over=head\n" in repr(QKNormAttention(8, 2))


# A norm for queries and keys


class Seen:
    """In the place of the attention: what it was given."""

    def __call__(self, query, key, value, mask, dropout_p):
        self.query, self.key, self.value = query, key, value
        return F.scaled_dot_product_attention(query, key, value, mask, dropout_p)


def seen_by(attention, x):
    attention.attention = seen = Seen()
    attention(x, x, x, need_weights=False)
    return seen


def constant(q, k, heads, over, **options):
    """Attention whose queries are all q, its keys all k: the matrices are 0, so the biases are left."""
    attention = QKNormAttention(len(q), heads, over, **options).double()
    nn.init.zeros_(attention.in_proj_weight)
    with torch.no_grad():
        attention.in_proj_bias.copy_(torch.cat([q, k, torch.zeros_like(q)]))
    return attention


def test_norms_of_numbers_1_to_8_per_head_and_whole():
    numbers = torch.arange(1.0, 9, dtype=torch.float64)
    per_head = seen_by(constant(numbers, numbers, 2, "head"), torch.zeros(1, 1, 8).double())
    whole = seen_by(constant(numbers, numbers, 2, "whole"), torch.zeros(1, 1, 8).double())
    wanted = {"head": [0.365148, 1.460593, 0.758098, 1.212957], "whole": [0.198030, 0.396059, 1.584236]}
    assert per_head.query.flatten()[[0, 3, 4, 7]].tolist() == pytest.approx(wanted["head"], abs=5e-7)
    assert per_head.key.flatten()[[0, 3, 4, 7]].tolist() == pytest.approx(wanted["head"], abs=5e-7)
    assert whole.query.flatten()[[0, 1, 7]].tolist() == pytest.approx(wanted["whole"], abs=5e-7)
    assert whole.key.flatten()[[0, 1, 7]].tolist() == pytest.approx(wanted["whole"], abs=5e-7)


@each_form
def test_queries_are_normalized_before_rotation(over):
    numbers = torch.arange(8, dtype=torch.float64)
    attention = constant(numbers.sin(), numbers.cos(), 1, over, rope_base=10000)
    weight = 1 + 0.1 * numbers
    with torch.no_grad():
        attention.q_norm.weight.copy_(weight)
        attention.k_norm.weight.copy_(weight)
    seen = seen_by(attention, torch.zeros(1, 17, 8).double())
    scores = (seen.query @ seen.key.mT)[0, 0]
    pairs = [(3, 0), (8, 5), (16, 13)]
    assert [scores[pair].item() for pair in pairs] == pytest.approx([-1.543834] * 3, abs=5e-7)

    # the other way round a score depends on where the two stand, not on their distance alone
    rotated = [rotary_embedding(x.expand(17, 8), torch.arange(17)) for x in (numbers.sin(), numbers.cos())]
    q, k = (F.rms_norm(x, (8,), weight, 1e-6) for x in rotated)
    assert [(q[m] @ k[n]).item() for m, n in pairs] == pytest.approx([-1.589978, -1.545377, -1.768368], abs=5e-7)


@each_form
@pytest.mark.parametrize("base", [None, 100.0])
def test_qk_norm_attention_matches_torch_functions(over, base, rng):
    attention = randomized(QKNormAttention(D_MODEL, NHEAD, over, base).double(), rng)
    query, key = normal((N, 4, D_MODEL), rng), normal((N, L, D_MODEL), rng)
    mask = normal((4, L), rng)
    packed = zip(attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True)
    q, k, v = (F.linear(x, *each) for x, each in zip((query, key, key), packed, strict=True))

    def heads(x):
        return x.unflatten(-1, (NHEAD, -1)).transpose(1, 2)

    def normed(x, weight):
        if over == "head":
            return F.rms_norm(heads(x), (D_MODEL // NHEAD,), weight, 1e-6)
        return heads(F.rms_norm(x, (D_MODEL,), weight, 1e-6))

    q, k, v = normed(q, attention.q_norm.weight), normed(k, attention.k_norm.weight), heads(v)
    if base is not None:
        q, k = (rotary_embedding(x, torch.arange(x.shape[-2]), base) for x in (q, k))
    wanted = attention.out_proj(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))
    assert_close(attention(query, key, key, attn_mask=mask)[0], wanted, **CLOSE)
    assert_close(attention(query, key, key, attn_mask=mask, need_weights=False)[0], wanted, **CLOSE)


def test_one_weight_for_all_heads_or_one_for_each_feature():
    shapes = {over: QKNormAttention(D_MODEL, NHEAD, over).q_norm.weight.shape for over in OVER}
    assert shapes == {"head": (D_MODEL // NHEAD,), "whole": (D_MODEL,)}
    assert QKNormAttention(D_MODEL, NHEAD).over == "head"
    assert QKNormAttention(D_MODEL, NHEAD).q_norm.eps == QKNormAttention(D_MODEL, NHEAD).k_norm.eps == 1e-6
    assert QKNormAttention(D_MODEL, NHEAD, eps=0.1).k_norm.eps == 0.1
    names = [name for name, _ in QKNormAttention(8, 2, bias=False).named_parameters()]
    assert names == ["in_proj_weight", "out_proj.weight", "q_norm.weight", "k_norm.weight"]


SCALES = 0.25, 1, 4, 16


def scaled(scale):
    """64 tokens, and the first two thirds of the matrix of four heads, times the scale."""
    torch.manual_seed(0)
    x, wq, wk = (torch.randn(64, 64, dtype=torch.float64) for _ in range(3))
    return x, torch.cat([scale * wq / 8, scale * wk / 8, torch.eye(64, dtype=torch.float64)])


def scores_and_entropy(attention, scale):
    x, weights = scaled(scale)
    attention = attention.double()
    nn.init.zeros_(attention.in_proj_bias)
    with torch.no_grad():
        attention.in_proj_weight.copy_(weights)
        seen = seen_by(attention, x[None])
        scores = seen.query @ seen.key.mT / math.sqrt(seen.query.shape[-1])
    weights = scores.softmax(-1)
    return scores.abs().max().item(), torch.special.entr(weights).sum(-1).mean().item()


PRINTED = {  # largest score and mean entropy, to the digits that are said
    "plain": [(0.366, 4.157), (5.85, 3.687), (93.6, 0.305), (1498, 0.020)],
    "head": [(3.463, 3.713)] * 4,
    "whole": [(4.846, 3.701)] * 4,
}


@pytest.mark.parametrize("form", PRINTED)
def test_scores_and_entropy_as_weights_grow(form):
    found = [
        scores_and_entropy(MultiheadAttention(64, 4) if form == "plain" else QKNormAttention(64, 4, form), scale)
        for scale in SCALES
    ]
    assert math.log(64) == pytest.approx(4.159, abs=5e-4)
    for (score, entropy), (wanted, wanted_entropy) in zip(found, PRINTED[form], strict=True):
        assert score == pytest.approx(wanted, rel=1e-3)
        assert entropy == pytest.approx(wanted_entropy, abs=1e-3)


@each_form
def test_scores_are_bounded_however_large_the_weights(over, rng):
    width = D_MODEL // NHEAD
    bound = math.sqrt(width) * (1 if over == "head" else NHEAD)
    attention = randomized(QKNormAttention(D_MODEL, NHEAD, over, eps=0.0).double(), rng)
    nn.init.ones_(attention.q_norm.weight)
    nn.init.ones_(attention.k_norm.weight)
    with torch.no_grad():
        attention.in_proj_weight *= 1e6
    x = normal((8, 64, D_MODEL), rng)
    seen = seen_by(attention, x)
    largest = (seen.query @ seen.key.mT).abs().max().item() / math.sqrt(width)
    assert 0.5 * bound < largest <= bound * (1 + 1e-12)


@each_form
def test_values_are_not_normalized(over, rng):
    attention, x = randomized(QKNormAttention(D_MODEL, NHEAD, over).double(), rng), normal((N, L, D_MODEL), rng)
    nn.init.zeros_(attention.out_proj.bias)
    y = attention(x, x, x)[0]
    with torch.no_grad():
        attention.in_proj_weight[2 * D_MODEL :] *= 7
        attention.in_proj_bias[2 * D_MODEL :] *= 7
    assert_close(attention(x, x, x)[0], 7 * y, **CLOSE)


# The tanh


def test_dyt_matches_recorded_numbers():
    assert dyt(torch.tensor([-3.0, 2.0])).tolist() == pytest.approx([-0.905148, 0.761594], abs=5e-7)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_dyt_matches_its_formula(dtype, rng):
    x, weight, bias = (normal(shape, rng, dtype) for shape in [(3, 4, 5), (5,), (5,)])
    wanted = weight.double() * torch.tanh(0.7 * x.double()) + bias.double()
    y = dyt(x, 0.7, weight, bias)
    assert y.dtype == dtype
    assert_close(y.double(), wanted, **TOLERANCE[dtype])
    assert_close(dyt(x, 0.7, weight).double(), wanted - bias.double(), **TOLERANCE[dtype])
    assert_close(dyt(x, 0.7, bias=bias).double(), torch.tanh(0.7 * x.double()) + bias.double(), **TOLERANCE[dtype])
    assert_close(dyt(x, torch.tensor(0.7).to(dtype)), dyt(x, torch.tensor(0.7).to(dtype).item()))


def test_dyt_treats_every_number_alone_and_keeps_the_scale(rng):
    x = normal((3, 5), rng)
    other = x.clone()
    other[:, 2] = 100
    moved = (dyt(other) != dyt(x)).any(0)
    assert moved.tolist() == [False, False, True, False, False]
    assert_close(dyt(-x), -dyt(x))
    assert (dyt(10 * x).abs() > dyt(x).abs()).all()
    assert dyt(1e6 * x).abs().max() <= 1


def test_dyt_module_learns_alpha_weight_and_bias(rng):
    module = DyT(5).double()
    assert {name: tuple(p.shape) for name, p in module.named_parameters()} == {
        "alpha": (1,),
        "weight": (5,),
        "bias": (5,),
    }
    x = normal((2, 5), rng)
    assert_close(module(x), torch.tanh(0.5 * x))
    assert DyT(5, 0.8).alpha.item() == pytest.approx(0.8)
    randomized(module, rng)
    direction = normal((2, 5), rng)
    (module(x) * direction).sum().backward()
    y = torch.tanh(module.alpha * x)
    wanted = torch.autograd.grad(((module.weight * y + module.bias) * direction).sum(), list(module.parameters()))
    assert_close([p.grad for p in module.parameters()], list(wanted), **CLOSE)
    assert repr(module) == "DyT(5)"
