import pytest
import torch

from blocklab_course.lessons.positional_encoding.learned_positions import LEAST, NEAR, cosines, learned_positions, panel
from blocklab_course.pretrained import minilm_positions


@pytest.fixture(scope="module")
def table():
    return minilm_positions()


def test_cosines_in_the_head():
    table = torch.tensor([[3.0, 0.0], [3.0, 4.0], [0.0, -2.0]])
    by_hand = torch.tensor([[1.0, 0.6, 0.0], [0.6, 1.0, -0.8], [0.0, -0.8, 1.0]])
    torch.testing.assert_close(cosines(table).float(), by_hand)


def test_the_slider_ends_at_the_last_position(table):
    position = panel(table[:60]).controls["position"]
    assert (*position.ends(), position.default) == (0, 59, 59)


def test_the_slider_of_a_long_table_has_few_stops(table):
    position = panel(table).controls["position"]
    assert (*position.ends(), position.default) == (0, 510, 100)
    assert position.last < 200


def test_the_lesson_says_what_is_seen(table):
    similar = cosines(table)
    means = [similar.diagonal(distance).mean().item() for distance in (1, 3, 6, 8, 12, 15, 64)]
    assert means == pytest.approx([0.85, 0.44, 0.69, 0.29, 0.57, 0.34, 0.14], abs=0.006)
    assert similar[100, 115].item() == pytest.approx(0.63, abs=0.005)


def test_no_similarity_lies_beyond_the_colours_or_the_curves_axis(figure, table):
    learned_positions(table)(figure)
    similar = cosines(table)
    assert similar.min() > LEAST
    assert min(similar.diagonal(distance).min() for distance in range(NEAR + 1)) > figure.axes[0].get_ylim()[0]


@pytest.mark.parametrize("position", [0, 100, 511])
def test_the_curves_are_rows_of_the_maps(figure, table, position):
    line = learned_positions(table)(figure)(position=position)
    curves = {curve.get_label(): curve for curve in figure.axes[0].lines}
    for name, axes in zip(("learned", "sines"), figure.axes[1:3], strict=True):
        row = axes.images[0].get_array()[position]
        places = curves[name].get_xdata() + position
        assert places.min() == max(position - 40, 0)
        assert places.max() == min(position + 40, 511)
        assert curves[name].get_ydata() == pytest.approx(row[places])
    assert line.startswith(f"Position {position}, learned: ")


def test_the_line_names_the_most_and_the_least_alike(figure, table):
    line = learned_positions(table)(figure)(position=100)
    to_all = [torch.cosine_similarity(table[100], other, dim=0).item() for other in table]
    others = [k for k in range(512) if k != 100]
    best, worst = max(others, key=to_all.__getitem__), min(others, key=to_all.__getitem__)
    assert f"most like position {best} ({to_all[best]:.2f})" in line
    assert f"least like {worst} (−{-to_all[worst]:.2f})" in line
    assert "Sines: most like 99 and 101 (0.97)" in line
