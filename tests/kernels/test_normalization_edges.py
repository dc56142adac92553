"""Cases between those of the other tests: the device of a GroupNorm, a batch of one sequence."""

import torch
from torch import nn
from torch.testing import assert_close

from blocklab.normalization import GroupNorm, batch_norm_loops


def test_group_norm_creates_its_parameters_on_the_given_device():
    norm = GroupNorm(2, 4, device="meta")
    assert (norm.weight.device.type, norm.bias.device.type) == ("meta", "meta")


def test_batch_norm_loops_takes_one_sequence_of_several_tokens(rng):
    x = torch.randn(1, 3, 2, generator=rng)
    expected = nn.BatchNorm1d(2)(x.transpose(1, 2)).transpose(1, 2)
    assert_close(batch_norm_loops(x), expected.detach())
