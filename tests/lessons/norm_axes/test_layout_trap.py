import pytest

from blocklab_course.lessons.norm_axes.layout_trap import layout_trap, panel


def test_torch_refuses_unless_the_sizes_agree(figure):
    update = layout_trap(figure)
    line = update(length=5, width=4, transpose=False)
    assert line.startswith("L = 5, d = 4: torch refuses. “")


def test_equal_sizes_fail_in_silence(figure):
    update = layout_trap(figure)
    line = update(length=4, width=4, transpose=False)
    assert line == "L = 4, d = 4: no error, yet the 8 outputs that change belong to 4 features."


@pytest.mark.parametrize(("length", "width"), [(4, 4), (3, 5), (5, 2)])
def test_after_the_transpose_one_feature_moves_at_every_position(figure, length, width):
    update = layout_trap(figure)
    line = update(length=length, width=width, transpose=True)
    assert f"{2 * length} outputs change, all of one feature" in line


def test_nothing_is_refused_where_the_sizes_agree(figure):
    update, refused = layout_trap(figure), {}
    for length in range(2, 6):
        for width in range(2, 6):
            refused[length, width] = "refuses" in update(length=length, width=width, transpose=False)
    assert {sizes for sizes, error in refused.items() if not error} == {(size, size) for size in range(2, 6)}


@pytest.mark.parametrize(("length", "said"), [(3, True), (4, False)])
def test_the_picture_says_so_when_torch_refuses(figure, length, said):
    layout_trap(figure)(length=length, width=4, transpose=False)
    [error] = [text for text in figure.texts if text.get_text() == "error: no output"]
    assert error.get_visible() == said


def test_the_right_guess_is_the_row_that_rises(monkeypatch):
    painted = []
    monkeypatch.setattr(
        "blocklab_course.lessons.norm_axes.layout_trap.paint", lambda _blocks, moved, *_: painted.append(moved)
    )
    shown = panel()
    shown.move(length=4)
    raised = painted[-1].reshape(2, 4, 4)  # (N, L, d)
    assert raised[:, 1].all()
    assert raised.sum() == 8
    assert shown.prediction.right == "position"
