"""What the lesson says about the gain of its network and of first weights elsewhere."""

import pytest
import torch
from torch import nn

from blocklab import standardize
from lesson_functions import function_of

NETWORK = function_of("01_why_normalize", "network")


def last_layer(gain, norm):
    generator = torch.Generator().manual_seed(0)
    x, weights = torch.randn(256, 128, generator=generator), torch.randn(20, 128, 128, generator=generator)
    return NETWORK(x, gain / 128**0.5 * weights, norm, torch.tanh)[-1]


def test_without_a_norm_a_gain_of_100_sticks_at_the_ends():
    assert (last_layer(100, lambda x: x).abs() > 0.9).float().mean() > 0.98
    assert last_layer(0.5, lambda x: x).std() < 2e-6


def test_with_batch_norm_a_gain_of_100_hardly_changes_the_outputs():
    once, times_100 = (last_layer(gain, lambda x: standardize(x, 0)) for gain in (1, 100))
    assert 0 < (times_100 - once).abs().max() < 0.001


@pytest.mark.parametrize(
    ("start", "gain"),
    [
        (nn.init.xavier_uniform_, 1.0),
        (lambda weight: nn.init.kaiming_uniform_(weight, nonlinearity="relu"), 1.41),
        (lambda weight: weight, 0.58),
    ],
    ids=["Glorot", "He", "nn.Linear"],
)
def test_the_gain_of_first_weights(start, gain):
    torch.manual_seed(0)
    weight = start(nn.Linear(512, 512).weight.detach())
    assert weight.std().item() * 512**0.5 == pytest.approx(gain, abs=0.01)


def test_relu_keeps_the_size_at_the_root_of_2():
    torch.manual_seed(0)
    x, weights = torch.randn(64, 512), torch.randn(30, 512, 512) / 512**0.5
    small, same = (NETWORK(x, gain * weights, lambda x: x, torch.relu)[-1] for gain in (0.9, 2**0.5))
    assert small.square().mean().sqrt() == pytest.approx(1.3e-6, rel=0.6)
    assert same.square().mean().sqrt() == pytest.approx(1, rel=0.6)
