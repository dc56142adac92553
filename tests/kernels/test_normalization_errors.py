"""Error messages, and that nothing broadcasts silently."""

import pytest
import torch

from blocklab import normalization as ours

x = torch.ones(2, 6, 5)  # (N, C, L)
six, five, one = torch.ones(6), torch.ones(5), torch.ones(1)
NAN = float("nan")

WRONG_VALUES = {
    # a vector that is too short, too long, or of length one, which would broadcast
    "batch_norm: expected weight to have shape (6,), got (5,)": lambda: ours.batch_norm(
        x, None, None, five, training=True
    ),
    "batch_norm: expected weight to have shape (6,), got (1,)": lambda: ours.batch_norm(
        x, None, None, one, training=True
    ),
    "batch_norm: expected bias to have shape (6,), got (1,)": lambda: ours.batch_norm(
        x, None, None, six, one, training=True
    ),
    "batch_norm: expected bias to have shape (6,), got (6, 1)": lambda: ours.batch_norm(x, six, six, six, six[:, None]),
    "batch_norm: expected running_mean to have shape (6,), got (1,)": lambda: ours.batch_norm(x, one, six),
    "batch_norm: expected running_var to have shape (6,), got (1,)": lambda: ours.batch_norm(
        x, six, one, training=True
    ),
    "instance_norm: expected weight to have shape (6,), got (5,)": lambda: ours.instance_norm(x, weight=five),
    "instance_norm: expected bias to have shape (6,), got (1,)": lambda: ours.instance_norm(x, bias=one),
    "instance_norm: expected running_mean to have shape (6,), got (5,)": lambda: ours.instance_norm(x, five, six),
    "instance_norm: expected running_var to have shape (6,), got (1,)": lambda: ours.instance_norm(x, six, one),
    "layer_norm: expected weight to have shape (5,), got (1,)": lambda: ours.layer_norm(x, (5,), one),
    "layer_norm: expected weight to have shape (6, 5), got (5,)": lambda: ours.layer_norm(x, (6, 5), five),
    "layer_norm: expected bias to have shape (5,), got (6,)": lambda: ours.layer_norm(x, (5,), five, six),
    "layer_norm: expected x to end with shape (6,), got (2, 6, 5)": lambda: ours.layer_norm(x, (6,)),
    "layer_norm: expected x to end with shape (5, 5), got (5,)": lambda: ours.layer_norm(five, (5, 5)),
    "layer_norm: expected normalized_shape to have at least one axis, got ()": lambda: ours.layer_norm(x, ()),
    "group_norm: expected weight to have shape (6,), got (2,)": lambda: ours.group_norm(x, 2, torch.ones(2)),
    "group_norm: expected bias to have shape (6,), got (1,)": lambda: ours.group_norm(x, 2, bias=one),
    "group_norm: expected num_groups to divide the 6 channels, got 4": lambda: ours.group_norm(x, 4),
    "group_norm: expected num_groups to be at least 1, got 0": lambda: ours.group_norm(x, 0),
    "rms_norm: expected weight to have shape (5,), got (1,)": lambda: ours.rms_norm(x, (5,), one),
    "rms_norm: expected x to end with shape (2, 6), got (2, 6, 5)": lambda: ours.rms_norm(x, (2, 6)),
    # too few axes, or too few numbers to have a variance
    "batch_norm: expected x to have shape (N, C) or (N, C, *), got (5,)": lambda: ours.batch_norm(
        five, None, None, None
    ),
    "batch_norm: expected x to have shape (N, C) or (N, C, *), got ()": lambda: ours.batch_norm(five[0], None, None),
    "instance_norm: expected x to have shape (N, C, *), got (5,)": lambda: ours.instance_norm(five),
    "group_norm: expected x to have shape (N, C) or (N, C, *), got (5,)": lambda: ours.group_norm(five, 1),
    "batch_norm: expected more than one value per channel in training, got (1, 1)": lambda: ours.batch_norm(
        x[:1, :1, 0], None, None, training=True
    ),
    "batch_norm: expected more than one value per channel in training, got (1, 6)": lambda: ours.batch_norm(
        x[:1, :, 0], None, None, training=True
    ),
    "batch_norm: expected more than one value per channel in training, got (1, 6, 1, 1)": lambda: ours.BatchNorm(6)(
        torch.ones(1, 6, 1, 1)
    ),
    "instance_norm: expected more than one value per sample and channel, got (2, 6, 1)": lambda: ours.instance_norm(
        x[..., :1]
    ),
    "instance_norm: expected more than one value per sample and channel, got (2, 6)": lambda: ours.instance_norm(
        x[..., 0]
    ),
    "group_norm: expected more than one value per group, got (1, 6)": lambda: ours.group_norm(x[:1, :, 0], 6),
    "batch_norm_loops: expected more than one value per statistic, got (1, 1, 5)": lambda: ours.batch_norm_loops(
        x[:1, :1]
    ),
    "batch_norm_loops: expected more than one value per statistic, got (1, 6, 5)": lambda: ours.batch_norm_loops(
        x[:1], per_position=True
    ),
    "batch_norm_loops: expected x to have shape (N, L, d), got (6, 5)": lambda: ours.batch_norm_loops(x[0]),
    "layer_norm_loops: expected x to have shape (N, L, d), got (1, 2, 6, 5)": lambda: ours.layer_norm_loops(x[None]),
    # running statistics
    "batch_norm: expected both running_mean and running_var or neither, got only running_mean": lambda: ours.batch_norm(
        x, six, None, training=True
    ),
    "instance_norm: expected both running_mean and running_var or neither, got only running_var": lambda: (
        ours.instance_norm(x, None, six)
    ),
    "batch_norm: expected running_mean and running_var, or to use the batch's, got None": lambda: ours.batch_norm(
        x, None, None
    ),
    "instance_norm: expected running_mean and running_var, or to use the batch's, got None": lambda: ours.instance_norm(
        x, use_input_stats=False
    ),
    # axes
    "standardize: expected axes between -3 and 2, at least one, got 3": lambda: ours.standardize(x, 3),
    "standardize: expected axes between -3 and 2, at least one, got (0, -4)": lambda: ours.standardize(x, (0, -4)),
    "standardize: expected axes between -3 and 2, at least one, got ()": lambda: ours.standardize(x, ()),
    "standardize: expected different axes, got (2, -1) for x of shape (2, 6, 5)": lambda: ours.standardize(x, (2, -1)),
    # ranges, in what torch lacks and in Modules
    "standardize: expected eps to be at least 0, got -1e-05": lambda: ours.standardize(x, 0, -1e-5),
    "batch_norm_loops: expected eps to be at least 0, got -1.0": lambda: ours.batch_norm_loops(x, -1),
    "layer_norm_loops: expected eps to be at least 0, got -1.0": lambda: ours.layer_norm_loops(x, -1),
    "BatchNorm: expected eps to be at least 0, got -0.1": lambda: ours.BatchNorm(6, eps=-0.1),
    "LayerNorm: expected eps to be at least 0, got -0.1": lambda: ours.LayerNorm(6, eps=-0.1),
    "GroupNorm: expected eps to be at least 0, got -0.1": lambda: ours.GroupNorm(2, 6, eps=-0.1),
    "RMSNorm: expected eps to be at least 0, got -0.1": lambda: ours.RMSNorm(6, eps=-0.1),
    "LayerNorm: expected eps to be at least 0, got nan": lambda: ours.LayerNorm(6, eps=NAN),
    "BatchNorm: expected momentum to be between 0 and 1, got 1.1": lambda: ours.BatchNorm(6, momentum=1.1),
    "BatchNorm: expected momentum to be between 0 and 1, got -0.1": lambda: ours.BatchNorm(6, momentum=-0.1),
    "BatchNorm: expected num_features to be at least 0, got -1": lambda: ours.BatchNorm(-1),
    "GroupNorm: expected num_channels to be at least 0, got -6": lambda: ours.GroupNorm(2, -6),
    "GroupNorm: expected num_groups to be at least 1, got 0": lambda: ours.GroupNorm(0, 6),
    "GroupNorm: expected num_groups to divide the 6 channels, got 4": lambda: ours.GroupNorm(4, 6),
    # torch lets these two pass when the Module has no weight
    "BatchNorm: expected x to have shape (N, 5, *), got (2, 6, 5)": lambda: ours.BatchNorm(
        5, affine=False, track_running_stats=False
    )(x),
    "GroupNorm: expected x to have shape (N, 4, *), got (2, 6, 5)": lambda: ours.GroupNorm(2, 4, affine=False)(x),
    "BatchNorm: expected x to have shape (N, 5, *), got (5,)": lambda: ours.BatchNorm(5)(five),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_value_error_messages(message):
    with pytest.raises(ValueError) as caught:
        WRONG_VALUES[message]()
    assert str(caught.value) == message


integers = torch.ones(2, 6, 5, dtype=torch.int64)
WRONG_TYPES = {
    "batch_norm: expected x to be a tensor, got list [1.0]": lambda: ours.batch_norm([1.0], None, None),
    "layer_norm: expected x to be a tensor, got NoneType": lambda: ours.layer_norm(None, (5,)),
    "layer_norm: expected weight to be a tensor, got list [1.0, 1.0, 1.0, 1.0, 1.0]": lambda: ours.layer_norm(
        x, (5,), [1.0] * 5
    ),
    "batch_norm: expected x to have a floating point dtype, got torch.int64": lambda: ours.batch_norm(
        integers, six, six
    ),
    "layer_norm: expected x to have a floating point dtype, got torch.bool": lambda: ours.layer_norm(
        integers.bool(), (5,)
    ),
    "layer_norm: expected weight to have a floating point dtype, got torch.int64": lambda: ours.layer_norm(
        x, (5,), five.to(torch.int64)
    ),
    "layer_norm: expected x to have a floating point dtype, got torch.complex64": lambda: ours.layer_norm(
        x.to(torch.complex64), (5,)
    ),
    "group_norm: expected num_groups to be an integer, got float 2.0": lambda: ours.group_norm(x, 2.0),
    "layer_norm: expected normalized_shape to be a tuple of integers, got 5": lambda: ours.layer_norm(x, 5),
    "rms_norm: expected normalized_shape to be a tuple of integers, got (5.0,)": lambda: ours.rms_norm(x, (5.0,)),
    "standardize: expected axes to be an integer or a tuple of integers, got 1.0": lambda: ours.standardize(x, 1.0),
    "standardize: expected axes to be an integer or a tuple of integers, got 'NL'": lambda: ours.standardize(x, "NL"),
    "BatchNorm: expected num_features to be an integer, got float 6.0": lambda: ours.BatchNorm(6.0),
    "BatchNorm: expected eps to be a number, got str '0.1'": lambda: ours.BatchNorm(6, "0.1"),
    "LayerNorm: expected eps to be a number, got NoneType": lambda: ours.LayerNorm(6, None),
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_type_error_messages(message):
    with pytest.raises(TypeError) as caught:
        WRONG_TYPES[message]()
    assert str(caught.value) == message


def test_rejected_batch_leaves_running_statistics_unchanged():
    norm = ours.BatchNorm(6)
    with pytest.raises(ValueError, match="more than one value"):
        norm(torch.ones(1, 6))
    assert torch.equal(norm.running_mean, torch.zeros(6))
    assert torch.equal(norm.running_var, torch.ones(6))
    assert norm.num_batches_tracked == 0


with torch.inference_mode():
    inference = torch.full((6,), 2.0)
NOT_WRITABLE = {"an expanded tensor": torch.full((1,), 2.0).expand(6), "an inference tensor": inference}


@pytest.mark.parametrize("kind", NOT_WRITABLE)
@pytest.mark.parametrize("function", [ours.batch_norm, ours.instance_norm])
def test_running_statistics_are_updated_together_or_not_at_all(function, kind, rng):
    x, refused, start = torch.randn(4, 6, 5, generator=rng), NOT_WRITABLE[kind], torch.rand(6, generator=rng)
    from_batch = {ours.batch_norm: {"training": True}, ours.instance_norm: {"use_input_stats": True}}[function]
    for name, other in (("running_mean", "running_var"), ("running_var", "running_mean")):
        writable = start.clone()
        with pytest.raises(ValueError, match=f"^{function.__name__}: expected {name} to be writable, got {kind}$"):
            function(x, **{name: refused, other: writable}, **from_batch)
        assert torch.equal(writable, start)
        assert torch.equal(refused, torch.full((6,), 2.0))


def test_running_statistics_that_are_only_read_need_not_be_writable():
    expanded = NOT_WRITABLE["an expanded tensor"]
    for frozen in NOT_WRITABLE.values():
        ours.batch_norm(x, frozen, frozen)
        ours.instance_norm(x, frozen, frozen, use_input_stats=False)
    with torch.inference_mode():
        ours.batch_norm(x, inference.clone(), inference.clone(), training=True)
    ours.batch_norm(x[:, :1], expanded[:1].clone().expand(1), torch.ones(1), training=True)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_refused_batch_is_not_counted(momentum):
    norm = ours.BatchNorm(6, momentum=momentum)
    norm.running_var = NOT_WRITABLE["an expanded tensor"]
    with pytest.raises(ValueError, match="expected running_var to be writable"):
        norm(x)
    assert norm.num_batches_tracked == 0
    assert torch.equal(norm.running_mean, torch.zeros(6))


def test_functions_accept_any_eps_and_momentum_like_torch():
    mean, var = torch.zeros(6), torch.ones(6)
    ours.batch_norm(x, mean, var, training=True, momentum=-1.0, eps=-0.5)
    ours.instance_norm(x, mean, var, momentum=2.0, eps=-0.5)
    ours.layer_norm(x, (5,), eps=-0.5)
    ours.group_norm(x, 2, eps=-0.5)
    ours.rms_norm(x, (5,), eps=-0.5)
    # the batch's mean is 1: 0 - 1 * (1 - 0) = -1, then -1 + 2 * (1 + 1) = 3
    assert torch.equal(mean, torch.full((6,), 3.0))
