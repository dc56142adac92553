"""patch_functions replaces kernels within a block and restores the model afterwards."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

import blocklab
from blocklab.attention import MultiheadAttention
from blocklab.feed_forward import SwiGLU
from blocklab.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from blocklab.transformer import EncoderLayer
from blocklab_course.pretrained import patch_functions
from blocklab_course.pretrained.decoder import Decoder, DecoderConfig
from blocklab_course.pretrained.patching import find_kernels

CONFIG = DecoderConfig(
    vocab_size=9, layers=2, d_model=8, heads=4, kv_heads=2, hidden=12, rope_base=100.0, eps=1e-5, max_length=6
)
IDS = torch.tensor([[1, 5, 2, 7]])


def decoder():
    torch.manual_seed(0)
    model = Decoder(CONFIG).eval()
    nn.init.normal_(model.tokens.weight)
    return model


def attend(layer, x):
    return layer(x, x, x, need_weights=False)[0]


CALLS = {
    "batch_norm": (BatchNorm(8).eval(), lambda layer, x: layer(x.mT)),
    "layer_norm": (LayerNorm(8), nn.Module.__call__),
    "group_norm": (GroupNorm(2, 8), lambda layer, x: layer(x.mT)),
    "rms_norm": (RMSNorm(8), nn.Module.__call__),
    "swiglu": (SwiGLU(8, 12), nn.Module.__call__),
    "attention": (MultiheadAttention(8, 2), attend),
    "rotary_embedding": (decoder(), lambda layer, x: layer(IDS)),
}
KERNEL = {"attention": blocklab.scaled_dot_product_attention}


@pytest.mark.parametrize("name", CALLS)
def test_function_replaces_kernel_and_is_removed(name, rng):
    (layer, call), x, calls = CALLS[name], torch.randn(2, 5, 8, generator=rng), []
    kernel = KERNEL.get(name) or getattr(blocklab, name)
    right = call(layer, x)

    def watched(*arguments, **options):
        calls.append(arguments)
        return kernel(*arguments, **options)

    with patch_functions(layer, **{name: watched}):
        assert_close(call(layer, x), right, rtol=0, atol=0)
    assert calls
    with patch_functions(
        layer, **{name: lambda *arguments, **options: torch.zeros_like(kernel(*arguments, **options))}
    ):
        assert not torch.equal(call(layer, x), right)
    count = len(calls)
    assert_close(call(layer, x), right, rtol=0, atol=0)
    assert len(calls) == count


def test_patches_all_modules_of_one_model(rng):
    model, other = decoder(), decoder()
    right, calls = model(IDS), []
    with patch_functions(
        model, rms_norm=lambda x, *rest: calls.append(x.shape) or x, rotary_embedding=lambda x, *_, **__: x
    ):
        assert not torch.equal(model(IDS), right)
        assert len(calls) == 2 * 2 + 1
        assert torch.equal(other(IDS), right)
        assert torch.equal(RMSNorm(8)(torch.ones(8)), torch.ones(8))
    assert torch.equal(model(IDS), right)
    encoder = EncoderLayer(8, 2, 12).eval()
    with patch_functions(encoder, layer_norm=lambda x, *rest: 0 * x):
        assert encoder(torch.randn(1, 3, 8, generator=rng)).abs().max() == 0


def test_find_kernels():
    assert {name: len(modules) for name, modules in find_kernels(decoder()).items()} == {
        "attention": 2,
        "cached_attention": 2,
        "rotary_embedding": 2,
        "rms_norm": 5,
        "swiglu": 2,
    }
    assert find_kernels(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2), nn.BatchNorm1d(2), nn.Conv2d(1, 1, 1))) == {}


def test_model_is_restored_after_error_and_nesting():
    model = decoder()
    right, before = model(IDS), [dict(vars(module)) for module in model.modules()]

    def fails(*_arguments, **_options):
        raise ArithmeticError

    with pytest.raises(ArithmeticError), patch_functions(model, swiglu=fails):
        model(IDS)
    with patch_functions(model, rms_norm=lambda x, *rest: x):
        once = model(IDS)
        with patch_functions(model, rms_norm=lambda x, *rest: 2 * x):
            assert not torch.equal(model(IDS), once)
        assert torch.equal(model(IDS), once)
    assert torch.equal(model(IDS), right)
    assert [dict(vars(module)) for module in model.modules()] == before


def test_patched_module_is_not_registered(rng):
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.by = nn.Parameter(torch.tensor(2.0))

        def forward(self, x, *_rest):
            return self.by * x

    layer, x = LayerNorm(8), torch.randn(3, 8, generator=rng)
    with patch_functions(layer, layer_norm=Twice()):
        assert torch.equal(layer(x), 2 * x)
        assert list(layer.state_dict()) == ["weight", "bias"]


@pytest.mark.parametrize(
    ("functions", "error", "message"),
    [
        (
            {"layer_norm": F.layer_norm},
            ValueError,
            r"Decoder \(attention, cached_attention, rms_norm, rotary_embedding, swiglu\), got l",
        ),
        ({"rms_norm": None}, TypeError, "expected rms_norm to be a function, got NoneType"),
    ],
)
def test_rejects_unknown_kernel_and_non_function(functions, error, message):
    with pytest.raises(error, match=message), patch_functions(decoder(), **functions):
        pass


@pytest.mark.exhaustive
def test_patched_model_compiles_without_graph_break():
    model = decoder()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=False)
    assert_close(compiled(IDS), model(IDS))
    with patch_functions(model, rms_norm=F.rms_norm, swiglu=lambda gate, value: F.silu(gate) * value):
        assert_close(compiled(IDS), model(IDS))
    with patch_functions(model, rms_norm=lambda x, *rest: x):
        assert_close(compiled(IDS), model(IDS))
    assert_close(compiled(IDS), model(IDS))
