"""The norms compared with torch in float64 and with plain loops, in every shape, dtype and memory layout."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from blocklab import normalization as ours
from tolerance import TOLERANCE

NORMS = ["batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"]
LAYOUTS = ["contiguous", "transposed", "channels_last", "sliced", "expanded"]
EPS = 0.1  # far from negligible, and keeps equal values well conditioned


def normal(shape, rng):
    return torch.randn(shape, generator=rng, dtype=torch.float64)


def laid_out(x, layout):
    """The same shape in another memory layout; the same numbers, too, but for "expanded"."""
    if layout == "transposed":
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "channels_last":
        return x.movedim(1, -1).contiguous().movedim(-1, 1)
    if layout == "sliced":
        return torch.stack([x, x + 1], dim=-1).flatten(-2)[..., ::2]
    return x[:1].expand_as(x) if layout == "expanded" else x


def call(namespace, name, x, weight, bias, groups):
    """One of the five norms, ours or torch's, with an eps of its own and without running statistics."""
    function = getattr(namespace, name)
    if name == "batch_norm":
        return function(x, None, None, weight, bias, training=True, eps=EPS)
    if name == "instance_norm":
        return function(x, None, None, weight, bias, eps=EPS)
    if name == "group_norm":
        return function(x, groups, weight, bias, EPS)
    if name == "rms_norm":
        return function(x, tuple(weight.shape), weight, EPS)
    return function(x, tuple(weight.shape), weight, bias, EPS)


@st.composite
def cases(draw, names=NORMS):
    """name, x, weight, bias and groups; the axes have different lengths, so that none can stand for another."""
    name = draw(st.sampled_from(names))
    rank = draw(st.integers(3 if name == "instance_norm" else 2, 5))
    shape = draw(st.lists(st.integers(1, 7), min_size=rank, max_size=rank, unique=True))
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    dtype = draw(st.sampled_from(list(TOLERANCE)))
    x = laid_out(3 * normal(shape, rng) + 1, draw(st.sampled_from(LAYOUTS))).to(dtype)
    last = draw(st.integers(1, rank))
    features = shape[-last:] if name in ("layer_norm", "rms_norm") else shape[1:2]
    groups = draw(st.sampled_from([g for g in range(1, shape[1] + 1) if shape[1] % g == 0]))
    values = {
        "batch_norm": math.prod(shape) // shape[1],
        "instance_norm": math.prod(shape[2:]),
        "group_norm": math.prod(shape) // groups,
    }
    assume(values.get(name, 2) > 1)
    return name, x, normal(features, rng).to(dtype), normal(features, rng).to(dtype), groups


@given(cases())
@settings(max_examples=600)
def test_agrees_with_torch_in_float64_and_is_rounded_once(case):
    name, x, weight, bias, groups = case
    before = x.clone()
    y = call(ours, name, x, weight, bias, groups)
    expected = call(F, name, x.double(), weight.double(), bias.double(), groups)
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    assert_close(y.double(), expected, **TOLERANCE[x.dtype])
    assert torch.equal(x, before)


@given(cases())
@settings(max_examples=150)
def test_gradients_agree_with_torch(case):
    name, *tensors, groups = case
    tensors = [t.detach().double().requires_grad_() for t in tensors]
    used = tensors[:2] if name == "rms_norm" else tensors
    direction = normal(tensors[0].shape, torch.Generator().manual_seed(1))
    got, expected = (
        torch.autograd.grad((call(module, name, *tensors, groups) * direction).sum(), used) for module in (ours, F)
    )
    assert_close(got, expected, rtol=1e-10, atol=1e-10)


@given(cases(["batch_norm", "instance_norm"]))
@settings(max_examples=150)
def test_running_statistics_agree_with_torch(case):
    name, x, weight, bias, _ = case
    x, weight, bias = x.double(), weight.double(), bias.double()
    rng = torch.Generator().manual_seed(2)
    start = normal(x.shape[1], rng), normal(x.shape[1], rng).exp()
    runs = []
    for module in (ours, F):
        running = [t.clone() for t in start]
        norm = getattr(module, name)
        y = norm(x, *running, weight, bias, True, momentum=0.3, eps=EPS)
        runs.append((y, *running, norm(x, *running, weight, bias, False, eps=EPS)))
    assert_close(runs[0], runs[1], **TOLERANCE[torch.float64])


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_half_type_is_rounded_once_over_many_numbers(name, dtype, rng):
    # 60,000 numbers: a second rounding would show in some of them
    x, weight, bias = (normal(s, rng).to(dtype) for s in [(20, 30, 100), 100, 100])
    if name not in ("layer_norm", "rms_norm"):
        x = x.movedim(-1, 1)
    y = call(ours, name, x, weight, bias, 5)
    expected = call(F, name, x.double(), weight.double(), bias.double(), 5)
    assert_close(y.double(), expected, **TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_half_type_is_rounded_once_with_running_statistics_too(name, dtype, rng):
    x, *vectors = (normal(s, rng).to(dtype) for s in [(20, 100, 30), 100, 100, 100, 100])
    mean, var, weight, bias = vectors[0], vectors[1].exp(), *vectors[2:]
    y = getattr(ours, name)(x, mean, var, weight, bias, False, eps=EPS)
    wide = (t.double() for t in (x, mean, var, weight, bias))
    assert y.dtype == dtype
    assert_close(y.double(), getattr(F, name)(*wide, False, eps=EPS), **TOLERANCE[dtype])


@pytest.mark.parametrize("name", NORMS)
def test_float32_weights_on_float16_input(name, rng):
    # what mixed precision does: the weights must not be rounded to the type of x first
    x, weight, bias = normal((4, 6, 6), rng).half(), normal(6, rng).float(), normal(6, rng).float()
    y = call(ours, name, x, weight, bias, 2)
    assert y.dtype == torch.float16
    assert_close(y.double(), call(F, name, x.double(), weight.double(), bias.double(), 2), **TOLERANCE[torch.float16])


@pytest.mark.parametrize("name", NORMS)
def test_weight_and_bias_are_each_optional(name, rng):
    x, weight, bias = normal((4, 6, 6), rng), normal(6, rng), normal(6, rng)
    for w, b in [(None, None), (weight, None), (None, bias)]:
        if name in ("layer_norm", "rms_norm"):
            arguments = ((6,), w, b) if name == "layer_norm" else ((6,), w)
        elif name == "group_norm":
            arguments = (2, w, b)
        else:
            arguments = (None, None, w, b, True)
        assert_close(getattr(ours, name)(x, *arguments), getattr(F, name)(x, *arguments), **TOLERANCE[x.dtype])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_default_eps_of_rms_norm_is_that_of_the_type_computed_in(dtype):
    x = torch.full((2, 5), 1e-4, dtype=dtype)  # 1e-8 beside an eps of 1e-7 (float32): the choice shows
    expected = F.rms_norm(x.double(), (5,), eps=torch.finfo(torch.promote_types(dtype, torch.float32)).eps)
    assert_close(ours.rms_norm(x, (5,)).double(), expected, **TOLERANCE[dtype])


@pytest.mark.parametrize("axes", [0, -1, 2, (0, 1), (0, 2), [1, -1], (0, 1, 2)], ids=str)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_standardize_gives_mean_0_and_variance_1_up_to_eps(axes, dtype, rng):
    x = (3 * normal((4, 5, 6), rng) + 2).to(dtype)
    wide = x.double()
    mean, variance = wide.mean(axes, keepdim=True), wide.var(axes, correction=0, keepdim=True)
    y = ours.standardize(x, axes, eps=EPS)
    assert y.dtype == dtype
    assert_close(y.double(), (wide - mean) / (variance + EPS).sqrt(), **TOLERANCE[dtype])


def test_default_eps_is_one_hundred_thousandth(rng):
    x = normal((3, 4, 5), rng) * 1e-3  # variance 1e-6, so that an eps of 1e-5 shows
    assert_close(ours.standardize(x, -1), F.layer_norm(x, (5,)), **TOLERANCE[x.dtype])
    assert_close(ours.layer_norm_loops(x), F.layer_norm(x, (5,)), **TOLERANCE[x.dtype])
    assert_close(ours.batch_norm_loops(x), ours.standardize(x, (0, 1)), **TOLERANCE[x.dtype])


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_loops_match_the_layers(dtype, rng):
    x = (2 * normal((3, 5, 4), rng) + 1).to(dtype)
    wide, close = x.double(), TOLERANCE[dtype]
    by_feature = F.batch_norm(wide.movedim(-1, 1), None, None, training=True, eps=EPS).movedim(1, -1)
    by_place = F.batch_norm(wide.reshape(3, 20), None, None, training=True, eps=EPS).reshape(3, 5, 4)
    assert_close(ours.batch_norm_loops(x, EPS).double(), by_feature, **close)
    assert_close(ours.batch_norm_loops(x, EPS, per_position=True).double(), by_place, **close)
    assert_close(ours.layer_norm_loops(x, EPS).double(), F.layer_norm(wide, (4,), eps=EPS), **close)
    assert ours.batch_norm_loops(x).dtype == ours.layer_norm_loops(x).dtype == dtype
    assert_close(ours.layer_norm(x, (4,), eps=EPS).double(), ours.layer_norm_loops(wide, EPS), **close)
    ours_by_feature = ours.batch_norm(x.movedim(-1, 1), None, None, training=True, eps=EPS).movedim(1, -1)
    assert_close(ours_by_feature.double(), ours.batch_norm_loops(wide, EPS), **close)


def test_every_norm_is_standardize_over_its_axes(rng):
    # identities between the layers
    x = normal((4, 6, 5, 3), rng)
    close = TOLERANCE[x.dtype]
    assert_close(ours.group_norm(x, 6), ours.instance_norm(x), **close)
    assert_close(ours.group_norm(x, 1), ours.layer_norm(x, (6, 5, 3)), **close)
    assert_close(ours.instance_norm(x), ours.layer_norm(x, (5, 3)), **close)
    assert_close(ours.batch_norm(x[:1], None, None, training=True), ours.instance_norm(x[:1]), **close)
    assert_close(ours.batch_norm(x, None, None, training=True), ours.standardize(x, (0, 2, 3)), **close)
    centered = x - x.mean(-1, keepdim=True)
    assert_close(ours.rms_norm(centered, (3,), eps=1e-5), ours.layer_norm(x, (3,)), **close)


def test_batch_norm_loops_takes_one_sequence_of_several_tokens(rng):
    x = torch.randn(1, 3, 2, generator=rng)
    assert_close(ours.batch_norm_loops(x), F.batch_norm(x.mT, None, None, training=True).mT)
