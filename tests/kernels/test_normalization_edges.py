"""Cases between those of the other tests: devices of buffers and biases, a single channel, a single sequence."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from blocklab.normalization import BatchNorm, GroupNorm, batch_norm, batch_norm_loops

NORMS = {
    "BatchNorm": lambda **options: BatchNorm(4, **options),
    "GroupNorm": lambda **options: GroupNorm(2, 4, **options),
}


@pytest.mark.parametrize("name", NORMS)
def test_every_parameter_and_buffer_is_on_the_given_device(name):
    assert {tensor.device.type for tensor in NORMS[name](device="meta").state_dict().values()} == {"meta"}


def test_batch_norm_refuses_a_single_number_in_training():
    with pytest.raises(ValueError, match="more than one value"):
        batch_norm(torch.zeros(1, 1), None, None, training=True)


def test_batch_norm_loops_takes_one_sequence_of_several_tokens(rng):
    x = torch.randn(1, 3, 2, generator=rng)
    expected = nn.BatchNorm1d(2)(x.transpose(1, 2)).transpose(1, 2)
    assert_close(batch_norm_loops(x), expected.detach())
