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
def reached(norm, size=1.0, network=NETWORK, **how):
    """The accuracy after training: the same each time it is trained alike."""
    accuracy = function_of("01_why_normalize", "accuracy")
    accuracy.__globals__.update(network=network, pixels=PIXELS, labels=LABELS, torch=torch, F=F)
    return accuracy(norm, size, **how)


@pytest.mark.parametrize(("norm", "size"), [(as_it_is, 1), (batch_norm, 0.5), (batch_norm, 1), (batch_norm, 3)])
def test_weights_of_the_right_size_or_a_norm_let_it_learn(norm, size):
    assert reached(norm, size) > 0.7


@pytest.mark.parametrize("size", [0.5, 3])
def test_weights_of_another_size_keep_it_from_learning(size):
    assert reached(as_it_is, size) < 0.3


def test_behind_weights_of_100_all_that_learns_is_the_readout():
    assert reached(batch_norm, 100) == pytest.approx(reached(batch_norm, 100, layers_lr=0), abs=0.02)


def test_longer_steps_turn_larger_weights_as_fast():
    assert reached(batch_norm, 100, layers_lr=1000) == pytest.approx(reached(batch_norm, 1), abs=0.02)
    short, long = reached(batch_norm, 3), reached(batch_norm, 3, layers_lr=0.9)
    assert short == pytest.approx(0.80, abs=0.03)  # another rounding of the first weights moves them by 0.02
    assert long == pytest.approx(0.88, abs=0.03)


def test_behind_weights_of_3_images_of_one_digit_are_as_far_apart_as_of_two():
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
