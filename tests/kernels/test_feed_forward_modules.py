"""FeedForward and SwiGLU compared with torch and Meta's code: state, widths, dropout, gradients."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from blocklab.feed_forward import FeedForward, SwiGLU, gelu, hidden_width, parameter_count, relu, round_up
from tolerance import TOLERANCE

DOUBLE = torch.float64


def randomized(module, rng):
    for parameter in module.parameters():
        nn.init.normal_(parameter, generator=rng)
    return module


def torchs_block(d, hidden, activation="relu", bias=True):
    """The feed-forward part of torch's encoder layer."""
    return nn.TransformerEncoderLayer(
        d, 1, hidden, dropout=0.0, activation=activation, bias=bias, batch_first=True, dtype=DOUBLE
    )


@pytest.mark.parametrize("activation", ["relu", "gelu", F.silu, torch.tanh], ids=["relu", "gelu", "silu", "tanh"])
@pytest.mark.parametrize("bias", [True, False])
def test_feed_forward_matches_torch(activation, bias, rng):
    ours, layer = FeedForward(6, 10, activation, bias=bias, dtype=DOUBLE), torchs_block(6, 10, activation, bias)
    randomized(layer, rng)
    keys = [key for key in layer.state_dict() if key.startswith("linear")]
    assert list(ours.state_dict()) == keys
    ours.load_state_dict({key: layer.state_dict()[key] for key in keys}, strict=True)
    x = torch.randn(2, 5, 6, generator=rng, dtype=DOUBLE)
    assert_close(ours(x), layer._ff_block(x), **TOLERANCE[DOUBLE])


def test_feed_forward_initializes_as_torch():
    torch.manual_seed(0)
    ours = FeedForward(6, 10)
    torch.manual_seed(0)
    linear1, linear2 = nn.Linear(6, 10), nn.Linear(10, 6)
    assert torch.equal(ours.linear1.weight, linear1.weight)
    assert torch.equal(ours.linear2.bias, linear2.bias)
    assert ours.activation is relu
    assert ours.dropout.p == 0
    assert FeedForward(6, 10, "gelu").activation is gelu


def test_dropout_is_before_the_second_layer_and_only_in_training():
    ours = FeedForward(4, 500, lambda h: h, dropout=0.5, dtype=DOUBLE)
    with torch.no_grad():
        ours.linear1.weight.fill_(1 / 4), ours.linear1.bias.zero_()
        ours.linear2.weight.fill_(1.0), ours.linear2.bias.zero_()
    x = torch.ones(40, 4, dtype=DOUBLE)
    torch.manual_seed(0)
    trained = ours(x)
    # 500 hidden ones, of which about half come through, each as a two; a token's four outputs see the same ones
    assert torch.equal(trained, trained[:, :1].expand(40, 4))
    assert ((trained > 400) & (trained < 600) & (trained % 2 == 0)).all()
    assert len(trained.unique()) > 10
    assert torch.equal(ours.eval()(x), torch.full((40, 4), 500.0, dtype=DOUBLE))


def test_swiglu_has_three_matrices_and_no_bias(rng):
    layer = randomized(SwiGLU(6, 10, dtype=DOUBLE), rng)
    assert {key: tuple(value.shape) for key, value in layer.state_dict().items()} == {
        "w1.weight": (10, 6),
        "w2.weight": (6, 10),
        "w3.weight": (10, 6),
    }
    x = torch.randn(2, 5, 6, generator=rng, dtype=DOUBLE)
    gate, up, down = layer.w1.weight.T, layer.w3.weight.T, layer.w2.weight.T
    assert_close(layer(x), ((x @ gate) / (1 + torch.exp(-(x @ gate))) * (x @ up)) @ down, **TOLERANCE[DOUBLE])
    assert torch.equal(layer(torch.zeros(1, 6, dtype=DOUBLE)), torch.zeros(1, 6, dtype=DOUBLE))


def test_swiglu_with_bias(rng):
    layer = randomized(SwiGLU(6, 10, bias=True, dtype=DOUBLE), rng)
    assert list(layer.state_dict()) == ["w1.weight", "w1.bias", "w2.weight", "w2.bias", "w3.weight", "w3.bias"]
    x = torch.randn(4, 6, generator=rng, dtype=DOUBLE)
    assert_close(layer(x), layer.w2(F.silu(layer.w1(x)) * layer.w3(x)), **TOLERANCE[DOUBLE])


LAYERS = {"FeedForward": lambda **more: FeedForward(6, 10, "gelu", **more), "SwiGLU": lambda **more: SwiGLU(6, 10)}
each_layer = pytest.mark.parametrize("name", LAYERS)


@each_layer
def test_token_affects_only_itself(name, rng):
    layer = randomized(LAYERS[name](), rng)
    x = torch.randn(2, 5, 6, generator=rng)
    poked = x.clone()
    poked[1, 2, 3] += 10
    moved = (layer(poked) != layer(x)).any(-1)
    assert moved.nonzero().tolist() == [[1, 2]]


@each_layer
@pytest.mark.parametrize("shape", [(6,), (0, 6), (3, 6), (2, 3, 4, 6)], ids=str)
def test_accepts_any_number_of_leading_axes(name, shape, rng):
    x = torch.randn(shape, generator=rng)
    layer = randomized(LAYERS[name](), rng)
    assert layer(x).shape == shape
    assert_close(layer(x).reshape(-1, 6), layer(x.reshape(-1, 6)))


@each_layer
def test_compiles_without_graph_breaks(name, rng):
    layer, x = randomized(LAYERS[name]().double(), rng), torch.randn(2, 3, 6, generator=rng, dtype=DOUBLE)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert_close(compiled(x), layer(x), **TOLERANCE[DOUBLE])


@each_layer
def test_gradients_reach_every_weight(name, rng):
    layer, x = randomized(LAYERS[name]().double(), rng), torch.randn(2, 6, generator=rng, dtype=DOUBLE)
    parameters = dict(layer.named_parameters())
    assert torch.autograd.gradcheck(
        lambda *values: torch.func.functional_call(layer, dict(zip(parameters, values, strict=True)), x),
        tuple(parameters.values()),
    )


def test_repr():
    assert "6, 10, activation=gelu" in repr(FeedForward(6, 10, "gelu"))
    assert "activation=GELU" in repr(FeedForward(6, 10, nn.GELU()))
    assert repr(SwiGLU(6, 10)).startswith("SwiGLU(\n  6, 10")


# Width


@pytest.mark.parametrize(
    ("arguments", "hidden"),
    [
        ((4096,), 11008),
        ((5120,), 13824),
        ((6656,), 17920),
        ((8192,), 22016),
        ((4096, 1024, 1.3), 14336),
        ((8192, 4096, 1.3), 28672),
        ((16384, 4096, 1.2), 53248),
        ((2048, 256, 1.5), 8192),
        ((3072, 256, 1.0), 8192),
        ((24, 64), 64),
        ((25, 64), 128),
        ((100, 64), 320),
        ((1, 1), 2),  # int(8/3), and not the 3 that it is nearer to
        ((2, 1), 5),  # int(16/3)
        ((100, 1), 266),
        ((100, 1, 1.5), 399),  # int(1.5 * 266), and not int(1.5 * 266.67) = 400
        ((4096, 1, 1.3), 14198),  # int(1.3 * 10922) = int(14198.6)
    ],
    ids=str,
)
def test_hidden_width(arguments, hidden):
    assert hidden_width(*arguments) == hidden
    assert type(hidden_width(*arguments)) is int


def test_multiplier_is_applied_before_rounding_up():
    for arguments, wrong in {(4096, 1024, 1.3): 14643, (8192, 4096, 1.3): 31948, (16384, 4096, 1.2): 54067}.items():
        d_model, multiple_of, multiplier = arguments
        assert int(multiplier * hidden_width(d_model, multiple_of)) == wrong != hidden_width(*arguments)


@given(st.integers(1, 2**31), st.sampled_from([1, 2, 3, 4, 8, 64, 256]))
def test_truncation_does_not_matter_if_four_divides_the_multiple(d_model, multiple_of):
    width = hidden_width(d_model, multiple_of)
    assert width == round_up(8 * d_model // 3, multiple_of)
    assert width % multiple_of == 0
    if multiple_of % 4 == 0:
        assert width == multiple_of * -(-8 * d_model // (3 * multiple_of))


@given(st.integers(), st.integers(1))
def test_round_up_is_the_smallest_multiple_that_is_not_below(n, multiple_of):
    rounded = round_up(n, multiple_of)
    assert rounded % multiple_of == 0
    assert n <= rounded < n + multiple_of


def test_round_up_by_hand():
    assert [round_up(n, 64) for n in (0, 1, 63, 64, 65, 85, 128, -1, -64)] == [0, 64, 64, 64, 128, 128, 128, 0, -64]
    assert round_up(10**17 + 1, 10) == 10**17 + 10  # in float64 it would be 10**17
    assert type(round_up(torch.tensor(85), 64)) is int


@pytest.mark.parametrize(
    ("d_model", "hidden", "weights", "with_bias"),
    [
        (24, 64, 4608, 4760),
        (512, 1536, 2359296, 2362880),
        (768, 2048, 4718592, 4723456),
        (4096, 11008, 135266304, 135292416),
    ],
)
def test_parameters_of_known_layers(d_model, hidden, weights, with_bias):
    assert parameter_count(d_model, hidden, gated=True, bias=False) == weights
    assert parameter_count(d_model, hidden, gated=True, bias=True) == with_bias
    two_matrices = 8 * d_model**2
    assert parameter_count(d_model, 4 * d_model, gated=False, bias=False) == two_matrices
    assert parameter_count(d_model, 4 * d_model, gated=False, bias=True) == two_matrices + 5 * d_model


@pytest.mark.parametrize(("d_model", "hidden"), [(1, 1), (6, 10), (10, 6)])
def test_parameter_count_counts_the_parameters(d_model, hidden):
    for gated, bias in itertools.product([False, True], repeat=2):
        layer = (SwiGLU if gated else FeedForward)(d_model, hidden, bias=bias)
        assert sum(p.numel() for p in layer.parameters()) == parameter_count(d_model, hidden, gated, bias)


# Refusals

NAN, INF = math.nan, math.inf
x = torch.ones(2, 5, 6)
WRONG_VALUES = {
    "round_up: expected multiple_of to be at least 1, got 0": lambda: round_up(5, 0),
    "round_up: expected multiple_of to be at least 1, got -64": lambda: round_up(5, -64),
    "hidden_width: expected d_model to be at least 1, got 0": lambda: hidden_width(0),
    "hidden_width: expected d_model to be at least 1, got -24": lambda: hidden_width(-24),
    f"hidden_width: expected d_model to be between 1 and 2147483648, got {2**70}": lambda: hidden_width(2**70),
    "hidden_width: expected multiple_of to be at least 1, got 0": lambda: hidden_width(24, 0),
    "hidden_width: expected a larger multiplier for d_model 24, got 0.0": lambda: hidden_width(24, 64, 0),
    "hidden_width: expected multiplier to be between 0 and 2147483648, got -1.3": lambda: hidden_width(24, 64, -1.3),
    "hidden_width: expected multiplier to be between 0 and 2147483648, got nan": lambda: hidden_width(24, 64, NAN),
    "hidden_width: expected multiplier to be between 0 and 2147483648, got inf": lambda: hidden_width(24, 64, INF),
    "parameter_count: expected d_model to be at least 1, got 0": lambda: parameter_count(0, 4, True, False),
    "parameter_count: expected hidden to be at least 1, got -1": lambda: parameter_count(4, -1, True, False),
    f"parameter_count: expected d_model to be between 1 and 2147483648, got {2**32}": lambda: parameter_count(
        2**32, 4, True, False
    ),
    f"parameter_count: expected hidden to be between 1 and 2147483648, got {2**32}": lambda: parameter_count(
        4, 2**32, True, False
    ),
    "FeedForward: expected d_model to be at least 1, got 0": lambda: FeedForward(0, 10),
    "FeedForward: expected hidden to be at least 1, got 0": lambda: FeedForward(6, 0),
    "FeedForward: expected dropout to be between 0 and 1, got 1.5": lambda: FeedForward(6, 10, dropout=1.5),
    "FeedForward: expected dropout to be between 0 and 1, got nan": lambda: FeedForward(6, 10, dropout=NAN),
    "FeedForward: expected activation to be one of relu, gelu, silu, sigmoid or a function, got 'swish'": lambda: (
        FeedForward(6, 10, "swish")
    ),
    "FeedForward: expected x to have shape (*, 6), got (2, 5, 6, 1)": lambda: FeedForward(6, 10)(x[..., None]),
    "FeedForward: expected x to have shape (*, 6), got ()": lambda: FeedForward(6, 10)(torch.tensor(1.0)),
    "SwiGLU: expected d_model to be at least 1, got -6": lambda: SwiGLU(-6, 10),
    "SwiGLU: expected hidden to be at least 1, got 0": lambda: SwiGLU(6, 0),
    "SwiGLU: expected x to have shape (*, 5), got (2, 5, 6)": lambda: SwiGLU(5, 10)(x),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message
