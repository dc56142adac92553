import re

import pytest

from blocklab_course.lessons.cuda_timing.guess_then_bytes import DTYPES, guess_then_bytes, panel

# Reads and writes of a matrix, counted by hand from the formulas: (LayerNorm, RMSNorm), each (reads, writes).
PASSES = {
    ("eager", "forward"): ((6, 4), (4, 3)),
    ("fused", "forward"): ((1, 1), (1, 1)),
    ("fused", "backward"): ((2, 1), (2, 1)),
}
LAYER, RMS = 1.4, 0.0  # where the bars lie


def shown(figure, hatched, row):
    """The widths of the visible blocks of one norm."""
    [axes] = figure.axes
    blocks = [patch for patch in axes.patches if patch.get_visible() and bool(patch.get_hatch()) == hatched]
    return [block.get_width() for block in blocks if abs(block.get_y() + block.get_height() / 2 - row) < 0.1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("way", "direction"), PASSES)
def test_every_read_and_write_is_a_block(figure, way, direction, dtype):
    guess_then_bytes(figure)(way=way, direction=direction, dtype=dtype)
    for row, (reads, writes) in zip((LAYER, RMS), PASSES[way, direction], strict=True):
        size = DTYPES[dtype].itemsize
        assert shown(figure, False, row) == [size] * reads
        assert shown(figure, True, row) == [size] * writes


@pytest.mark.parametrize("way", ["eager", "fused"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_lie_end_to_end_inside_the_axes(figure, way, direction, dtype):
    line = guess_then_bytes(figure)(way=way, direction=direction, dtype=dtype)
    [axes] = figure.axes
    counts = map(int, re.findall(r"LayerNorm (\d+) bytes a number, RMSNorm (\d+)", line)[0])
    for row, count in zip((LAYER, RMS), counts, strict=True):
        blocks = [p for p in axes.patches if p.get_visible() and abs(p.get_y() + p.get_height() / 2 - row) < 0.1]
        ends = sorted((block.get_x(), block.get_x() + block.get_width()) for block in blocks)
        assert [end for _, end in ends[:-1]] == [start for start, _ in ends[1:]]
        assert (ends[0][0], ends[-1][1]) == (0, count)
        assert count < 0.95 * axes.get_xlim()[1]


def signs(figure):
    [axes] = figure.axes
    return [text.get_text() for text in axes.texts if text.get_text() and "bytes" not in text.get_text()]


def test_every_step_of_the_way_there_is_named(figure):
    update = guess_then_bytes(figure)
    update(way="eager", direction="forward", dtype="bfloat16")
    assert signs(figure) == [*("μ", "σ²", "− μ", "÷ σ", "× γ", "+ β"), *("x²", "RMS²", "÷ RMS", "× γ")]
    update(way="eager", direction="backward", dtype="bfloat16")
    assert signs(figure) == []
    update(way="fused", direction="forward", dtype="bfloat16")
    assert signs(figure) == []


def test_the_lesson_predicts_what_is_seen(figure):
    update = guess_then_bytes(figure)
    steps = update(way="eager", direction="forward", dtype="bfloat16")
    assert "LayerNorm 20 bytes a number, RMSNorm 14" in steps
    assert "1.43 times as fast." in steps
    assert "LayerNorm 4 bytes a number, RMSNorm 4" in update("fused", "forward", "bfloat16")
    assert "LayerNorm 68 bytes a number, RMSNorm 58" in update("eager", "backward", "bfloat16")
    assert "LayerNorm 6 bytes a number, RMSNorm 6" in update("fused", "backward", "bfloat16")
    assert "LayerNorm 40 bytes a number, RMSNorm 28" in update("eager", "forward", "float32")


def test_the_right_guess_is_how_many_times_as_fast_one_kernel_is():
    shown = panel()
    guess = shown.prediction
    shown.move(way="fused")
    bytes_moved, times = re.search(r"LayerNorm (\d+) bytes .* is ([\d.]+) times", shown.line).groups()
    assert guess.right == float(times)
    assert f"{bytes_moved} bytes long" in str(guess.explanation)
