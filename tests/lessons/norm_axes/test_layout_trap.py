import pytest

from blocklab.lessons.norm_axes.layout_trap import layout_trap


def test_torch_refuses_unless_the_sizes_agree(figure):
    update = layout_trap(figure)
    line = update(length=5, channels=4, transpose=False)
    assert line.startswith("L = 5, C = 4: torch refuses. “")


def test_equal_sizes_fail_in_silence(figure):
    update = layout_trap(figure)
    line = update(length=4, channels=4, transpose=False)
    assert line == "L = 4, C = 4: no error, yet the 8 outputs that move belong to 4 features."


@pytest.mark.parametrize(("length", "channels"), [(4, 4), (3, 5), (5, 2)])
def test_after_the_transpose_one_feature_moves_at_every_position(figure, length, channels):
    update = layout_trap(figure)
    line = update(length=length, channels=channels, transpose=True)
    assert f"{2 * length} outputs move, all of one feature" in line
