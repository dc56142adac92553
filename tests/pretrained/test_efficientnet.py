"""EfficientNet-Lite0 classifies real photos with blocklab's BatchNorm, which matches torch's in all 49 layers."""

import copy

import pytest
import torch
from optional_models import load_or_skip
from sklearn.datasets import load_sample_image
from torch import nn
from torch.testing import assert_close

from blocklab.normalization import BatchNorm
from blocklab_course.pretrained import load_efficientnet_lite0
from blocklab_course.pretrained.efficientnet_lite0 import prepare_picture
from tolerance import TOLERANCE

DAISY, PALACE = 985, 698
CLOSE = 1e-4  # of logits up to 9; measured in float32: 5e-6


@pytest.fixture(scope="module")
def net():
    return load_or_skip(load_efficientnet_lite0)


@pytest.fixture(scope="module")
def pictures():
    """scikit-learn's two photos and the left half of the first, (3, 3, 224, 224)."""
    flower, china = (torch.from_numpy(load_sample_image(f"{name}.jpg").copy()) for name in ("flower", "china"))
    return torch.cat([prepare_picture(picture) for picture in (flower, china, flower[:, :320])])


@pytest.fixture(scope="module")
def inputs(net, pictures):
    """The real input of each BatchNorm, by name."""
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


def torch_batch_norm(norm):
    """torch's BatchNorm2d with the same state."""
    theirs = nn.BatchNorm2d(norm.num_features, norm.eps, norm.momentum, dtype=norm.weight.dtype)
    theirs.load_state_dict(copy.deepcopy(norm.state_dict()), strict=True)
    return theirs.train(norm.training)


def with_torch_norms(net):
    net = copy.deepcopy(net)
    for name, norm in norms_of(net).items():
        net.set_submodule(name, torch_batch_norm(norm), strict=True)
    return net


# Agreement with torch


def test_loaded_parameters(net):
    assert not net.training
    assert sum(p.numel() for p in net.parameters()) == 4_652_008
    assert len(net.state_dict()) == 296
    assert len(norms_of(net)) == 49


def test_classifies_photos(net, pictures):
    probability, label = net(pictures[:2]).softmax(-1).max(-1)
    assert label.tolist() == [DAISY, PALACE]
    assert_close(probability, torch.tensor([0.210, 0.326]), rtol=0, atol=2e-3)


def test_result_is_independent_of_batch(net, pictures):
    assert_close(net(pictures[:1])[0], net(pictures)[0], rtol=0, atol=CLOSE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_network_matches_torch_batch_norm(dtype, net, pictures):
    ours = copy.deepcopy(net).to(dtype)
    tolerance = {torch.float32: CLOSE, torch.float64: 1e-11}[dtype]
    x = pictures[:2].to(dtype)
    assert_close(ours(x), with_torch_norms(ours)(x), rtol=0, atol=tolerance)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
def test_each_batch_norm_matches_torch(training, net, inputs):
    norms = norms_of(net)
    assert inputs.keys() == norms.keys()
    for name, norm in norms.items():
        ours = copy.deepcopy(norm).train(training)
        theirs = torch_batch_norm(ours)
        y, expected = ours(inputs[name]), theirs(inputs[name])
        close = {"rtol": TOLERANCE[torch.float32]["rtol"], "atol": 1e-6 * expected.abs().max().item()}
        assert_close(y, expected, **close, msg=lambda text, name=name: f"{name}: {text}")
        for buffer, value in theirs.named_buffers():
            assert_close(ours.get_buffer(buffer), value, rtol=1e-5, atol=1e-6)
        assert ours.num_batches_tracked == training


# Mistakes


def use_batch_statistics(net):
    net.train()


def use_torch_eps(net):
    for norm in norms_of(net).values():
        norm.eps = 1e-5


def zero_running_mean(net):
    for norm in norms_of(net).values():
        norm.running_mean.zero_()


MISTAKES = {  # a change, and the measured error it causes, rounded down
    "train() at inference": (use_batch_statistics, 7.0),
    "eps 1e-5 for 1e-3": (use_torch_eps, 0.9),
    "no running mean": (zero_running_mean, 8.0),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_changes_logits(name, net, pictures):
    mistake, at_least = MISTAKES[name]
    x = pictures[:2]
    expected, wrong = with_torch_norms(net)(x), copy.deepcopy(net)
    mistake(wrong)
    assert (wrong(x) - expected).abs().max().item() > at_least > CLOSE


def test_training_mode_depends_on_batch(net, pictures):
    alone, training = net(pictures), copy.deepcopy(net).train()
    first, second = training(pictures[[0, 2]]), training(pictures[[0, 1]])
    assert (first[0] - second[0]).abs().max() > 1
    assert alone[0].argmax() == DAISY
    assert DAISY not in (first[0].argmax(), second[0].argmax())
    assert all(norm.num_batches_tracked == 2 for norm in norms_of(training).values())
    assert all(norm.num_batches_tracked == 0 for norm in norms_of(net).values())


# Pictures


def test_prepare_picture_crops_centre_and_normalizes():
    picture = torch.full((224, 448, 3), 255, dtype=torch.uint8)
    picture[:, 112:336] = 127
    picture[:, 112:336, 2] = 255
    x = prepare_picture(picture)
    assert x.shape == (1, 3, 224, 224)
    assert_close(x[0, :, 5, 7], torch.tensor([0.0, 0.0, 1.0]))
    assert torch.equal(x[0, :2], torch.zeros(2, 224, 224))


@pytest.mark.parametrize("shape", [(3, 8, 9), (8, 9)], ids=str)
def test_prepare_picture_rejects_wrong_shape(shape):
    with pytest.raises(ValueError, match=r"expected picture to have shape \(H, W, 3\), got \("):
        prepare_picture(torch.zeros(shape))
