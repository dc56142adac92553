"""The Modules compared with torch's: constructors, state, training and eval."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from blocklab import normalization as ours
from tolerance import TOLERANCE

# ours and torch's, the arguments of both, and the shape of an input
PAIRS = {
    "BatchNorm (N, C)": (ours.BatchNorm, nn.BatchNorm1d, (6, 0.03, 0.3), {}, (5, 6)),
    "BatchNorm (N, C, L)": (ours.BatchNorm, nn.BatchNorm1d, (6, 0.03, 0.3), {}, (5, 6, 4)),
    "BatchNorm (N, C, H, W)": (ours.BatchNorm, nn.BatchNorm2d, (6, 0.03, 0.3), {}, (5, 6, 4, 3)),
    "BatchNorm (N, C, D, H, W)": (ours.BatchNorm, nn.BatchNorm3d, (6, 0.03, 0.3), {}, (2, 6, 4, 3, 5)),
    "BatchNorm, defaults": (ours.BatchNorm, nn.BatchNorm1d, (6,), {}, (5, 6)),
    "BatchNorm, cumulative": (ours.BatchNorm, nn.BatchNorm1d, (6,), {"momentum": None}, (5, 6)),
    "BatchNorm, momentum 0": (ours.BatchNorm, nn.BatchNorm1d, (6,), {"momentum": 0.0}, (5, 6)),
    "BatchNorm, not affine": (ours.BatchNorm, nn.BatchNorm1d, (6,), {"affine": False}, (5, 6)),
    "BatchNorm, no tracking": (ours.BatchNorm, nn.BatchNorm1d, (6,), {"track_running_stats": False}, (5, 6)),
    "LayerNorm (d,)": (ours.LayerNorm, nn.LayerNorm, (4, 0.03), {}, (5, 6, 4)),
    "LayerNorm (L, d)": (ours.LayerNorm, nn.LayerNorm, ((6, 4),), {}, (5, 6, 4)),
    "LayerNorm, no bias": (ours.LayerNorm, nn.LayerNorm, (4,), {"bias": False}, (5, 6, 4)),
    "LayerNorm, not affine": (ours.LayerNorm, nn.LayerNorm, (4, 1e-5, False), {}, (5, 6, 4)),
    "GroupNorm": (ours.GroupNorm, nn.GroupNorm, (2, 6, 0.03), {}, (5, 6, 4)),
    "GroupNorm, not affine": (ours.GroupNorm, nn.GroupNorm, (2, 6), {"affine": False}, (5, 6, 4)),
    "RMSNorm (d,)": (ours.RMSNorm, nn.RMSNorm, (4,), {}, (5, 6, 4)),
    "RMSNorm (L, d)": (ours.RMSNorm, nn.RMSNorm, ([6, 4], 0.03), {}, (5, 6, 4)),
    "RMSNorm, not affine": (ours.RMSNorm, nn.RMSNorm, (4,), {"elementwise_affine": False}, (5, 6, 4)),
}
each_pair = pytest.mark.parametrize("pair", PAIRS)


def build(pair, **more):
    our_class, torch_class, arguments, options, shape = PAIRS[pair]
    return our_class(*arguments, **options, **more), torch_class(*arguments, **options, **more), shape


def randomize(module, rng):
    """Ones and zeros would hide a forgotten weight or bias."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, generator=rng)


@each_pair
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_ten_steps_of_training_then_eval(pair, dtype, rng):
    norm, reference, shape = build(pair, dtype=dtype)
    randomize(reference, rng)
    norm.load_state_dict(reference.state_dict(), strict=True)
    close = TOLERANCE[dtype]
    for step in range(10):
        x = torch.randn(shape, generator=rng, dtype=dtype) * (1 + step) + step
        got, expected = norm(x), reference(x)
        assert_close(got, expected, rtol=10 * close["rtol"], atol=10 * close["atol"])
    assert_close(dict(norm.state_dict()), dict(reference.state_dict()), rtol=10 * close["rtol"], atol=close["atol"])
    norm.eval(), reference.eval()
    before = {key: value.clone() for key, value in norm.state_dict().items()}
    assert_close(norm(x), reference(x), rtol=10 * close["rtol"], atol=10 * close["atol"])
    assert all(torch.equal(value, before[key]) for key, value in norm.state_dict().items())


@each_pair
def test_state_dict_goes_both_ways(pair, rng):
    norm, reference, shape = build(pair)
    assert list(norm.state_dict()) == list(reference.state_dict())
    assert [p.shape for p in norm.parameters()] == [p.shape for p in reference.parameters()]
    assert_close(dict(norm.state_dict()), dict(reference.state_dict()))  # the same values to start with
    randomize(norm, rng)
    norm(torch.randn(shape, generator=rng))
    reference.load_state_dict(norm.state_dict(), strict=True)
    assert_close(dict(reference.state_dict()), dict(norm.state_dict()), rtol=0, atol=0)


@each_pair
def test_gradients_reach_weight_and_bias(pair, rng):
    norm, reference, shape = build(pair, dtype=torch.float64)
    randomize(reference, rng)
    norm.load_state_dict(reference.state_dict())
    x, direction = (torch.randn(shape, generator=rng, dtype=torch.float64) for _ in range(2))
    for module in (norm, reference):
        (module(x) * direction).sum().backward() if list(module.parameters()) else None
    got, expected = ([p.grad for p in module.parameters()] for module in (norm, reference))
    assert_close(got, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("momentum", [0.25, None])
def test_compiled_training_updates_the_buffers(momentum, rng):
    norm, compiled = (ours.BatchNorm(6, momentum=momentum, dtype=torch.float64) for _ in range(2))
    step = torch.compile(compiled, fullgraph=True, backend="aot_eager")
    for _ in range(3):
        x = torch.randn(5, 6, generator=rng, dtype=torch.float64)
        assert_close(step(x), norm(x), **TOLERANCE[x.dtype])
    assert_close(dict(compiled.state_dict()), dict(norm.state_dict()), **TOLERANCE[x.dtype])
    assert compiled.num_batches_tracked == 3


def test_momentum_none_averages_all_batches(rng):
    norm = ours.BatchNorm(3, momentum=None, dtype=torch.float64)
    batches = torch.randn(7, 5, 3, generator=rng, dtype=torch.float64)
    for batch in batches:
        norm(batch)
    assert_close(norm.running_mean, batches.mean((0, 1)))
    assert_close(norm.running_var, batches.var(1).mean(0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_buffers_of_a_half_type_are_rounded_once_per_step(dtype, rng):
    norm = ours.BatchNorm(50, dtype=dtype)
    x = torch.randn(9, 50, generator=rng, dtype=torch.float64).to(dtype)
    norm(x)
    mean, var = x.double().mean(0), x.double().var(0)
    assert norm.running_mean.dtype == norm.running_var.dtype == dtype
    assert_close(norm.running_mean.double(), 0.1 * mean, **TOLERANCE[dtype])
    assert_close(norm.running_var.double(), 0.9 + 0.1 * var, **TOLERANCE[dtype])


def test_buffers_are_updated_in_place(rng):
    norm = ours.BatchNorm(3)
    mean, var = norm.running_mean, norm.running_var
    norm(torch.randn(5, 3, generator=rng, requires_grad=True))
    assert norm.running_mean is mean
    assert norm.running_var is var
    assert not mean.requires_grad
    assert not torch.equal(mean, torch.zeros(3))


def test_reset_running_stats(rng):
    norm = ours.BatchNorm(3)
    norm(torch.randn(5, 3, generator=rng))
    norm.reset_running_stats()
    assert_close(dict(norm.state_dict()), dict(ours.BatchNorm(3).state_dict()), rtol=0, atol=0)
    ours.BatchNorm(3, track_running_stats=False).reset_running_stats()  # nothing to forget


@each_pair
def test_reset_parameters_restores_the_initial_state(pair, rng):
    norm, reference, shape = build(pair)
    for module in (norm, reference):
        randomize(module, rng)
        module(torch.randn(shape, generator=rng))
        module.reset_parameters()
    assert_close(dict(norm.state_dict()), dict(reference.state_dict()), rtol=0, atol=0)
    assert_close(dict(norm.state_dict()), dict(build(pair)[0].state_dict()), rtol=0, atol=0)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_state_without_a_count_of_batches_loads_as_in_torch(device):
    loaded = []
    for made in (ours.BatchNorm, nn.BatchNorm1d):
        norm, old = made(3), dict(made(3).state_dict())
        norm(torch.ones(2, 3))
        norm = norm.to(device)
        del old["num_batches_tracked"]
        norm.load_state_dict(old, assign=device == "meta")
        loaded.append(dict(norm.state_dict()))
    assert_close(*loaded)


@pytest.mark.parametrize("saved_with", ["num_batches_tracked", "running_mean"])
def test_newer_state_must_be_complete(saved_with):
    norm = ours.BatchNorm(3)
    state = norm.state_dict()
    del state[saved_with]
    with pytest.raises(RuntimeError, match=f"Missing key.*{saved_with}"):
        norm.load_state_dict(state)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_works_without_num_batches_tracked(momentum, rng):
    x = torch.randn(5, 3, generator=rng)
    norms = [made(3, momentum=momentum) for made in (ours.BatchNorm, nn.BatchNorm1d)]
    for norm in norms:
        norm.num_batches_tracked = None
    assert_close(norms[0](x), norms[1](x))
    assert_close(dict(norms[0].state_dict()), dict(norms[1].state_dict()))


def test_tracking_can_be_switched_off_later(rng):
    # torch's habit: train() then uses the batch and leaves the buffers alone; eval() still uses them
    norm, reference = ours.BatchNorm(3), nn.BatchNorm1d(3)
    x = torch.randn(5, 3, generator=rng)
    for module in (norm, reference):
        module(x)
        module.track_running_stats = False
        module(x + 1)
    assert_close(dict(norm.state_dict()), dict(reference.state_dict()))
    assert_close(norm.eval()(x), reference.eval()(x))


def test_bias_alone_can_be_left_out():
    # torch's BatchNorm and GroupNorm take bias= from version 2.13 on
    for norm in (ours.BatchNorm(6, bias=False), ours.GroupNorm(2, 6, bias=False), ours.LayerNorm(6, bias=False)):
        assert [name for name, _ in norm.named_parameters()] == ["weight"]
    assert not list(ours.BatchNorm(6, affine=False, bias=True).parameters())
    assert not list(ours.LayerNorm(6, elementwise_affine=False).parameters())


@pytest.mark.parametrize(
    ("norm", "text"),
    [
        (
            lambda: ours.BatchNorm(6),
            "BatchNorm(6, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        ),
        (lambda: ours.LayerNorm(6), "LayerNorm((6,), eps=1e-05, elementwise_affine=True, bias=True)"),
        (lambda: ours.GroupNorm(2, 6, bias=False), "GroupNorm(2, 6, eps=1e-05, affine=True, bias=False)"),
        (lambda: ours.RMSNorm((2, 6)), "RMSNorm((2, 6), eps=None, elementwise_affine=True)"),
    ],
)
def test_repr_shows_the_arguments(norm, text):
    assert repr(norm()) == text


def test_layers_without_channels_have_empty_weights():
    assert ours.BatchNorm(0).weight.shape == ours.GroupNorm(1, 0).weight.shape == (0,)


@pytest.mark.parametrize("ours_and_torchs", [(ours.LayerNorm, nn.LayerNorm), (ours.RMSNorm, nn.RMSNorm)])
def test_normalized_shape_may_be_a_tensor_or_an_array(ours_and_torchs):
    for shape in (torch.tensor([3, 4]), np.array([3, 4]), range(3, 5)):
        own, theirs = (module(shape) for module in ours_and_torchs)
        assert own.weight.shape == theirs.weight.shape == (3, 4)
        assert own.normalized_shape == (3, 4)
        assert own(torch.ones(2, 3, 4)).shape == (2, 3, 4)
