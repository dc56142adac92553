"""EfficientNet-Lite0 names a real photograph with this package's BatchNorm, which is torch's on all its 49 layers."""

import copy

import pytest
import torch
from real_packages import loaded
from sklearn.datasets import load_sample_image
from torch import nn
from torch.testing import assert_close

from blocklab.normalization import BatchNorm
from blocklab_course.pretrained import load_efficientnet_lite0
from blocklab_course.pretrained.efficientnet_lite0 import prepare_picture
from tolerance import TOLERANCE

DAISY, PALACE = 985, 698
CLOSE = 1e-4  # of logits up to 9; measured in float32: 5e-6


@pytest.fixture(scope="module", autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@pytest.fixture(scope="module")
def net():
    return loaded(load_efficientnet_lite0)


@pytest.fixture(scope="module")
def pictures():
    """The two photographs of scikit-learn and the left half of the first, (3, 3, 224, 224)."""
    flower, china = (torch.from_numpy(load_sample_image(f"{name}.jpg").copy()) for name in ("flower", "china"))
    return torch.cat([prepare_picture(picture) for picture in (flower, china, flower[:, :320])])


@pytest.fixture(scope="module")
def inputs(net, pictures):
    """What each BatchNorm of the network really gets, by its name."""
    seen = {}
    hooks = [
        norm.register_forward_pre_hook(lambda norm, x, name=name: seen.update({name: x[0].detach()}))
        for name, norm in norms_of(net).items()
    ]
    net(pictures[:2])
    for hook in hooks:
        hook.remove()
    return seen


def norms_of(net):
    return {name: module for name, module in net.named_modules() if isinstance(module, BatchNorm)}


def torchs(norm):
    """torch's BatchNorm2d with the same numbers."""
    theirs = nn.BatchNorm2d(norm.num_features, norm.eps, norm.momentum, dtype=norm.weight.dtype)
    theirs.load_state_dict(copy.deepcopy(norm.state_dict()), strict=True)
    return theirs.train(norm.training)


def with_torchs_norms(net):
    net = copy.deepcopy(net)
    for name, norm in norms_of(net).items():
        net.set_submodule(name, torchs(norm), strict=True)
    return net


# It is right


def test_what_is_loaded(net):
    assert not net.training
    assert sum(p.numel() for p in net.parameters()) == 4_652_008
    assert len(net.state_dict()) == 296
    assert len(norms_of(net)) == 49


def test_photographs_get_their_names(net, pictures):
    probability, label = net(pictures[:2]).softmax(-1).max(-1)
    assert label.tolist() == [DAISY, PALACE]
    assert_close(probability, torch.tensor([0.210, 0.326]), rtol=0, atol=2e-3)


def test_a_picture_is_seen_the_same_alone_and_among_others(net, pictures):
    assert_close(net(pictures[:1])[0], net(pictures)[0], rtol=0, atol=CLOSE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_network_is_the_one_with_torchs_batch_norm(dtype, net, pictures):
    ours = copy.deepcopy(net).to(dtype)
    tolerance = {torch.float32: CLOSE, torch.float64: 1e-11}[dtype]
    x = pictures[:2].to(dtype)
    assert_close(ours(x), with_torchs_norms(ours)(x), rtol=0, atol=tolerance)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
def test_every_batch_norm_is_torchs_on_its_real_input(training, net, inputs):
    norms = norms_of(net)
    assert inputs.keys() == norms.keys()
    for name, norm in norms.items():
        ours = copy.deepcopy(norm).train(training)
        theirs = torchs(ours)
        y, expected = ours(inputs[name]), theirs(inputs[name])
        close = {"rtol": TOLERANCE[torch.float32]["rtol"], "atol": 1e-6 * expected.abs().max().item()}
        assert_close(y, expected, **close, msg=lambda text, name=name: f"{name}: {text}")
        for buffer, value in theirs.named_buffers():
            assert_close(ours.get_buffer(buffer), value, rtol=1e-5, atol=1e-6)
        assert ours.num_batches_tracked == training


# Mistakes move it past the tolerance


def with_batch_statistics(net):
    net.train()


def with_torchs_eps(net):
    for norm in norms_of(net).values():
        norm.eps = 1e-5


def without_running_mean(net):
    for norm in norms_of(net).values():
        norm.running_mean.zero_()


def variance_for_deviation(net):
    for norm in norms_of(net).values():
        norm.running_var.square_()


def weight_of_one(net):
    for norm in norms_of(net).values():
        norm.weight.fill_(1)


def bias_of_zero(net):
    for norm in norms_of(net).values():
        norm.bias.zero_()


MISTAKES = {  # what is done, and how far off it has been measured to be, rounded down
    "train() at inference": (with_batch_statistics, 7.0),
    "eps 1e-5 for 1e-3": (with_torchs_eps, 0.9),
    "no running mean": (without_running_mean, 8.0),
    "variance for deviation": (variance_for_deviation, 8.0),
    "weight 1": (weight_of_one, 8.0),
    "bias 0": (bias_of_zero, 20.0),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_seen(name, net, pictures):
    mistake, at_least = MISTAKES[name]
    x = pictures[:2]
    expected, wrong = with_torchs_norms(net)(x), copy.deepcopy(net)
    mistake(wrong)
    assert (wrong(x) - expected).abs().max().item() > at_least > CLOSE


def test_with_batch_statistics_the_daisy_depends_on_its_neighbours(net, pictures):
    alone, training = net(pictures), copy.deepcopy(net).train()
    first, second = training(pictures[[0, 2]]), training(pictures[[0, 1]])
    assert (first[0] - second[0]).abs().max() > 1
    assert alone[0].argmax() == DAISY
    assert DAISY not in (first[0].argmax(), second[0].argmax())
    assert all(norm.num_batches_tracked == 2 for norm in norms_of(training).values())
    assert all(norm.num_batches_tracked == 0 for norm in norms_of(net).values())


# Pictures


def test_a_picture_is_cut_in_the_middle_and_centred_at_127():
    picture = torch.full((224, 448, 3), 255, dtype=torch.uint8)
    picture[:, 112:336] = 127
    picture[:, 112:336, 2] = 255
    x = prepare_picture(picture)
    assert x.shape == (1, 3, 224, 224)
    assert_close(x[0, :, 5, 7], torch.tensor([0.0, 0.0, 1.0]))
    assert torch.equal(x[0, :2], torch.zeros(2, 224, 224))


@pytest.mark.parametrize("shape", [(3, 8, 9), (8, 9), (1, 8, 9, 3)], ids=str)
def test_a_picture_of_another_shape(shape):
    with pytest.raises(ValueError, match=r"wants a picture of shape \(H, W, 3\), got \("):
        prepare_picture(torch.zeros(shape))
