"""Every refusal names what was wanted and what came."""

import pytest
import torch

from blocklab.norm_places import DyT, PlacedLayer, QKNormAttention, dyt

x = torch.ones(2, 5, 6)
layer, attention = PlacedLayer("pre", 6, 3, 7), QKNormAttention(6, 3)

WRONG_VALUES = {
    "PlacedLayer wants place to be 'post' or 'pre' or 'output' or 'sandwich' or 'parallel', got 'peri'": lambda: (
        PlacedLayer("peri", 6, 3)
    ),
    "PlacedLayer wants qk_norm to be 'head' or 'whole', got True": lambda: PlacedLayer("pre", 6, 3, qk_norm=True),
    "PlacedLayer wants nhead to divide d_model 6, got 4": lambda: PlacedLayer("post", 6, 4),
    "PlacedLayer wants dim_feedforward to be at least 1, got 0": lambda: PlacedLayer("post", 6, 3, 0),
    "PlacedLayer wants layer_norm_eps to be at least 0, got -0.1": lambda: PlacedLayer(
        "post", 6, 3, layer_norm_eps=-0.1
    ),
    "PlacedLayer wants activation to be one of relu, gelu or a function, got 'tanh'": lambda: PlacedLayer(
        "pre", 6, 3, activation="tanh"
    ),
    "PlacedLayer wants src of shape (N, L, 6) or (L, 6), got (2, 5, 5)": lambda: layer(x[..., :5]),
    "PlacedLayer wants src_mask of shape (5, 5) or (6, 5, 5), got (4, 5)": lambda: layer(x, torch.ones(4, 5).bool()),
    "PlacedLayer wants src_key_padding_mask of shape (2, 5), got (1, 5)": lambda: layer(
        x, src_key_padding_mask=torch.ones(1, 5).bool()
    ),
    "PlacedLayer wants src_mask with is_causal, which only describes it, got None": lambda: layer(x, is_causal=True),
    "QKNormAttention wants over to be 'head' or 'whole', got 'heads'": lambda: QKNormAttention(6, 3, "heads"),
    "QKNormAttention wants eps to be at least 0, got -1": lambda: QKNormAttention(6, 3, eps=-1),
    "QKNormAttention wants rope_base to be at least 1, got 0.5": lambda: QKNormAttention(6, 3, rope_base=0.5),
    "QKNormAttention wants an even number of features per head to rotate, got 3": lambda: QKNormAttention(
        6, 2, rope_base=100
    ),
    "wants num_heads to divide embed_dim 6, got 4": lambda: QKNormAttention(6, 4),
    "dyt wants weight of shape (6,), got (5,)": lambda: dyt(x, weight=torch.ones(5)),
    "dyt wants bias of shape (6,), got (1,)": lambda: dyt(x, bias=torch.ones(1)),
    "dyt wants alpha of shape (), got (1,)": lambda: dyt(x, torch.ones(1)),
    "dyt wants alpha to be between": lambda: dyt(x, float("nan")),
    "DyT wants x of shape (*, 6), got (2, 5, 1)": lambda: DyT(6)(x[..., :1]),
    "DyT wants num_features to be at least 1, got 0": lambda: DyT(0),
    "DyT wants alpha_init_value to be between": lambda: DyT(6, float("inf")),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_wrong_value(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert message in str(caught.value)


WRONG_TYPES = {
    "PlacedLayer wants src to be a tensor, got list": lambda: layer([1.0]),
    "PlacedLayer wants src of a floating point type, got torch.int64": lambda: layer(x.long()),
    "PlacedLayer wants nhead to be an integer, got float": lambda: PlacedLayer("pre", 6, 3.0),
    "PlacedLayer wants bias to be True or False, got int": lambda: PlacedLayer("pre", 6, 3, bias=1),
    "wants query of a floating point type, got torch.int64": lambda: attention(x.long(), x, x),
    "dyt wants x of a floating point type, got torch.int64": lambda: dyt(x.long()),
    "dyt wants alpha to be a number, got str": lambda: dyt(x, "steep"),
    "DyT wants num_features to be an integer, got tuple": lambda: DyT((6,)),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_wrong_type(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert message in str(caught.value)
