"""Every kernel and Module rejects arguments of the wrong type with one line: what it expected and what it got.

CALLS has a correct call of each. The tests replace one argument at a time, by values of other types.
"""

import copy
import inspect
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right
from torch.testing import assert_close

import blocklab
from blocklab import KeyValueCache, attention, batch_statistics, feed_forward, normalization, positional_encoding

torch.manual_seed(0)
x, six, five = torch.randn(2, 6, 5), torch.rand(6) + 0.5, torch.rand(5) + 0.5
sequence, four = x.mT, torch.randn(2, 4, 6)  # (N, L, d)
q, k, v = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 5, 8), torch.randn(2, 3, 5, 7)
padding = torch.zeros(2, 5, dtype=torch.bool)

AFFINE = {"weight": six, "bias": six}
RUNNING = {"running_mean": torch.zeros(6), "running_var": torch.ones(6)}
TABLE = {"base": 10000.0, "dtype": torch.float32}
LAYER = {
    "d_model": 6,
    "nhead": 3,
    "dim_feedforward": 4,
    "dropout": 0.1,
    "activation": "gelu",
    "layer_norm_eps": 1e-5,
} | {"batch_first": True, "norm_first": False, "bias": True}
SRC = {"src": sequence, "src_mask": torch.zeros(5, 5), "src_key_padding_mask": padding, "is_causal": False}
PLACED = {"place": "sandwich", "qk_norm": "whole"} | {
    name: LAYER[name] for name in LAYER if name not in ("dropout", "batch_first", "norm_first")
}
HEADS = {"query": four, "key": sequence, "value": sequence, "key_padding_mask": padding, "need_weights": True} | {
    "attn_mask": torch.zeros(4, 5),
    "average_attn_weights": True,
    "is_causal": False,
}
MEMORY = (
    {"tgt": four, "memory": sequence, "tgt_mask": torch.zeros(4, 4), "memory_mask": torch.zeros(4, 5)}
    | {"tgt_key_padding_mask": padding[:, :4], "memory_key_padding_mask": padding}
    | {"tgt_is_causal": False, "memory_is_causal": False}
)
CALLS: dict[str, tuple[Callable, dict]] = {
    "batch_statistics": (batch_statistics.batch_statistics, {"x": x, "axes": (0, 2)}),
    "BatchNorm.forward": (normalization.BatchNorm(6).forward, {"x": x}),
    "LayerNorm.forward": (normalization.LayerNorm(5).forward, {"x": x}),
    "GroupNorm.forward": (normalization.GroupNorm(3, 6).forward, {"x": x}),
    "RMSNorm.forward": (normalization.RMSNorm(5).forward, {"x": x}),
    "FeedForward.forward": (feed_forward.FeedForward(5, 8).forward, {"x": x}),
    "SwiGLU.forward": (feed_forward.SwiGLU(5, 8).forward, {"x": x}),
    "MultiheadAttention.forward": (attention.MultiheadAttention(6, 2).forward, HEADS),
    "QKNormAttention.forward": (blocklab.QKNormAttention(6, 3, "whole", 10000.0).forward, HEADS),
    "EncoderLayer.forward": (blocklab.EncoderLayer(6, 3, 4).forward, SRC),
    "DecoderLayer.forward": (blocklab.DecoderLayer(6, 3, 4).forward, MEMORY),
    "NormPlacementLayer.forward": (blocklab.NormPlacementLayer("output", 6, 3, 4).forward, SRC),
    "DyT.forward": (blocklab.DyT(5).forward, {"x": x}),
    "KeyValueCache.update": (lambda key, value: KeyValueCache().update(key, value), {"key": k, "value": v}),
}
for name, arguments in {
    "standardize": {"x": x, "axes": (0, 2), "eps": 1e-5},
    "batch_norm": {"x": x, **RUNNING, **AFFINE, "training": True, "momentum": 0.1, "eps": 1e-5},
    "instance_norm": {"x": x, **RUNNING, **AFFINE, "use_input_stats": True, "momentum": 0.1, "eps": 1e-5},
    "layer_norm": {"x": x, "normalized_shape": (5,), "weight": five, "bias": five, "eps": 1e-5},
    "group_norm": {"x": x, "num_groups": 3, **AFFINE, "eps": 1e-5},
    "rms_norm": {"x": x, "normalized_shape": (5,), "weight": five, "eps": 1e-5},
    "batch_norm_loops": {"x": x, "eps": 1e-5, "per_position": False},
    "layer_norm_loops": {"x": x, "eps": 1e-5},
    "BatchNorm": {
        "num_features": 6,
        "eps": 1e-5,
        "momentum": 0.1,
        "affine": True,
        "track_running_stats": True,
        "bias": True,
    },
    "LayerNorm": {"normalized_shape": (6, 5), "eps": 1e-5, "elementwise_affine": True, "bias": True},
    "GroupNorm": {"num_groups": 3, "num_channels": 6, "eps": 1e-5, "affine": True, "bias": True},
    "RMSNorm": {"normalized_shape": (6, 5), "eps": 1e-5, "elementwise_affine": True},
    "merge_statistics": {"count_a": 3, "mean_a": six, "m2_a": six, "count_b": 4, "mean_b": six, "m2_b": six},
    "ema_update": {"average": six, "value": six, "momentum": 0.1},
    "ema_update_": {"average": six.clone(), "value": six, "momentum": 0.1},
    "ema_weights": {"momentum": 0.1, "steps": 3, "dtype": torch.float32},
    "half_life": {"momentum": 0.1},
    "effective_window": {"momentum": 0.1},
    "debias": {"average": six, "momentum": 0.1, "steps": 3},
    "to_keras": {"momentum": 0.1},
    "from_keras": {"momentum": 0.1},
    "sinusoidal_encoding": {"length": 5, "d_model": 4, **TABLE},
    "wavelengths": {"d_model": 4, **TABLE},
    "shift_matrix": {"offset": 3.0, "d_model": 4, **TABLE},
    "rotary_embedding": {"x": torch.randn(2, 5, 4), "positions": torch.arange(5.0), "base": 10000.0, "pairing": "half"}
    | {"frequencies": None},
    "rotary_frequencies": {"d": 8, "base": 10000.0},
    "position_interpolation": {"d": 8, "base": 10000.0, "factor": 4.0},
    "ntk_aware": {"d": 8, "base": 10000.0, "factor": 4.0},
    "yarn": {"d": 8, "base": 10000.0, "factor": 4.0, "length": 16, "beta_fast": 32.0, "beta_slow": 1.0},
    "yarn_temperature": {"factor": 4.0},
    "llama3_scaling": {"d": 8, "base": 10000.0, "factor": 4.0, "length": 16, "low": 1.0, "high": 4.0},
    "relu": {"x": x},
    "gelu": {"x": x, "approximate": "tanh"},
    "silu": {"x": x},
    "swish": {"x": x, "beta": 1.5},
    "glu": {"x": sequence, "dim": -1},
    "gated_unit": {"gate": x, "value": x, "activation": "silu"},
    "swiglu": {"gate": x, "value": x},
    "round_up": {"n": 5, "multiple_of": 4},
    "hidden_width": {"d_model": 64, "multiple_of": 8, "multiplier": 1.5},
    "parameter_count": {"d_model": 6, "hidden": 8, "gated": True, "bias": True},
    "FeedForward": {"d_model": 6, "hidden": 8, "activation": "gelu", "dropout": 0.1, "bias": True},
    "SwiGLU": {"d_model": 6, "hidden": 8, "bias": True},
    "scaled_dot_product_attention": {
        "query": q,
        "key": k,
        "value": v,
        "attn_mask": torch.zeros(4, 5),
        "dropout_p": 0.0,
        "is_causal": False,
    }
    | {"scale": 0.3, "enable_gqa": False},
    "causal_mask": {"length": 5},
    "causal_lower_right": {"L": 3, "S": 4},
    "repeat_kv": {"x": k, "n_rep": 2},
    "MultiheadAttention": {
        "embed_dim": 6,
        "num_heads": 3,
        "dropout": 0.1,
        "bias": True,
        "add_bias_kv": False,
        "add_zero_attn": False,
    }
    | {"kdim": 4, "vdim": 5, "batch_first": True},
    "KeyValueCache": {"window": 3},
    "cached_attention": {
        "query": q,
        "key": q,
        "value": q[..., :7],
        "cache": KeyValueCache(),
        "scale": 0.3,
        "enable_gqa": True,
    },
    "EncoderLayer": LAYER,
    "DecoderLayer": LAYER,
    "NormPlacementLayer": PLACED,
    "QKNormAttention": {
        "embed_dim": 6,
        "num_heads": 3,
        "over": "head",
        "rope_base": 10000.0,
        "eps": 1e-6,
        "bias": True,
    },
    "dyt": {"x": x, "alpha": 0.5, "weight": five, "bias": five},
    "DyT": {"num_features": 5, "alpha_init_value": 0.5},
}.items():
    CALLS[name] = getattr(blocklab, name), arguments
ARGUMENTS = [(call, name) for call, (_, arguments) in CALLS.items() for name in arguments]


def fresh(value):
    if isinstance(value, KeyValueCache):
        return KeyValueCache()
    return value.detach().clone() if isinstance(value, Tensor) else value


def run(call: str, **changes):
    function, arguments = CALLS[call]
    return function(**{name: fresh(value) for name, value in arguments.items()} | changes)


@pytest.mark.parametrize("call", [*blocklab._MODULE_OF, *(call for call in CALLS if "." in call)])
def test_calls_cover_every_argument(call):
    function, arguments = CALLS[call]
    left_to_torch = {"device", "dtype"} if call[0].isupper() else set()
    assert set(arguments) == set(inspect.signature(function).parameters) - left_to_torch
    run(call)


def wrong_tensors(call: str, name: str, good: Tensor):
    yield from [[1.0], "no", good.numpy(), good.to_sparse() if good.dim() else 1j]
    first, mask, scalar = name == next(iter(CALLS[call][1])), "mask" in name, good.dim() == 0
    if call != "relu" and name != "positions":
        yield good.long()
    if not mask:
        yield good.bool()
    if not call.startswith(("rms_norm", "RMSNorm", "silu")):
        yield good.to(torch.complex64)
    if not first and not scalar:
        yield torch.ones(1)  # would broadcast
        if (call, name) != ("scaled_dot_product_attention", "attn_mask") and not ("value" in name and good.dim() == 4):
            yield good[..., :1]
    if sum(isinstance(value, Tensor) for value in CALLS[call][1].values()) > 1 or "." in call:
        yield good.to("meta")
    if good.dim() >= 2 and not scalar and not call.startswith(("layer", "Layer", "rms", "RMS", "relu", "gelu", "silu")):
        yield torch.nested.nested_tensor([good, good])


def wrong_values(call: str, name: str):
    """Values of another type than the correct one."""
    good = CALLS[call][1][name]
    if isinstance(good, Tensor):
        yield from wrong_tensors(call, name, good)
    elif isinstance(good, bool):
        yield from [0, 1, "True", None, torch.tensor(True)]
    elif name == "activation":
        yield from ["no", 1, None, nn.SiLU, torch.ones(2)]
    elif name in ("axes", "normalized_shape"):
        yield from [1.5, "5", b"5", (5.0,), (True,), (None,), (), torch.tensor([5.0])]
    elif isinstance(good, int):
        yield from [1.5, True, "1", [1], 1j, torch.tensor(1.0), torch.tensor([1]), np.float64(1)]
    elif isinstance(good, float):
        yield from ["0.1", [0.1], 1j, np.array([0.1]), torch.tensor([0.1]), torch.tensor(0.1j)]
        if name not in ("beta", "alpha"):
            yield torch.tensor(0.1, requires_grad=True)
    elif isinstance(good, str):
        yield from [0, True, good.upper(), [good]]
    elif isinstance(good, torch.dtype):
        yield from [torch.int64, torch.complex64, "float32", None]
    else:  # a cache, or frequencies
        yield from [[1.0], 1, "no"]
    default = inspect.signature(CALLS[call][0]).parameters[name].default
    if default is not None and not (name == "momentum" and call == "BatchNorm"):
        yield None


CALLED = {  # functions and Modules that check the arguments of others
    "BatchNorm.forward": ["batch_norm"],
    "LayerNorm.forward": ["layer_norm"],
    "GroupNorm.forward": ["group_norm"],
    "RMSNorm.forward": ["rms_norm"],
    "QKNormAttention.forward": ["MultiheadAttention"],
    "QKNormAttention": ["MultiheadAttention"],
    "DyT.forward": ["dyt"],
    "cached_attention": ["KeyValueCache", "scaled_dot_product_attention"],
}
SHAPE = r"\((\w+, |\w+,(?=\)))*\w*\)"
EXPECTED = "|".join(
    [
        "(NAME) to be (a|a dense) tensor",
        "(NAME) to be (a number|an integer|an integer or a tuple of integers|a tuple of integers)",
        "(NAME) to be (True or False|boolean or floating point|integers or floats)",
        "(NAME) to be (a floating point type|a KeyValueCache|one of relu, gelu(, silu, sigmoid)? or a function)",
        "(NAME) to be ('head' or 'whole'|'adjacent' or 'half'|'none' or 'tanh')",
        "(NAME) to be 'post' or 'pre' or 'output' or 'sandwich' or 'parallel'",
        "(NAME) to have (a|an integer or) floating point dtype",
        "(NAME) to have (at least one axis|as many axes as query)",
        "(NAME) to have (a position and a feature axis|an axis for query and one for key)",
        rf"(NAME) to have shape {SHAPE}( or {SHAPE})?(, none of them 0)?",
        rf"(NAME) to have shape {SHAPE}, h a multiple of 3, for (NAME) of shape {SHAPE}",
        "(NAME) on (cpu|meta) like (NAME)",
        "(NAME) between -3 and 2, at least one",
        "both (NAME) and (NAME) or neither",
        "as many features in query and key",
    ]
)


@pytest.mark.filterwarnings("ignore:.*nested tensors")
@pytest.mark.parametrize(("call", "name"), ARGUMENTS)
def test_arguments_of_the_wrong_type_are_rejected(call, name):
    functions = "|".join([call.split(".")[0], *CALLED.get(call, [])])
    expected = EXPECTED.replace("NAME", "|".join([*CALLS[call][1], "query", "weights?", "running_mean"]))
    for value in wrong_values(call, name):
        with pytest.raises((TypeError, ValueError)) as caught:
            run(call, **{name: value})
        message = str(caught.value)
        assert re.fullmatch(f"({functions}): expected ({expected}), got .+", message), message
        assert re.search(rf"\b{name}\b", message) or isinstance(value, Tensor), (value, message)


TYPED = [(call, name) for call, name in ARGUMENTS if name in ("query", "key", "value", "x", "src", "tgt", "memory")]
TYPED = [
    each
    for each in TYPED
    if each[0].startswith(("scaled", "cached", "KeyV", "Multi", "QK", "Feed", "Swi", "Enc", "Dec", "NormP"))
]


@pytest.mark.parametrize(("call", "name"), TYPED)
def test_mixed_dtypes_are_rejected(call, name):
    functions = "|".join([call.split(".")[0], *CALLED.get(call, [])])
    with pytest.raises(TypeError, match=rf"^({functions}): expected .*, got .*torch.float64"):
        run(call, **{name: CALLS[call][1][name].double()})


def test_causal_bias_of_torch_is_rejected_as_a_mask():
    with pytest.raises(TypeError, match="expected attn_mask to be a plain tensor, got CausalBias"):
        run("scaled_dot_product_attention", attn_mask=causal_lower_right(4, 5))


# What torch accepts


@pytest.mark.parametrize("one", [1, True, np.float32(1), np.int64(1), torch.tensor(1.0), torch.tensor(1)], ids=repr)
def test_accepts_every_type_of_number_that_torch_accepts(one):
    assert_close(normalization.layer_norm(x, (5,), eps=one), F.layer_norm(x, (5,), eps=one))
    assert_close(
        normalization.batch_norm(x, None, None, training=True, eps=one),
        F.batch_norm(x, None, None, None, None, True, 0.1, one),
    )


@pytest.mark.parametrize("five", [5, np.int8(5), torch.tensor(5)], ids=repr)
def test_accepts_every_type_of_integer_that_torch_accepts(five):
    assert_close(normalization.layer_norm(x, [five]), F.layer_norm(x, [five]))
    assert_close(normalization.group_norm(x.mT, five), F.group_norm(x.mT, int(five)))
    assert normalization.LayerNorm(five).weight.shape == (5,)


TENSORS = [call for call in CALLS if any(isinstance(value, Tensor) for value in CALLS[call][1].values())]
TENSORS = [call for call in TENSORS if "_loops" not in call]


@pytest.mark.parametrize("call", TENSORS)
def test_accepts_meta_tensors(call):
    function, arguments = CALLS[call]
    if module := getattr(function, "__self__", None):
        function = copy.deepcopy(module).to("meta").forward
    values = {name: fresh(value) for name, value in arguments.items()}
    y = function(**{name: value.to("meta") if isinstance(value, Tensor) else value for name, value in values.items()})
    assert all(each.is_meta for each in (y if isinstance(y, tuple) else (y,)) if isinstance(each, Tensor))


class Named(Tensor):
    """A tensor subclass, as libraries define them."""


@pytest.mark.parametrize("call", TENSORS)
def test_accepts_tensor_subclasses(call):
    tensors = {name: value for name, value in CALLS[call][1].items() if isinstance(value, Tensor)}
    run(call, **{name: value.clone().as_subclass(Named) for name, value in tensors.items()})


@pytest.mark.parametrize("call", ["layer_norm", "rms_norm", "group_norm", "silu", "gated_unit", "FeedForward.forward"])
def test_vmap_and_grad_work_through_the_checks(call):
    name, x = next(iter(CALLS[call][1].items()))

    def total(x):
        return run(call, **{name: x}).square().sum()

    rows = torch.stack([x, 2 * x])
    got = torch.func.vmap(torch.func.grad(total))(rows)
    assert_close(got, torch.stack([torch.func.grad(total)(row) for row in rows]))


def test_vmap_over_rotary_embedding():
    x, positions = torch.randn(3, 5, 4), torch.arange(15).view(3, 5)
    got = torch.func.vmap(positional_encoding.rotary_embedding)(x, positions)
    assert_close(got, positional_encoding.rotary_embedding(x, positions))


@pytest.mark.parametrize("call", ["FeedForward.forward", "SwiGLU.forward", "EncoderLayer.forward"])
def test_autocast_chooses_the_dtype(call):
    name, x = next(iter(CALLS[call][1].items()))
    with torch.autocast("cpu", torch.bfloat16):
        assert run(call, **{name: x.bfloat16()}).isfinite().all()
        with pytest.raises(TypeError, match=r"expected \w+ to be torch.float32 like weights, got torch.float64"):
            run(call, **{name: x.double()})


@pytest.mark.filterwarnings("ignore:.*nested tensors")
def test_accepts_jagged_tensors_where_torch_does():
    rows = torch.nested.nested_tensor([x[0], x[1, :2]], layout=torch.jagged)
    for got, wanted in (
        (normalization.layer_norm(rows, (5,), five, five), F.layer_norm(rows, (5,), five, five)),
        (normalization.rms_norm(rows, (5,), five), F.rms_norm(rows, (5,), five)),
        (feed_forward.gelu(rows), F.gelu(rows)),
        (feed_forward.silu(rows), F.silu(rows)),
        (feed_forward.relu(rows), F.relu(rows)),
        (feed_forward.swish(rows), F.silu(rows)),
        (feed_forward.swiglu(rows, rows), F.silu(rows) * rows),
    ):
        assert_close(got.values(), wanted.values())


@pytest.mark.filterwarnings("ignore:.*nested tensors")
@pytest.mark.parametrize("call", ["FeedForward.forward", "SwiGLU.forward"])
def test_feed_forward_accepts_jagged_tensors(call):
    rows = torch.nested.nested_tensor([x[0], x[1, :2]], layout=torch.jagged)
    assert_close(run(call, x=rows).values(), run(call, x=rows.values()))


# Modules

MODULES = [call for call in CALLS if inspect.isclass(CALLS[call][0]) and issubclass(CALLS[call][0], nn.Module)]


@pytest.mark.parametrize("call", MODULES)
def test_parameters_and_buffers_have_the_given_device_and_dtype(call):
    module = run(call, device="meta", dtype=torch.float64)
    tensors = module.state_dict().values()
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert {tensor.dtype for tensor in tensors if tensor.is_floating_point()} == {torch.float64}


# Activations

MADE = {
    "another shape": lambda x: x[..., :1],
    "a sum": lambda x: x.sum(),
    "None": lambda x: None,
    "integers": lambda x: x.long(),
    "booleans": lambda x: x > 0,
    "another type": lambda x: x.double(),
    "a list": lambda x: x.tolist(),
}


@pytest.mark.parametrize("made", MADE)
def test_activation_must_keep_shape_and_dtype(made):
    for name, call in {
        "gated_unit": lambda activation: feed_forward.gated_unit(x, x, activation),
        "FeedForward": lambda activation: feed_forward.FeedForward(5, 8, activation)(x),
        "EncoderLayer": lambda activation: blocklab.EncoderLayer(6, 3, 4, activation=activation)(sequence),
        "NormPlacementLayer": lambda activation: blocklab.NormPlacementLayer("pre", 6, 3, 4, activation)(sequence),
    }.items():
        with pytest.raises(
            (TypeError, ValueError), match=rf"^{name}: expected activation\((gate|hidden)\) to .*, got "
        ):
            call(MADE[made])


@pytest.mark.parametrize("activation", [torch.relu_, nn.ReLU(inplace=True), lambda gate: gate.mul_(2)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_in_place_activation_leaves_the_gate_unchanged(activation, dtype):
    gate = -x.to(dtype)
    before = gate.clone()
    feed_forward.gated_unit(gate, gate, activation)
    assert torch.equal(gate, before)
