"""What the lesson says of the networks that it trains. Another processor rounds otherwise, so numbers differ."""

import ast
from statistics import mean

import pytest
import torch
from torch import nn

from authoring.lesson_panels import code_cells
from blocklab.batch_statistics import merge_statistics
from blocklab_course.lessons.small_batches.networks import NORMS, convolutions, merging, mlp
from lesson_functions import SOURCES

pytestmark = pytest.mark.exhaustive

DEFINITIONS = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's cells define, with the digits in its order."""
    space = {"merge": merge_statistics}
    with torch.random.fork_rng():
        for code, *_about in code_cells(SOURCES / "04_small_batches.py"):
            tree = ast.parse(code)
            if "load_digits()" not in code:
                tree.body = [part for part in tree.body if isinstance(part, DEFINITIONS)]
            exec(compile(tree, "04_small_batches", "exec"), space)
    return space


def test_the_networks_fail_where_m_is_2_and_nowhere_else(lesson):
    pairs, pixels, read = lesson["InPairs"], lesson["each_pixel"], lesson["mean_accuracy"]
    few = [(mlp, nn.BatchNorm1d, 2), (mlp, pairs, 2), (mlp, pairs, 32), (convolutions, pixels, 2)]
    many = [(mlp, nn.BatchNorm1d, 32), (convolutions, nn.BatchNorm2d, 2), (convolutions, nn.BatchNorm2d, 32)]
    many += [(convolutions, pixels, 32), (mlp, nn.BatchNorm1d, 4)]
    many += [(make, norm, 2) for make in NORMS for name, norm in NORMS[make].items() if name != "BatchNorm"]
    assert max(read(*run) for run in few) < 75
    assert min(read(*run) for run in many) > 89
    assert 85 < read(mlp, nn.BatchNorm1d, 3) < 92


def test_pairs_in_a_batch_of_32_are_mini_batches_of_2_whose_gradients_are_averaged(lesson):
    images, labels = lesson["images"][:32].double(), lesson["labels"][:32]
    nets = [mlp(norm).double() for norm in (lesson["InPairs"], nn.BatchNorm1d)]
    nets[1].load_state_dict(dict(zip(nets[1].state_dict(), nets[0].state_dict().values(), strict=True)))
    nn.functional.cross_entropy(nets[0](images), labels).backward()
    for x, y in zip(images.split(2), labels.split(2), strict=True):
        (nn.functional.cross_entropy(nets[1](x), y) / 16).backward()
    for one, other in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_batch_norm_is_the_best_of_three_at_batch_size_32(lesson):
    for make, norms in NORMS.items():
        batch, layer, group = (lesson["mean_accuracy"](make, norm, 32) for norm in norms.values())
        assert batch > max(layer, group) + 1


def test_a_wrong_merge_is_seen(lesson):
    right, within, plain = (
        lesson["mean_accuracy"](mlp, merging(lesson.get(name, merge_statistics)), 32)
        for name in ("merge", "within_only", "plain_mean")
    )
    assert right == pytest.approx(lesson["mean_accuracy"](mlp, nn.BatchNorm1d, 32), abs=1)
    assert within < 15
    assert 80 < plain < 92


def test_neither_better_statistics_nor_train_mends_a_network_trained_on_pairs(lesson):
    for size, low, high in ((2, 55, 75), (32, 94, 98)):
        found = [lesson["repaired"](lesson["trained"](mlp, nn.BatchNorm1d, size, start)) for start in range(5)]
        assert all(low < mean(each) < high for each in zip(*found, strict=True))


def test_with_pairs_most_channels_get_no_gradient_and_those_that_nearly_agree_get_far_too_much(lesson):
    largest, none, pairs = {}, {}, None
    for m in (32, 4, 2):
        pairs = tuple(map(torch.stack, zip(*(lesson["first_step"](m, start) for start in range(200)), strict=True)))
        largest[m], none[m] = pairs[0].amax(1).median(), (pairs[0] < 0.001).float().mean()
    assert largest[2] > 100 * largest[32]
    assert largest[32].item() / 300 == pytest.approx(0.001, rel=0.1)
    assert none[2] == pytest.approx(2 / 3, abs=0.03)
    assert max(none[4], none[32]) < 0.005
    gradients, gaps = pairs
    assert (gradients[gaps > 0.3] < 0.001).float().mean() > 0.9
    assert gradients[gaps < 0.02].median() > 10 * largest[32]
    assert (gaps[gradients > 5] < 0.02).float().mean() > 0.85


def test_with_pairs_every_channel_moves_too_far(lesson):
    def lengths(m, rate):
        nets = [lesson["trained"](mlp, nn.BatchNorm1d, m, start, rate) for start in range(5)]
        return torch.cat([lesson["moved"](net, start) for start, net in enumerate(nets)])

    assert lengths(32, 0.05).median() == pytest.approx(0.5, abs=0.1)
    assert lengths(2, 0.05).median() > 4
    assert lengths(2, 0.05).quantile(0.1) > 1


def test_a_tenth_of_the_learning_rate_does_not_mend_pairs(lesson):
    assert lesson["mean_accuracy"](mlp, nn.BatchNorm1d, 2, rate=0.005) < 80
    lengths = [lesson["moved"](lesson["trained"](mlp, nn.BatchNorm1d, 2, start, 0.005), start) for start in range(5)]
    assert torch.cat(lengths).median() == pytest.approx(1, abs=0.2)


def test_frozen_layers_are_better_with_pairs_and_worse_otherwise(lesson):
    read, frozen = lesson["mean_accuracy"], lesson["frozen"]
    for m, better in ((2, True), (4, False), (32, False)):
        assert (read(frozen, nn.BatchNorm1d, m) > read(mlp, nn.BatchNorm1d, m) + 1) == better
    net = lesson["trained"](frozen, nn.BatchNorm1d, 32, 0)
    assert not lesson["moved"](net, 0).any()
