"""What is wrong in kind is refused by every kernel and Module, in a line that says what was wanted and what came.

The table names the kind of every argument. It is held against the signatures, so that a new kernel or a new argument
without a kind is red; `wrong_values` has the values of no such kind.
"""

import copy
import inspect
import re
import reprlib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close
from wrong_values import (
    BEYOND_FLOAT,
    FORMS,
    INTEGER_FORMS,
    NO_INTEGERS,
    Activation,
    Array,
    Axes,
    Axis,
    Choice,
    Device,
    Dtype,
    Flag,
    Integer,
    Kind,
    Made,
    Number,
    Shape,
    Sizes,
)

import blocklab
from blocklab import (
    attention,
    batch_statistics,
    feed_forward,
    fused,
    key_value_cache,
    moving_average,
    norm_places,
    normalization,
    positional_encoding,
    rotary_scaling,
    transformer,
)
from blocklab.arguments import EMPTY_HANDED

MODULES = (
    *(attention, batch_statistics, feed_forward, key_value_cache, moving_average, norm_places, normalization),
    *(positional_encoding, rotary_scaling, transformer),
)
METHODS = "forward", "update"  # of a Module and of a cache
PACKAGE = Path(blocklab.__file__).parent

x = torch.randn(2, 6, 5, generator=torch.Generator().manual_seed(0))
six, five, sequence = torch.rand(6) + 0.5, torch.rand(5) + 0.5, x.mT  # sequence: (2, 5, 6)


@dataclass
class Call:
    """A call that is right: for each argument its value and its kind. torch: the function of torch that it is."""

    function: Callable
    arguments: dict[str, tuple[object, object]]
    torch: Callable | None = None

    def good(self) -> dict:
        return {name: fresh(value) for name, (value, _) in self.arguments.items()}

    def __call__(self, **changes):
        return self.function(**self.good() | changes)


def fresh(value):
    if isinstance(value, key_value_cache.KeyValueCache):
        return copy.copy(value)
    return value.detach().clone() if isinstance(value, Tensor) else value


def forward(module: nn.Module, **arguments) -> Call:
    return Call(module.forward, arguments)


ANY, EPS, SHARE = Number(), Number(low=0), Number(low=0, high=1)
FLAG, DEVICE, DTYPE = Flag(), (None, Device()), (None, Dtype(none=True))
VECTOR = Array(bound=(0,), ranks=(1,), none=True)
RUNNING = Array(bound=(0,), ranks=(1,))
VECTORS = {"weight": (six, VECTOR), "bias": (six, VECTOR)}
MASK = Array(bound=(0, 1), ranks=(2,), none=True, also_boolean=True)
ELEMENTS = Array(alone=True, jagged=True)
SWITCHES = {"need_weights": (True, FLAG), "average_attn_weights": (True, FLAG)}
WIDTH = Integer(1, 2**31)
PAIRS = {"d": (8, Integer(1, 2**27, multiple=2)), "base": (10000.0, Number(low=0))}
LONGER = {**PAIRS, "factor": (4.0, Number(low=1, finite=True))}
TABLE = {"base": (10000.0, Number(low=0)), "dtype": (torch.float32, Dtype())}
LAYER = {
    "d_model": (6, Integer(1)),
    "nhead": (3, Integer(1)),
    "dim_feedforward": (4, Integer(1)),
    "dropout": (0.1, SHARE),
    "activation": ("gelu", Activation()),
    "layer_norm_eps": (1e-5, EPS),
    "batch_first": (True, Flag(only=True)),
    "norm_first": (False, FLAG),
    "bias": (True, FLAG),
    "device": DEVICE,
    "dtype": DTYPE,
}
heads, keys, values = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 5, 8), torch.randn(2, 3, 5, 7)
attending = attention.MultiheadAttention(6, 2, kdim=4, vdim=3)
QUERY, KEY, VALUE = torch.randn(2, 4, 6), torch.randn(2, 5, 4), torch.randn(2, 5, 3)
TOKENS = Array(bound=(2,), ranks=(2, 3), also_wider=False)

CALLS = {
    # normalization
    "standardize": Call(
        normalization.standardize, {"x": (x, Array(alone=True)), "axes": ((0, 2), Axes()), "eps": (1e-5, EPS)}
    ),
    "batch_norm": Call(
        normalization.batch_norm,
        {
            "x": (x, Array(bound=(1,), ranks=(2, 3, 4, 5))),
            "running_mean": (six, RUNNING),
            "running_var": (six, RUNNING),
            **VECTORS,
            "training": (True, FLAG),
            "momentum": (0.1, ANY),
            "eps": (1e-5, ANY),
        },
        F.batch_norm,
    ),
    "instance_norm": Call(
        normalization.instance_norm,
        {
            "x": (x, Array(bound=(1,), ranks=(3, 4, 5))),
            "running_mean": (six, RUNNING),
            "running_var": (six, RUNNING),
            **VECTORS,
            "use_input_stats": (True, FLAG),
            "momentum": (0.1, ANY),
            "eps": (1e-5, ANY),
        },
        F.instance_norm,
    ),
    "layer_norm": Call(
        normalization.layer_norm,
        {
            "x": (x, Array(bound=(2,), ranks=(1, 2, 3, 4), jagged=True)),
            "normalized_shape": ((5,), Shape()),
            "weight": (five, VECTOR),
            "bias": (five, VECTOR),
            "eps": (1e-5, ANY),
        },
        F.layer_norm,
    ),
    "group_norm": Call(
        normalization.group_norm,
        {
            "x": (x, Array(bound=(1,), ranks=(2, 3, 4))),
            "num_groups": (3, Integer(1)),
            **VECTORS,
            "eps": (1e-5, ANY),
        },
        F.group_norm,
    ),
    "rms_norm": Call(
        normalization.rms_norm,
        {
            "x": (x, Array(bound=(2,), ranks=(1, 2, 3, 4), also_complex=True, jagged=True)),
            "normalized_shape": ((5,), Shape()),
            "weight": (five, Array(bound=(0,), ranks=(1,), none=True, also_complex=True)),
            "eps": (1e-5, Number(none=True)),
        },
        F.rms_norm,
    ),
    "batch_norm_loops": Call(
        normalization.batch_norm_loops,
        {"x": (x, Array(ranks=(3,), alone=True)), "eps": (1e-5, EPS), "per_position": (False, FLAG)},
    ),
    "layer_norm_loops": Call(
        normalization.layer_norm_loops, {"x": (x, Array(ranks=(3,), alone=True)), "eps": (1e-5, EPS)}
    ),
    "BatchNorm": Call(
        normalization.BatchNorm,
        {
            "num_features": (6, Integer(0, 2**30)),
            "eps": (1e-5, EPS),
            "momentum": (0.1, Number(low=0, high=1, none=True)),
            "affine": (True, FLAG),
            "track_running_stats": (True, FLAG),
            "device": DEVICE,
            "dtype": DTYPE,
            "bias": (True, FLAG),
        },
    ),
    "LayerNorm": Call(
        normalization.LayerNorm,
        {
            "normalized_shape": ((6, 5), Sizes()),
            "eps": (1e-5, EPS),
            "elementwise_affine": (True, FLAG),
            "bias": (True, FLAG),
            "device": DEVICE,
            "dtype": DTYPE,
        },
    ),
    "GroupNorm": Call(
        normalization.GroupNorm,
        {
            "num_groups": (3, Integer(1)),
            "num_channels": (6, Integer(0, 2**30, multiple=3)),
            "eps": (1e-5, EPS),
            "affine": (True, FLAG),
            "device": DEVICE,
            "dtype": DTYPE,
            "bias": (True, FLAG),
        },
    ),
    "RMSNorm": Call(
        normalization.RMSNorm,
        {
            "normalized_shape": ((6, 5), Sizes()),
            "eps": (1e-5, Number(low=0, none=True)),
            "elementwise_affine": (True, FLAG),
            "device": DEVICE,
            "dtype": (None, Dtype(none=True, also_complex=True)),
        },
    ),
    "BatchNorm.forward": forward(normalization.BatchNorm(6), x=(x, Array(bound=(1,), ranks=(2, 3, 4, 5)))),
    "LayerNorm.forward": forward(normalization.LayerNorm(5), x=(x, Array(bound=(2,), ranks=(1, 2, 3, 4), jagged=True))),
    "GroupNorm.forward": forward(normalization.GroupNorm(3, 6), x=(x, Array(bound=(1,), ranks=(2, 3, 4)))),
    "RMSNorm.forward": forward(
        normalization.RMSNorm(5), x=(x, Array(bound=(2,), ranks=(1, 2, 3, 4), also_complex=True, jagged=True))
    ),
    # batch_statistics
    "batch_statistics": Call(
        batch_statistics.batch_statistics, {"x": (x, Array(alone=True)), "axes": ((0, 2), Axes())}
    ),
    "merge_statistics": Call(
        batch_statistics.merge_statistics,
        {
            "count_a": (3, Integer(0, 2**53)),
            "mean_a": (six, RUNNING),
            "m2_a": (six, RUNNING),
            "count_b": (4, Integer(0, 2**53)),
            "mean_b": (six, RUNNING),
            "m2_b": (six, RUNNING),
        },
    ),
    # moving_average
    "ema_update": Call(
        moving_average.ema_update, {"average": (six, RUNNING), "value": (six, RUNNING), "momentum": (0.1, SHARE)}
    ),
    "ema_update_": Call(
        moving_average.ema_update_, {"average": (six, RUNNING), "value": (six, RUNNING), "momentum": (0.1, SHARE)}
    ),
    "ema_weights": Call(
        moving_average.ema_weights,
        {"momentum": (0.1, SHARE), "steps": (3, Integer(0, 2**27)), "dtype": (torch.float32, Dtype())},
    ),
    "half_life": Call(moving_average.half_life, {"momentum": (0.1, SHARE)}),
    "effective_window": Call(moving_average.effective_window, {"momentum": (0.1, SHARE)}),
    "debias": Call(
        moving_average.debias,
        {"average": (six, Array(alone=True)), "momentum": (0.1, SHARE), "steps": (3, Integer(1, 2**53))},
    ),
    "to_keras": Call(moving_average.to_keras, {"momentum": (0.1, SHARE)}),
    "from_keras": Call(moving_average.from_keras, {"momentum": (0.1, SHARE)}),
    "interpolate": Call(  # without checks: the formula of two functions that have them
        moving_average.interpolate, {"average": (six, None), "value": (six, None), "momentum": (0.1, None)}
    ),
    # positional_encoding
    "sinusoidal_encoding": Call(
        positional_encoding.sinusoidal_encoding,
        {"length": (5, Integer(0, 2**31)), "d_model": (4, Integer(1, 2**31, multiple=2)), **TABLE},
    ),
    "wavelengths": Call(positional_encoding.wavelengths, {"d_model": (4, Integer(1, 2**27, multiple=2)), **TABLE}),
    "shift_matrix": Call(
        positional_encoding.shift_matrix,
        {"offset": (3, Number(-(2**31), 2**31)), "d_model": (4, Integer(1, 2**13, multiple=2)), **TABLE},
    ),
    "rotary_embedding": Call(
        positional_encoding.rotary_embedding,
        {
            "x": (torch.randn(2, 5, 4), Array(bound=(1,), ranks=(2, 3, 4))),
            "positions": (torch.arange(5.0), Array(bound=(0,), ranks=(1, 2), also_integers=True)),
            "base": (10000.0, Number(low=0)),
            "pairing": ("half", Choice()),
            "frequencies": (None, None),
        },
    ),
    "rotary_embedding, frequencies given": Call(
        positional_encoding.rotary_embedding,
        {
            "x": (torch.randn(2, 5, 4), Array(bound=(2,), ranks=(2, 3, 4))),
            "positions": (torch.arange(5.0), Array(bound=(0,), ranks=(1, 2), also_integers=True)),
            "base": (10000.0, None),  # not looked at
            "pairing": ("half", Choice()),
            "frequencies": (torch.tensor([1.0, 0.1]), Array(bound=(0,), ranks=(1,), none=True)),
        },
    ),
    "pair_frequencies": Call(  # the formula of the functions above and below, which have names of their own
        positional_encoding.pair_frequencies,
        {
            "function": ("wavelengths", None),
            "name": ("d_model", None),
            "d": (8, None),
            "base": (10000.0, None),
            "farthest": (1, None),
        },
    ),
    # rotary_scaling
    "rotary_frequencies": Call(rotary_scaling.rotary_frequencies, PAIRS),
    "position_interpolation": Call(rotary_scaling.position_interpolation, LONGER),
    "ntk_aware": Call(rotary_scaling.ntk_aware, {**LONGER, "d": (8, Integer(3, 2**27, multiple=2))}),
    "yarn": Call(
        rotary_scaling.yarn,
        {
            **LONGER,
            "base": (10000.0, Number(low=1)),
            "length": (16, Integer(1, 2**31)),
            "beta_fast": (32.0, Number(low=1, finite=True)),
            "beta_slow": (1.0, Number(low=0, high=32)),
        },
    ),
    "yarn_temperature": Call(rotary_scaling.yarn_temperature, {"factor": (4.0, Number(low=1, finite=True))}),
    "llama3_scaling": Call(
        rotary_scaling.llama3_scaling,
        {
            **LONGER,
            "length": (16, Integer(1, 2**31)),
            "low": (1.0, Number(low=0, high=4)),
            "high": (4.0, Number(low=1, finite=True)),
        },
    ),
    # feed_forward
    "relu": Call(feed_forward.relu, {"x": (x, Array(alone=True, also_integers=True, jagged=True))}, F.relu),
    "gelu": Call(feed_forward.gelu, {"x": (x, ELEMENTS), "approximate": ("tanh", Choice())}, F.gelu),
    "silu": Call(feed_forward.silu, {"x": (x, Array(alone=True, also_complex=True, jagged=True))}, F.silu),
    "swish": Call(feed_forward.swish, {"x": (x, ELEMENTS), "beta": (1.5, Number(finite=True, learned=True))}),
    "swish, learned": Call(
        feed_forward.swish,
        {"x": (x, ELEMENTS), "beta": (torch.tensor(1.5, requires_grad=True), Array(ranks=(0,), numbers=True))},
    ),
    "glu": Call(
        feed_forward.glu, {"x": (x.mT.contiguous(), Array(ranks=(1, 2, 3, 4), alone=True)), "dim": (-1, Axis())}, F.glu
    ),
    "gated_unit": Call(
        feed_forward.gated_unit,
        {
            "gate": (x, Array(bound=(0, 1, 2), ranks=(3,))),
            "value": (x, Array(bound=(0, 1, 2), ranks=(3,))),
            "activation": (torch.tanh, Activation()),
        },
    ),
    "gated_unit, what the activation makes": Call(
        feed_forward.gated_unit, {"gate": (x, ELEMENTS), "value": (x, ELEMENTS), "activation": (nn.SiLU(), Made())}
    ),
    "swiglu": Call(
        feed_forward.swiglu,
        {"gate": (x, Array(bound=(0, 1, 2), ranks=(3,))), "value": (x, Array(bound=(0, 1, 2), ranks=(3,)))},
    ),
    "activation_function": Call(feed_forward.activation_function, {"activation": ("relu", Activation())}),
    "round_up": Call(feed_forward.round_up, {"n": (5, Integer()), "multiple_of": (4, Integer(1))}),
    "hidden_width": Call(
        feed_forward.hidden_width,
        {
            "d_model": (64, WIDTH),
            "multiple_of": (8, Integer(1)),
            "multiplier": (1.5, Number(low=1e-3, high=2**31, none=True)),
        },
    ),
    "parameter_count": Call(
        feed_forward.parameter_count,
        {"d_model": (6, WIDTH), "hidden": (8, WIDTH), "gated": (True, FLAG), "bias": (True, FLAG)},
    ),
    "FeedForward": Call(
        feed_forward.FeedForward,
        {
            "d_model": (6, WIDTH),
            "hidden": (8, WIDTH),
            "activation": ("gelu", Activation()),
            "dropout": (0.1, SHARE),
            "bias": (True, FLAG),
            "device": DEVICE,
            "dtype": DTYPE,
        },
    ),
    "SwiGLU": Call(
        feed_forward.SwiGLU,
        {"d_model": (6, WIDTH), "hidden": (8, WIDTH), "bias": (True, FLAG), "device": DEVICE, "dtype": DTYPE},
    ),
    "FeedForward.forward": forward(
        feed_forward.FeedForward(5, 8), x=(x, Array(bound=(2,), ranks=(1, 2, 3, 4), also_wider=False, jagged=True))
    ),
    "FeedForward, what the activation makes": Call(
        lambda x, activation: feed_forward.FeedForward(5, 8, activation)(x),
        {"x": (x, None), "activation": ("relu", Made())},
    ),
    "SwiGLU.forward": forward(
        feed_forward.SwiGLU(5, 8), x=(x, Array(bound=(2,), ranks=(1, 2, 3, 4), also_wider=False, jagged=True))
    ),
    # attention
    "scaled_dot_product_attention": Call(
        attention.scaled_dot_product_attention,
        {
            "query": (heads, Array(bound=(3,), ranks=(2, 3, 4, 5), also_wider=False)),
            "key": (keys, Array(bound=(2, 3), ranks=(2, 3, 4, 5), also_wider=False)),
            "value": (values, Array(bound=(2,), ranks=(2, 3, 4, 5), also_wider=False)),
            "attn_mask": (torch.zeros(4, 5), Array((0, 1), (2, 3, 4), none=True, also_boolean=True, broadcasts=True)),
            "dropout_p": (0.0, Number(low=0, high=1)),
            "is_causal": (False, Flag(only=False)),
            "scale": (0.3, Number(none=True)),
            "enable_gqa": (False, FLAG),
        },
        F.scaled_dot_product_attention,
    ),
    "causal_mask": Call(attention.causal_mask, {"length": (5, Integer(0, 2**15))}),
    "causal_lower_right": Call(
        attention.causal_lower_right, {"L": (3, Integer(0, 2**30 // 4)), "S": (4, Integer(0, 2**30 // 3))}
    ),
    "repeat_kv": Call(
        attention.repeat_kv,
        {"x": (keys, Array(ranks=(3, 4, 5), alone=True)), "n_rep": (2, Integer(1, 2**30 // keys.numel()))},
    ),
    # key_value_cache
    "KeyValueCache": Call(key_value_cache.KeyValueCache, {"window": (3, Integer(1, none=True))}),
    "KeyValueCache.update": Call(
        lambda key, value: key_value_cache.KeyValueCache().update(key, value),
        {
            "key": (keys, Array(bound=(0, 1, 2), ranks=(4,), also_wider=False)),
            "value": (values, Array(bound=(0, 1, 2), ranks=(4,), also_wider=False)),
        },
    ),
    "cached_attention": Call(
        key_value_cache.cached_attention,
        {
            "query": (torch.randn(2, 3, 5, 8), Array(bound=(0, 2, 3), ranks=(4,), also_wider=False)),
            "key": (keys, Array(bound=(0, 2, 3), ranks=(4,), also_wider=False)),
            "value": (values, Array(bound=(0, 1, 2), ranks=(4,), also_wider=False)),
            "cache": (key_value_cache.KeyValueCache(), Kind()),
            "scale": (0.3, Number(none=True)),
            "enable_gqa": (True, FLAG),
        },
    ),
    "all_or_nothing": Call(
        lambda caches: key_value_cache.all_or_nothing(caches), {"caches": (key_value_cache.KeyValueCache(), None)}
    ),
    "want_masks": Call(
        attention.want_masks, dict.fromkeys(("function", "heads", "query", "key", "masks"), (None, None))
    ),
    "MultiheadAttention": Call(
        attention.MultiheadAttention,
        {
            "embed_dim": (6, Integer(1, multiple=3)),
            "num_heads": (3, Integer(1)),
            "dropout": (0.1, SHARE),
            "bias": (True, FLAG),
            "add_bias_kv": (False, Flag(only=False)),
            "add_zero_attn": (False, Flag(only=False)),
            "kdim": (4, Integer(1, 2**28, none=True)),
            "vdim": (5, Integer(1, 2**28, none=True)),
            "batch_first": (True, Flag(only=True)),
            "device": DEVICE,
            "dtype": DTYPE,
        },
    ),
    "MultiheadAttention.forward": forward(
        attending,
        query=(QUERY, TOKENS),
        key=(KEY, Array(bound=(0, 2), ranks=(3,), also_wider=False)),
        value=(VALUE, Array(bound=(0, 1, 2), ranks=(3,), also_wider=False)),
        key_padding_mask=(torch.zeros(2, 5, dtype=torch.bool), MASK),
        attn_mask=(torch.zeros(4, 5, dtype=torch.bool), MASK),
        is_causal=(False, FLAG),
        **SWITCHES,
    ),
    # norm_places
    "PlacedLayer": Call(
        norm_places.PlacedLayer,
        {"place": ("sandwich", Choice()), "qk_norm": ("whole", Choice(none=True))}
        | {name: value for name, value in LAYER.items() if name not in ("dropout", "batch_first", "norm_first")},
    ),
    "PlacedLayer.forward": forward(
        norm_places.PlacedLayer("output", 6, 3, 4, qk_norm="head"),
        src=(sequence, TOKENS),
        src_mask=(torch.zeros(5, 5), MASK),
        src_key_padding_mask=(torch.zeros(2, 5, dtype=torch.bool), MASK),
        is_causal=(False, FLAG),
    ),
    "PlacedLayer, what the activation makes": Call(
        lambda x, activation: norm_places.PlacedLayer("pre", 6, 3, 4, activation)(x),
        {"x": (sequence, None), "activation": ("relu", Made())},
    ),
    "QKNormAttention": Call(
        norm_places.QKNormAttention,
        {
            "embed_dim": (6, Integer(1, multiple=3)),
            "num_heads": (3, Integer(1)),
            "over": ("head", Choice()),
            "rope_base": (10000.0, Number(none=True)),
            "eps": (1e-6, EPS),
            "bias": (True, FLAG),
            "device": DEVICE,
            "dtype": DTYPE,
        },
    ),
    "QKNormAttention.forward": forward(
        norm_places.QKNormAttention(6, 3, "whole"),
        query=(QUERY, TOKENS),
        key=(sequence, Array(bound=(0, 2), ranks=(3,), also_wider=False)),
        value=(sequence, Array(bound=(0, 1, 2), ranks=(3,), also_wider=False)),
        key_padding_mask=(torch.zeros(2, 5, dtype=torch.bool), MASK),
        attn_mask=(torch.zeros(4, 5, dtype=torch.bool), MASK),
        is_causal=(False, FLAG),
        **SWITCHES,
    ),
    "dyt": Call(
        norm_places.dyt,
        {
            "x": (x, Array(bound=(2,), ranks=(1, 2, 3, 4))),
            "alpha": (0.5, Number(finite=True, learned=True)),
            "weight": (five, VECTOR),
            "bias": (five, VECTOR),
        },
    ),
    "dyt, learned": Call(
        norm_places.dyt,
        {
            "x": (x, Array(alone=True)),
            "alpha": (torch.tensor(0.5, requires_grad=True), Array(ranks=(0,), numbers=True)),
        },
    ),
    "DyT": Call(
        norm_places.DyT,
        {
            "num_features": (5, Integer(1, 2**30)),
            "alpha_init_value": (0.5, Number(finite=True)),
            "device": DEVICE,
            "dtype": DTYPE,
        },
    ),
    "DyT.forward": forward(norm_places.DyT(5), x=(x, Array(bound=(2,), ranks=(1, 2, 3, 4)))),
    # transformer
    "checked_sizes": Call(
        transformer.checked_sizes, dict.fromkeys(("layer", "d_model", "nhead", "dim_feedforward"), (None, None))
    ),
    "want_sequence": Call(
        transformer.want_sequence, dict.fromkeys(("layer", "d_model", "linears", "sequences"), (None, None))
    ),
    "EncoderLayer": Call(transformer.EncoderLayer, LAYER),
    "DecoderLayer": Call(transformer.DecoderLayer, LAYER),
    "EncoderLayer.forward": forward(
        transformer.EncoderLayer(6, 3, 4),
        src=(sequence, TOKENS),
        src_mask=(torch.zeros(5, 5), MASK),
        src_key_padding_mask=(torch.zeros(2, 5, dtype=torch.bool), MASK),
        is_causal=(False, FLAG),
    ),
    "DecoderLayer.forward": forward(
        transformer.DecoderLayer(6, 3, 4),
        tgt=(sequence, TOKENS),
        memory=(QUERY, Array(bound=(0, 2), ranks=(3,), also_wider=False)),
        tgt_mask=(torch.zeros(5, 5), MASK),
        memory_mask=(torch.zeros(5, 4), MASK),
        tgt_key_padding_mask=(torch.zeros(2, 5, dtype=torch.bool), MASK),
        memory_key_padding_mask=(torch.zeros(2, 4, dtype=torch.bool), MASK),
        tgt_is_causal=(False, FLAG),
        memory_is_causal=(False, FLAG),
    ),
    "EncoderLayer, what the activation makes": Call(
        lambda x, activation: transformer.EncoderLayer(6, 3, 4, activation=activation)(x),
        {"x": (sequence, None), "activation": ("relu", Made())},
    ),
    "DecoderLayer, what the activation makes": Call(
        lambda x, activation: transformer.DecoderLayer(6, 3, 4, activation=activation)(x, x),
        {"x": (sequence, None), "activation": ("relu", Made())},
    ),
}
CHECKS = {"want_masks", "checked_sizes", "want_sequence"}  # what the kernels ask of arguments together
ARGUMENTS = [(call, name) for call in CALLS for name, (_, kind) in CALLS[call].arguments.items() if kind is not None]
NAMESAKES = [call for call in CALLS if CALLS[call].torch is not None]


def public() -> Iterator[tuple[str, Callable]]:
    """The functions and classes of the kernels' files, and what is called of the classes."""
    for module in MODULES:
        for name, thing in vars(module).items():
            if not name.startswith("_") and callable(thing) and getattr(thing, "__module__", "") == module.__name__:
                yield name, thing
                if isinstance(thing, type):
                    yield from (
                        (f"{name}.{method}", getattr(thing, method)) for method in METHODS if hasattr(thing, method)
                    )


@pytest.mark.parametrize("name", [name for name, _ in public()])
def test_every_argument_has_a_kind(name):
    named = dict(public())[name]
    wanted = set(inspect.signature(named).parameters) - {"self"}
    assert set(CALLS[name].arguments) == wanted


@pytest.mark.parametrize("call", [call for call in CALLS if call not in CHECKS])
def test_what_is_right_is_taken(call):
    CALLS[call]()


def complaint(call: str, name: str, value: object) -> str | None:
    """What is wrong with the refusal of the value, or None."""
    try:
        CALLS[call](**{name: value})
    except (TypeError, ValueError) as error:
        return unclear(error, call, name, value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "taken"


def unclear(error: Exception, call: str, name: str, value: object) -> str | None:
    """What the message lacks: who wants what, the argument's name and what came, in one line of our own."""
    message = str(error)
    if PACKAGE not in Path(traceback.extract_tb(error.__traceback__)[-1].filename).parents:
        return f"not ours: {message}"
    if " wants " not in message or ", got " not in message or "\n" in message or len(message) > 300:
        return f"not in one line that says what was wanted and what came: {message}"
    others = CALLS[call].arguments if fits(value) else ()
    if not any(re.search(rf"\b{word}\b", message) for word in [name, *others]):
        return f"does not name {name}: {message}"
    if not any(word in message for word in words(value)):
        return f"does not say that {reprlib.repr(value)} came: {message}"
    return None


def fits(value: object) -> bool:
    """Whether it may be another argument that does not go with this one, so that the message may name that one."""
    return isinstance(value, Tensor | int) or value is None


def words(value: object) -> list[str]:
    """By one of these a message tells what came."""
    if isinstance(value, bool) or (callable(value) and not isinstance(value, type | nn.Module)):
        return [""]  # of a flag there is but one other; of a function the message tells what it made
    if type(value).__name__ in EMPTY_HANDED:
        return [type(value).__name__]
    if isinstance(value, Tensor):
        kinds = ["nested", "quantized", "dense", str(value.dtype)] + [str(value.device)] * (value.device.type != "cpu")
        if value.is_nested and value.layout == torch.strided:
            return kinds
        number = [str(value.item())] if value.dim() == 0 and not value.is_meta else []
        return [*kinds, *map(str, value.shape), *number, "()"]
    if isinstance(value, list | tuple):
        return [word for element in value for word in words(element)] + [type(value).__name__, str(value[:0])]
    if isinstance(value, int) and abs(value) > 10**30:
        return ["000", "cannot be printed"]
    if isinstance(value, np.ndarray):
        return ["array("]
    return [type(value).__name__, str(value), reprlib.repr(value), getattr(value, "__name__", "None"), "only"]


@pytest.mark.filterwarnings(
    "ignore"
)  # nested and sparse tensors warn that they are young, quantized ones that they are old
@pytest.mark.parametrize(("call", "name"), ARGUMENTS)
def test_what_is_of_another_kind_is_refused_in_words(call, name):
    good, kind = CALLS[call].arguments[name]
    complaints = [(value, complaint(call, name, value)) for value in kind.wrong(good)]
    assert complaints
    assert not [f"{reprlib.repr(value)}: {said}" for value, said in complaints if said]


# What torch takes for a number, a flag or an integer, and what not, is the same here.

SAMENESS = [
    (call, name)
    for call in NAMESAKES
    for name, (_, kind) in CALLS[call].arguments.items()
    if not isinstance(kind, Array)
]


def outcome(function: Callable, **arguments) -> object:
    torch.manual_seed(0)
    try:
        return function(**arguments)
    except Exception as error:
        return error


def differs_on_purpose(name: str, value: object) -> bool:
    """torch takes b"tanh" for "tanh" and NumPy's True for 1, loses an imaginary part and drops nothing below 0.

    Its batch_norm wants, in newer versions, an eps above 0.
    """
    if isinstance(value, bytes | np.complexfloating | np.bool_):
        return True
    single = isinstance(value, int | float) or (isinstance(value, Tensor) and value.dim() == 0 and not value.is_meta)
    return single and name in ("dropout_p", "eps") and not (value.real if isinstance(value, Tensor) else value) > 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "name"), SAMENESS)
def test_torch_takes_it_and_so_do_we(call, name):
    good, kind = CALLS[call].arguments[name]
    candidates = [*FORMS, *INTEGER_FORMS, *NO_INTEGERS, *BEYOND_FLOAT[:2], good, -0.5, 2.5, False, "tanh", "none"]
    candidates += [(5,), [5], [torch.tensor(5)], (np.int64(5),), torch.Size([5]), *((form,) for form in INTEGER_FORMS)]
    for value in [*candidates, *kind.wrong(good)]:
        if differs_on_purpose(name, value):
            continue
        mine, theirs = (CALLS[call].good() | {name: value} for _ in range(2))
        got = outcome(CALLS[call].function, **mine)
        wanted = outcome(CALLS[call].torch, **{"input" if key == "x" else key: theirs[key] for key in theirs})
        assert isinstance(got, Exception) == isinstance(wanted, Exception), (value, got, wanted)
        if isinstance(wanted, Tensor):
            assert_close(got, wanted, equal_nan=True, msg=lambda text, value=value: f"{reprlib.repr(value)}: {text}")


SIZES = {
    "BatchNorm": (nn.BatchNorm1d, lambda size: (size,)),
    "GroupNorm": (nn.GroupNorm, lambda size: (1, size)),
    "LayerNorm": (nn.LayerNorm, lambda size: (size,)),
    "RMSNorm": (nn.RMSNorm, lambda size: (size,)),
    "MultiheadAttention": (nn.MultiheadAttention, lambda size: (size, 1)),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_module_takes_the_sizes_that_torch_takes(name):
    reference, arguments = SIZES[name]
    several = (
        [np.array([1, 2]), torch.tensor([1, 2]), [1, 2], torch.Size([3])] if name in ("LayerNorm", "RMSNorm") else []
    )
    for size in [*INTEGER_FORMS, *several]:
        theirs = outcome(lambda size=size: reference(*arguments(size)))
        if isinstance(theirs, nn.Module):
            module = dict(public())[name](*arguments(size))
            assert [p.shape for p in module.parameters()] == [p.shape for p in theirs.parameters()]


# Tensors that hold no numbers, and such as are more than a tensor, still pass.

ON_META = [call for call in CALLS if any(isinstance(value, Tensor) for value, _ in CALLS[call].arguments.values())]


@pytest.mark.parametrize("call", [call for call in ON_META if "_loops" not in call])
def test_meta_tensors_pass(call):
    call = CALLS[call]
    module = getattr(call.function, "__self__", None)
    function = call.function if module is None else copy.deepcopy(module).to("meta").forward
    with torch.device("meta"):  # for the Modules made within
        y = function(
            **{name: value.to("meta") if isinstance(value, Tensor) else value for name, value in call.good().items()}
        )
    assert all(each.is_meta for each in (y if isinstance(y, tuple) else (y,)) if isinstance(each, Tensor))


class Named(Tensor):
    """A subclass, such as libraries make."""


@pytest.mark.parametrize("call", [call for call in ON_META if "_loops" not in call])
def test_subclasses_pass(call):
    arguments = CALLS[call].good()
    arguments |= {name: value.as_subclass(Named) for name, value in arguments.items() if isinstance(value, Tensor)}
    CALLS[call].function(**arguments)


@pytest.mark.parametrize("call", ["layer_norm", "rms_norm", "group_norm", "silu", "gated_unit", "FeedForward.forward"])
def test_vmap_and_grad_see_through_the_checks(call):
    arguments = CALLS[call].good()
    name = next(iter(arguments))
    x = arguments.pop(name)

    def total(x):
        return CALLS[call].function(**{name: x} | arguments).square().sum()

    rows = torch.stack([x, 2 * x])
    got = torch.func.vmap(torch.func.grad(total))(rows)
    assert_close(got, torch.stack([torch.func.grad(total)(row) for row in rows]))


@pytest.mark.parametrize(
    ("call", "name"), [("batch_norm", "running_mean"), ("instance_norm", "running_var"), ("ema_update_", "average")]
)
def test_what_is_written_to_has_a_place_for_each_number(call, name):
    with pytest.raises(ValueError, match=rf"{call} wants a place in memory for each number of {name}, got an expanded"):
        CALLS[call](**{name: torch.zeros(1).expand(6)})


@pytest.mark.parametrize(
    "made", [feed_forward.FeedForward(5, 8), feed_forward.SwiGLU(5, 8)], ids=lambda m: type(m).__name__
)
def test_autocast_chooses_the_type(made):
    with torch.autocast("cpu", torch.bfloat16):
        assert made(x).dtype == made(x.bfloat16()).dtype == torch.bfloat16
        with pytest.raises(TypeError, match=r"wants x of torch.float32, the type of its weights, got torch"):
            made(x.double())


def test_autocast_chooses_the_type_in_attention_too():
    with torch.autocast("cpu", torch.bfloat16):
        assert attending(QUERY.bfloat16(), KEY, VALUE)[0].dtype == torch.bfloat16
        transformer.EncoderLayer(6, 3, 4)(sequence.bfloat16())


def test_a_fused_function_names_what_came_as_the_plain_one_does():
    with pytest.raises(ValueError, match=r"best wants name to be one of layer_norm, rms_norm, swiglu, got \[\]"):
        fused.best([])


@pytest.mark.parametrize("activation", [lambda: 1, lambda a, b: a, torch.softmax])
def test_a_function_of_something_else_is_no_activation(activation):
    message = r"gated_unit wants activation to be a function of one tensor, got one that says: .*argument"
    with pytest.raises(TypeError, match=message):
        feed_forward.gated_unit(x, x, activation)


def test_what_goes_wrong_within_an_activation_is_its_own_error():
    with pytest.raises(TypeError, match=r"^from within\nThis comes from the activation that gated_unit was given"):
        feed_forward.gated_unit(x, x, failing)


def failing(_gate):
    raise TypeError("from within")


@pytest.mark.parametrize(
    ("who", "call"),
    {
        "gated_unit": lambda failing: feed_forward.gated_unit(x, x, failing),
        "FeedForward": lambda failing: feed_forward.FeedForward(5, 8, failing)(x),
        "EncoderLayer": lambda failing: transformer.EncoderLayer(6, 3, 4, activation=failing)(sequence),
    }.items(),
)
@pytest.mark.parametrize("activation", [nn.Linear(3, 3), nn.PReLU(9), failing], ids=lambda a: type(a).__name__)
def test_what_goes_wrong_within_an_activation_says_whose_it_is(who, call, activation):
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call(activation)
    assert any(f"activation that {who} was given" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("activation", [torch.relu_, nn.ReLU(inplace=True), lambda gate: gate.mul_(2)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_an_activation_in_place_leaves_the_callers_gate(activation, dtype):
    gate = -x.detach().to(dtype)
    before = gate.clone()
    with torch.no_grad():
        feed_forward.gated_unit(gate, gate, activation)
    assert torch.equal(gate, before)


INNER = [
    (feed_forward.FeedForward, (5, 8), x, ("linear1", "linear2")),
    (feed_forward.SwiGLU, (5, 8), x, ("w1", "w2", "w3")),
    (transformer.EncoderLayer, (6, 3, 4), sequence, ("linear1", "linear2", "self_attn", "self_attn.out_proj")),
]


@pytest.mark.parametrize(
    ("made", "sizes", "x", "inner"), [(made, sizes, x, inner) for made, sizes, x, names in INNER for inner in names]
)
def test_an_inner_layer_of_another_type_is_named_as_weights(made, sizes, x, inner):
    module = made(*sizes)
    module.get_submodule(inner).double()
    with pytest.raises(TypeError, match=r"wants .* of torch.float64, the type of its weights, got torch.float32"):
        module(x)


@pytest.mark.parametrize("packed", [True, False])
def test_heads_of_another_type_are_named_as_weights(packed):
    heads = attention.MultiheadAttention(6, 2, **({} if packed else {"kdim": 4, "vdim": 3}))
    name = "in_proj_weight" if packed else "v_proj_weight"
    setattr(heads, name, nn.Parameter(getattr(heads, name).double()))
    with pytest.raises(TypeError, match=r"MultiheadAttention wants .* of torch.float64, the type of its weights"):
        heads(QUERY, *(QUERY, QUERY) if packed else (KEY, VALUE))


def test_a_rotation_under_vmap_does_not_look_at_the_positions():
    x, positions = torch.randn(3, 5, 4), torch.arange(15).view(3, 5)
    got = torch.func.vmap(positional_encoding.rotary_embedding)(x, positions)
    assert_close(got, positional_encoding.rotary_embedding(x, positions))


def test_a_rotation_under_vmap_does_not_look_at_the_frequencies():
    x, positions = torch.randn(3, 5, 4), torch.arange(5)
    frequencies = torch.tensor([[1.0, 0.5], [1.0, 0.25], [2.0, 0.125]])

    def rotated(x, frequencies):
        return positional_encoding.rotary_embedding(x, positions, frequencies=frequencies)

    got = torch.func.vmap(rotated)(x, frequencies)
    assert_close(got, torch.stack([rotated(*each) for each in zip(x, frequencies, strict=True)]))


def test_a_norm_of_inference_mode_is_not_trained():
    with torch.inference_mode():
        norm = normalization.BatchNorm(6)
    with pytest.raises(ValueError, match="BatchNorm wants num_batches_tracked that it may write to, got a tensor made"):
        norm(x)


def test_tensors_of_inference_mode_are_not_written_to():
    with torch.inference_mode():
        average = torch.zeros(6)
    with pytest.raises(ValueError, match="wants average that it may write to, got a tensor made in inference mode"):
        moving_average.ema_update_(average, six, 0.1)
    with torch.inference_mode():
        assert torch.equal(moving_average.ema_update_(average, six, 1.0), six)


@pytest.mark.parametrize(("shape", "steps"), [((3, 2), (1, 1)), ((2, 3), (0, 1)), ((2, 2, 2), (2, 2, 1))], ids=str)
def test_places_that_overlap_are_not_written_to(shape, steps):
    average = torch.zeros(9).as_strided(shape, steps)
    with pytest.raises(ValueError, match="wants a place in memory for each number of average, got an expanded tensor"):
        moving_average.ema_update_(average, torch.ones(shape), 0.1)


@pytest.mark.parametrize(
    "average", [torch.zeros(4, 6)[:, ::2], torch.zeros(3, 4).mT, torch.zeros(4, 1, 3)[:, 0]], ids=str
)
def test_places_that_lie_anywhere_are_written_to(average):
    assert torch.equal(moving_average.ema_update_(average, torch.ones(4, 3), 1.0), torch.ones(4, 3))


def test_a_number_that_is_several_under_vmap_is_refused():
    with pytest.raises(TypeError, match=r"layer_norm wants eps to be a number, got Tensor of shape \(\)"):
        torch.func.vmap(lambda eps: normalization.layer_norm(x, (5,), eps=eps))(torch.ones(3))


@pytest.mark.filterwarnings("ignore")
def test_jagged_tensors_are_welcome_where_torch_takes_them():
    rows = torch.nested.nested_tensor([x[0], x[1, :2]], layout=torch.jagged)
    for got, wanted in (
        (normalization.layer_norm(rows, (5,), five, five), F.layer_norm(rows, (5,), five, five)),
        (normalization.rms_norm(rows, (5,), five), F.rms_norm(rows, (5,), five)),
        (feed_forward.gelu(rows), F.gelu(rows)),
        (feed_forward.silu(rows), F.silu(rows)),
        (feed_forward.relu(rows), F.relu(rows)),
    ):
        assert_close(got.values(), wanted.values())
