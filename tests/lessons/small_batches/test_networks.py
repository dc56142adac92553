import pytest
import torch
from torch import nn

from blocklab_course.lessons.small_batches.networks import NORMS, VALUES, convolutions, mlp


@pytest.mark.parametrize(("make", "norm"), [(mlp, nn.BatchNorm1d), (convolutions, nn.BatchNorm2d)])
def test_a_sample_brings_as_many_values_to_each_norm_as_is_said(make, norm):
    net, seen = make(norm), []
    for layer in net:
        if isinstance(layer, norm):
            layer.register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0][0, 0].numel()))
    assert net(torch.randn(3, 1, 8, 8)).shape == (3, 10)
    assert tuple(seen) == VALUES[make.__name__]


def test_one_group_of_all_channels_is_a_layer_norm():
    x = torch.randn(3, 8)
    for norms in NORMS.values():
        torch.testing.assert_close(norms["LayerNorm"](8)(x), nn.LayerNorm(8)(x))


def test_the_norms_of_the_mlp_stand_where_the_recount_looks_for_them():
    assert [place for place, layer in enumerate(mlp(nn.BatchNorm1d)) if isinstance(layer, nn.BatchNorm1d)] == [2, 5]
