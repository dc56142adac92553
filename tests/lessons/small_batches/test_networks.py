import pytest
import torch
from torch import nn

from blocklab.batch_statistics import merge_statistics
from blocklab_course.lessons.small_batches.networks import NORMS, convolutions, merging, mlp


@pytest.mark.parametrize(
    ("make", "norm", "values"), [(mlp, nn.BatchNorm1d, [3, 3]), (convolutions, nn.BatchNorm2d, [192, 48])]
)
def test_a_network_brings_as_many_values_to_each_mean_as_the_lesson_says(make, norm, values):
    net, seen = make(norm), []
    for layer in net:
        if isinstance(layer, norm):
            layer.register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0][:, 0].numel()))
    assert net(torch.randn(3, 1, 8, 8)).shape == (3, 10)
    assert seen == values


def test_one_group_of_all_channels_is_a_layer_norm():
    x = torch.randn(3, 8)
    for norms in NORMS.values():
        torch.testing.assert_close(norms["LayerNorm"](8)(x), nn.LayerNorm(8)(x))


def test_the_norms_of_the_mlp_stand_where_the_lesson_repairs_them():
    assert [place for place, layer in enumerate(mlp(nn.BatchNorm1d)) if isinstance(layer, nn.BatchNorm1d)] == [2, 5]


def test_samples_merged_one_by_one_give_the_batch_norm_of_all():
    x = 3 * torch.randn(5, 4, dtype=torch.float64) + 2
    ours, torchs = (norm(4).double() for norm in (merging(merge_statistics), nn.BatchNorm1d))
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    torch.testing.assert_close(ours(a), torchs(b))
    for norm, given in ((ours, a), (torchs, b)):
        norm(given).square().sum().backward()
        (norm(given) * torch.arange(20.0).view(5, 4)).sum().backward()
    torch.testing.assert_close(a.grad, b.grad)
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(getattr(ours, name), getattr(torchs, name))
    torch.testing.assert_close(ours.eval()(x), torchs.eval()(x))


def test_the_norm_merges_with_the_function_it_was_given():
    def nothing_between(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
        count, mean, _ = merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
        return count, mean, m2_a + m2_b

    x = torch.randn(5, 4)
    expected = (x - x.mean(0)) / 1e-5**0.5
    torch.testing.assert_close(merging(nothing_between)(4)(x), expected)
