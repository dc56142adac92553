"""Which networks of the lesson learn digits, and what is left of them behind twenty plain layers."""

import functools

import pytest
import torch
import torch.nn.functional as F

from blocklab import standardize
from blocklab_course.lessons.why_normalize.linear_classifier import found_by_line
from blocklab_course.pretrained.digits import load_digits
from lesson_functions import function_of

pytestmark = pytest.mark.exhaustive

IMAGES, LABELS = load_digits()
PIXELS = IMAGES.flatten(1) / 16
NETWORK = function_of("01_why_normalize", "network")


def as_it_is(x):
    return x


def batch_norm(x):
    return standardize(x, 0)


def mean_kept(x):
    return x / (x.var(0, correction=0) + 1e-5).sqrt()


@functools.cache
def reached(norm, gain=1.0, network=NETWORK, **how):
    """The accuracy after training: the same each time it is trained alike."""
    logits = function_of("01_why_normalize", "logits")
    logits.__globals__.update(network=network, torch=torch)
    accuracy = function_of("01_why_normalize", "accuracy")
    accuracy.__globals__.update(logits=logits, pixels=PIXELS, labels=LABELS, torch=torch, F=F)
    return accuracy(norm, gain, **how)


@pytest.mark.parametrize(("norm", "gain"), [(as_it_is, 1), (batch_norm, 0.5), (batch_norm, 1), (batch_norm, 3)])
def test_the_right_gain_or_a_norm_lets_it_learn(norm, gain):
    assert reached(norm, gain) > 0.7


@pytest.mark.parametrize("gain", [0.5, 3, 100])
def test_another_gain_keeps_it_from_learning(gain):
    assert reached(as_it_is, gain) < 0.3


def test_at_gain_3_shorter_steps_learn_less_than_half():
    assert 0.4 < reached(as_it_is, 3, lr=0.01) < 0.5


@pytest.mark.parametrize("lr", [1, 1000])
def test_longer_steps_do_not_rescue_a_small_gain(lr):
    assert reached(as_it_is, 0.5, lr=lr) < 0.2


def test_at_gain_100_all_that_learns_is_the_readout():
    assert reached(batch_norm, 100) == pytest.approx(0.37, abs=0.02)
    for gain in (1, 100):
        assert reached(batch_norm, 100) == pytest.approx(reached(batch_norm, gain, lr=0), abs=0.02)


@pytest.mark.parametrize("gain", [0.1, 0.5, 100])
def test_a_learning_rate_scaled_by_the_square_of_the_gain_learns_as_at_gain_1(gain):
    scaled = reached(batch_norm, gain, lr=0.1 * gain**2)
    assert scaled == pytest.approx(reached(batch_norm, 1), abs=0.04)  # ε and rounding grow in training


def test_steps_that_are_too_long_keep_a_small_gain_from_learning():
    assert reached(batch_norm, 0.1) == pytest.approx(0.19, abs=0.04)


def test_at_gain_3_images_of_one_digit_are_as_far_apart_as_of_two():
    def alike(x):
        apart, same = torch.cdist(x, x), LABELS[:, None] == LABELS
        return (apart[same & ~torch.eye(len(x), dtype=torch.bool)].mean() / apart[~same].mean()).item()

    assert alike(PIXELS) == pytest.approx(0.73, abs=0.005)
    for seed in range(3):
        weights = 3 / 64**0.5 * torch.randn(20, 64, 64, generator=torch.Generator().manual_seed(seed))
        assert alike(NETWORK(PIXELS, weights, as_it_is, torch.tanh)[-1]) == pytest.approx(0.99, abs=0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt(),
        lambda x: (x - x.mean(0)) / (x.std(0, correction=0) + 1e-5),
    ],
    ids=["n - 1", "ε outside the root"],
)
def test_small_mistakes_are_hidden(wrong):
    assert reached(wrong) > 0.7


def test_a_mean_that_stays_in_the_numbers_alone_keeps_it_from_learning():
    assert reached(mean_kept) < 0.3


def test_such_a_network_saturates_until_hardly_any_gradient_is_left():
    shares, gradients = [], []

    def watched(x, weights, norm, activation):
        layers = NETWORK(x, weights, norm, activation)
        shares.append((layers[-1].abs() > 0.9).double().mean())
        layers[0].register_hook(lambda gradient: gradients.append(gradient.norm()))
        return layers

    assert reached(mean_kept, network=watched) < 0.3
    assert shares[0] < 0.2
    assert shares[10] > 0.995
    assert shares[20] == 1
    assert max(gradients[20:]) < 0.01 * max(gradients[:20])


@pytest.mark.parametrize(("axis", "least"), [(0, 0.89), (1, 0.8)])
def test_the_root_mean_square_counts_the_mean_in(axis, least):
    """Of six first weights that differ in rounding alone, the lowest were 0.909 and 0.852."""
    assert reached(lambda x: x / (x.square().mean(axis, keepdim=True) + 1e-5).sqrt()) > least


def test_behind_twenty_plain_layers_the_digits_are_tiny_and_still_apart():
    found = []
    for seed in range(20):
        torch.manual_seed(seed)
        layers = [layer for _ in range(20) for layer in (torch.nn.Linear(64, 64), torch.nn.Tanh())]
        x = torch.nn.Sequential(*layers).double()(PIXELS.double()).detach()
        assert x.std(0).mean() < 1e-5
        found.append(round(100 * found_by_line(x, LABELS)))
    assert (min(found), max(found)) == (84, 90)
    assert found_by_line(PIXELS, LABELS) == pytest.approx(0.86, abs=0.01)


def test_a_linear_classifier_finds_nothing_in_noise():
    noise = torch.randn(1797, 64, generator=torch.Generator().manual_seed(0))
    assert found_by_line(noise, LABELS) < 0.2


def test_gradient_descent_learns_nothing_from_the_start_of_a_linear_layer():
    assert reached(as_it_is, 0.58) == pytest.approx(0.09, abs=0.03)
