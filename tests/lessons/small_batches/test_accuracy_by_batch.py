import numpy as np
import pytest

from blocklab.language import Text
from blocklab.lessons.small_batches.accuracy_by_batch import accuracy_by_batch

SCORES = {("BatchNorm", 2): [60.0, 70, 80], ("BatchNorm", 32): [97.0, 98, 99], ("LayerNorm", 2): [95.0, 95, 95]}
SCORES[("LayerNorm", 32)] = [94.0, 96, 98]


def test_a_dot_is_the_mean_and_its_bar_the_deviation(figure):
    accuracy_by_batch({Text(en="net", zh="网络"): SCORES})(figure)
    batch, layer = figure.axes[0].containers
    dots, _, (bars,) = batch.lines
    assert dots.get_ydata().tolist() == [70, 98]
    assert np.allclose([segment[:, 1] for segment in bars.get_segments()], [[60, 80], [97, 99]])
    assert layer.lines[0].get_ydata().tolist() == [95, 96]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["2", "32"]


@pytest.mark.parametrize("count", [1, 2])
def test_the_line_tells_the_means_at_the_smallest_batch(figure, count):
    nets = {Text(en=f"net {number}", zh=f"网络 {number}"): SCORES for number in range(count)}
    line = accuracy_by_batch(nets)(figure)()
    assert line.startswith("Batch size 2, net 0: BatchNorm 70%, LayerNorm 95%")
    assert line.count("BatchNorm 70%") == count
    assert len(figure.axes) == count
