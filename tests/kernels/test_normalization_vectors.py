"""Examples worked by hand, and recorded numbers that need no random generator."""

import pytest
import torch
from torch.testing import assert_close

from blocklab import normalization as ours

TEN_DIGITS = {"rtol": 0, "atol": 1e-9}


def waves(count):
    return torch.sin(0.37 * torch.arange(count, dtype=torch.float64))


@pytest.fixture
def picture():
    """(N, C, H, W) = (2, 4, 3, 3); every channel has a scale and an offset of its own."""
    channel = torch.arange(4.0, dtype=torch.float64).view(1, 4, 1, 1)
    return waves(72).view(2, 4, 3, 3) * (channel + 1) + channel


def channels_last(norm, x, *arguments, **options):
    return norm(x.permute(0, 2, 3, 1), *arguments, **options).permute(0, 3, 1, 2)


PICTURE_VECTORS = {  # y[0, 0, 0, 0], y[1, 3, 2, 2], sum |y|
    "BatchNorm": (lambda x: ours.batch_norm(x, None, None, training=True), -1.2161289122, 2.1064519706, 60.5012901981),
    "InstanceNorm": (ours.instance_norm, -1.7812156400, 1.5991663858, 62.6875634094),
    "GroupNorm(2)": (lambda x: ours.group_norm(x, 2), -0.3022376973, 1.6818001203, 62.8702180683),
    "GroupNorm(1)": (lambda x: ours.group_norm(x, 1), -0.6712661515, 2.4207511748, 59.7205196634),
    "LayerNorm(C, H, W)": (lambda x: ours.layer_norm(x, (4, 3, 3)), -0.6712661515, 2.4207511748, 59.7205196634),
    "LayerNorm(C)": (lambda x: channels_last(ours.layer_norm, x, (4,)), -0.9778503444, 1.5859826103, 61.0840984639),
    "RMSNorm(C)": (lambda x: channels_last(ours.rms_norm, x, (4,), eps=1e-5), 0.0, 1.8733867748, 52.2302755368),
}


def test_picture_has_the_recorded_numbers(picture):
    got = torch.stack([picture[0, 0, 0, 1], picture[1, 3, 2, 2], picture.sum()]).tolist()
    assert got == pytest.approx([0.3616154320, 6.6299414465, 97.0171581931], abs=1e-9)


@pytest.mark.parametrize("name", PICTURE_VECTORS)
def test_norms_of_a_picture_match_recorded_numbers(name, picture):
    norm, first, last, total = PICTURE_VECTORS[name]
    y = norm(picture)
    assert y[0, 0, 0, 0].item() == pytest.approx(first, abs=1e-9)
    assert y[1, 3, 2, 2].item() == pytest.approx(last, abs=1e-9)
    assert y.abs().sum().item() == pytest.approx(total, abs=1e-8)


def test_batch_norm_of_sequences():
    x = waves(40).view(2, 5, 4)  # (N, L, d); batch_norm wants (N, d, L)
    expected = torch.tensor([-0.0716317838, 0.3877416439, 0.776451866, 1.056521791], dtype=torch.float64)
    y = ours.batch_norm(x.transpose(1, 2), None, None, training=True).transpose(1, 2)
    assert_close(y[0, 0], expected, **TEN_DIGITS)
    assert_close(ours.batch_norm_loops(x)[0, 0], expected, **TEN_DIGITS)


def test_batch_norm_mixes_rows_of_different_scale():
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]], dtype=torch.float64)
    layer_norm = [
        [-1.3416354200, -0.4472118067, 0.4472118067, 1.3416354200],
        [-1.3416407328, -0.4472135776, 0.4472135776, 1.3416407328],
    ]
    rms_norm = [
        [0.3651481282, 0.7302962565, 1.0954443847, 1.4605925130],
        [0.3651483692, 0.7302967385, 1.0954451077, 1.4605934769],
    ]
    batch_norm = [-0.9999997531, -0.9999999383, -0.9999999726, -0.9999999846]
    layer_norm_limit = [-1.3416407865, -0.4472135955, 0.4472135955, 1.3416407865]
    rms_norm_limit = [0.3651483717, 0.7302967433, 1.0954451150, 1.4605934867]
    results = [
        (ours.layer_norm(x, (4,)), layer_norm),
        (ours.rms_norm(x, (4,), eps=1e-5), rms_norm),
        (ours.batch_norm(x, None, None, training=True), [batch_norm, [-y for y in batch_norm]]),
        (ours.layer_norm(x, (4,), eps=0.0), [layer_norm_limit] * 2),
        (ours.rms_norm(x, (4,), eps=0.0), [rms_norm_limit] * 2),
    ]
    for y, expected in results:
        assert_close(y, torch.tensor(expected, dtype=torch.float64), **TEN_DIGITS)


def test_running_statistics_of_a_repeated_batch():
    # mean 3, biased variance 3.5, unbiased 14/3
    expected = [
        (0.3, 1.366666666667),
        (0.57, 1.696666666667),
        (0.813, 1.993666666667),
        (1.0317, 2.260966666667),
        (1.22853, 2.501536666667),
    ]
    norm = ours.BatchNorm(1, dtype=torch.float64)
    x = torch.tensor([[1.0], [2.0], [3.0], [6.0]], dtype=torch.float64)
    seen = []
    for _ in expected:
        norm(x)
        seen.append((norm.running_mean.item(), norm.running_var.item()))
    assert seen == [pytest.approx(pair, abs=1e-11) for pair in expected]


def test_small_cases_worked_by_hand():
    three_four = torch.tensor([3.0, 4.0], dtype=torch.float64)  # mean square 12.5; mean 3.5, deviations of one half
    assert_close(ours.rms_norm(three_four, (2,), eps=0.0), three_four / 12.5**0.5)
    assert_close(ours.layer_norm(three_four, (2,), eps=0.0), torch.tensor([-1.0, 1.0], dtype=torch.float64))
    # variance 0.25 and eps 0.75 make a root of 1: y is the deviation. Outside the root eps would leave 0.4.
    assert_close(ours.standardize(three_four, 0, eps=0.75), torch.tensor([-0.5, 0.5], dtype=torch.float64))
    # eval: (5 - 1) / sqrt(3 + 1) = 2, times 10, plus 7
    one = torch.ones(1)
    y = ours.batch_norm(torch.tensor([[5.0]]), one, 3 * one, 10 * one, 7 * one, eps=1.0)
    assert_close(y, torch.tensor([[27.0]]))
