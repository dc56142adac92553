"""Error messages of the norm placements, QK-norm and DyT."""

import pytest
import torch

from blocklab.norm_placement import DyT, NormPlacementLayer, QKNormAttention, dyt

x = torch.ones(2, 5, 6)
layer, attention = NormPlacementLayer("pre", 6, 3, 7), QKNormAttention(6, 3)

WRONG_VALUES = {
    "NormPlacementLayer: expected place to be 'post' or 'pre' or 'output' or 'sandwich' or 'parallel', "
    "got 'peri'": lambda: NormPlacementLayer("peri", 6, 3),
    "NormPlacementLayer: expected qk_norm to be 'head' or 'whole', got True": lambda: NormPlacementLayer(
        "pre", 6, 3, qk_norm=True
    ),
    "NormPlacementLayer: expected nhead to divide d_model 6, got 4": lambda: NormPlacementLayer("post", 6, 4),
    "NormPlacementLayer: expected dim_feedforward to be at least 1, got 0": lambda: NormPlacementLayer("post", 6, 3, 0),
    "NormPlacementLayer: expected layer_norm_eps to be at least 0, got -0.1": lambda: NormPlacementLayer(
        "post", 6, 3, layer_norm_eps=-0.1
    ),
    "NormPlacementLayer: expected activation to be one of relu, gelu or a function, got 'tanh'": lambda: (
        NormPlacementLayer("pre", 6, 3, activation="tanh")
    ),
    "NormPlacementLayer: expected src to have shape (N, L, 6) or (L, 6), got (2, 5, 5)": lambda: layer(x[..., :5]),
    "NormPlacementLayer: expected src_mask to have shape (5, 5) or (6, 5, 5), got (4, 5)": lambda: layer(
        x, torch.ones(4, 5).bool()
    ),
    "NormPlacementLayer: expected src_key_padding_mask to have shape (2, 5), got (1, 5)": lambda: layer(
        x, src_key_padding_mask=torch.ones(1, 5).bool()
    ),
    "NormPlacementLayer: expected src_mask with is_causal, which only describes it, got None": lambda: layer(
        x, is_causal=True
    ),
    "QKNormAttention: expected over to be 'head' or 'whole', got 'heads'": lambda: QKNormAttention(6, 3, "heads"),
    "QKNormAttention: expected eps to be at least 0, got -1.0": lambda: QKNormAttention(6, 3, eps=-1),
    "QKNormAttention: expected rope_base to be at least 1, got 0.5": lambda: QKNormAttention(6, 3, rope_base=0.5),
    "QKNormAttention: expected an even number of features per head, got 3": lambda: QKNormAttention(
        6, 2, rope_base=100
    ),
    "MultiheadAttention: expected num_heads to divide embed_dim 6, got 4": lambda: QKNormAttention(6, 4),
    "dyt: expected weight to have shape (6,), got (5,)": lambda: dyt(x, weight=torch.ones(5)),
    "dyt: expected bias to have shape (6,), got (1,)": lambda: dyt(x, bias=torch.ones(1)),
    "dyt: expected alpha to have shape (), got (1,)": lambda: dyt(x, torch.ones(1)),
    "dyt: expected alpha to be between -3.4028234663852886e+38 and 3.4028234663852886e+38, got nan": lambda: dyt(
        x, float("nan")
    ),
    "DyT: expected x to have shape (*, 6), got (2, 5, 1)": lambda: DyT(6)(x[..., :1]),
    "DyT: expected num_features to be at least 1, got 0": lambda: DyT(0),
    "DyT: expected alpha_init_value to be between -3.4028234663852886e+38 and 3.4028234663852886e+38, "
    "got inf": lambda: DyT(6, float("inf")),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message


def test_dyt_module_rejects_integers():
    with pytest.raises(TypeError, match=r"^DyT: expected x to have a floating point dtype, got torch.int64$"):
        DyT(6)(x.long())
