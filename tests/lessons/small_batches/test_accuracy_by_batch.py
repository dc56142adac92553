import numpy as np
import pytest
import torch

from blocklab_course.i18n import use_language
from blocklab_course.lessons.small_batches.accuracy_by_batch import (
    NETS,
    accuracy_by_batch,
    by_network,
    marks,
    show_gradients,
    show_shares,
    show_suspects,
    table,
)
from blocklab_course.lessons.small_batches.networks import convolutions, mlp

SCORES = {("BatchNorm", 2): [60.0, 70, 80], ("BatchNorm", 32): [97.0, 98, 99], ("LayerNorm", 2): [95.0, 95, 95]}
SCORES[("LayerNorm", 32)] = [94.0, 96, 98]


def test_a_dot_is_the_mean_and_its_bar_the_deviation(figure):
    accuracy_by_batch({"mlp": SCORES})(figure)
    batch, layer = figure.axes[0].containers
    dots, _, (bars,) = batch.lines
    assert dots.get_ydata().tolist() == [70, 98]
    assert np.allclose([segment[:, 1] for segment in bars.get_segments()], [[60, 80], [97, 99]])
    assert layer.lines[0].get_ydata().tolist() == [95, 96]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["2\nm = 2", "32\nm = 32"]


@pytest.mark.parametrize("count", [1, 2])
def test_the_line_tells_the_means_at_the_smallest_batch(figure, count):
    line = accuracy_by_batch(dict.fromkeys(list(NETS)[:count], SCORES))(figure)()
    assert line.startswith("Batch size 2, MLP: BatchNorm 70%, LayerNorm 95%")
    assert line.count("BatchNorm 70%") == count
    assert len(figure.axes) == count


def test_the_table_has_every_mean_with_its_words():
    scores = {"mlp": SCORES, "convolutions": {("GroupNorm", 32): [89.6], ("GroupNorm", 2): [50.0, 51.2]}}
    assert table(scores).splitlines() == [
        "Test accuracy with batch sizes 2, 32",
        "MLP, BatchNorm: 70%, 98%",
        "MLP, LayerNorm: 95%, 96%",
        "convolutions, GroupNorm: 51%, 90%",
    ]
    with use_language("zh"):
        assert table(scores).splitlines()[::3] == ["批量大小为 2、32 时的测试准确率", "卷积网络，组归一化：51%、90%"]


def test_the_starts_of_a_network_come_together():
    runs = {(mlp, "BatchNorm", 2, 0): 60.0, (mlp, "BatchNorm", 4, 0): 90.0, (mlp, "BatchNorm", 2, 1): 70.0}
    assert by_network(runs | {(convolutions, "GroupNorm", 2, 0): 80.0}) == {
        "mlp": {("BatchNorm", 2): [60.0, 70.0], ("BatchNorm", 4): [90.0]},
        "convolutions": {("GroupNorm", 2): [80.0]},
    }


def test_under_each_batch_size_stands_every_m():
    assert marks("convolutions", [2, 4]) == ["2\nm = 128, 32", "4\nm = 256, 64"]


def test_what_the_recount_finds_is_printed_with_its_words(capsys):
    show_shares("within_alone", [0.4496, 0.2792], 96.1)
    show_suspects(2, 0, 70.4, 36.8, 69.8, 38.6, 71.4)
    shares, suspects = capsys.readouterr().out.splitlines()
    assert shares == "within_alone: 45%, 28% of the variance; test accuracy 96%"
    assert suspects == (
        "trained on 2, start 0: stored 70%, wiped 37%, recounted 70%; in train() 2 at a time 39%, 32 at a time 71%"
    )


def test_the_gradient_of_a_layer_is_the_median_of_the_starts_and_counts_units_with_hardly_any(capsys):
    show_gradients(2, torch.tensor([[3.0, 4.0, 0, 0], [0, 0.0009, 0.002, 1.0], [6.0, 8.0, 0, 0]]))
    assert capsys.readouterr().out == "m = 2: the whole gradient is 5.0; units with less than 0.001: 50%\n"
