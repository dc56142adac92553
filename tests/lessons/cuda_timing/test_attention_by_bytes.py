import re
from itertools import pairwise

import pytest

from blocklab_course.benchmarking.attention_bytes import attention_cost
from blocklab_course.lessons.cuda_timing.attention_by_bytes import (
    BANDWIDTH,
    GUESS,
    ROWS,
    SPEED,
    attention_by_bytes,
    panel,
)
from blocklab_course.lessons.cuda_timing.guess_then_bytes import DTYPES

USUAL = {"length": 4096, "head_dim": 128, "heads": 32, "dtype": "bfloat16"}


def blocks(figure, way):
    """(start, length, letter, written) of every block of a bar, from the left."""
    [axes] = figure.axes
    y, _ = ROWS[way]
    bar = [patch for patch in axes.patches if abs(patch.get_y() + patch.get_height() / 2 - y) < 0.1]
    letters = [text for text in axes.texts if text.get_text() in "qkvoSP" and text.get_position()[1] == y]
    found = zip(bar, letters, strict=True)
    return sorted((b.get_x(), b.get_width(), t.get_text(), bool(b.get_hatch())) for b, t in found)


def arithmetic(figure):
    [line] = [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    return line.get_xdata()[0]


def per_second(figure):
    return {"ms": 1e3, "µs": 1e6}[re.search(r"in (\w+):", figure.axes[0].get_xlabel())[1]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("length", "head_dim", "heads"), [(256, 256, 8), (4096, 128, 32), (16384, 32, 64)])
def test_bars_are_as_long_as_their_bytes_take(figure, length, head_dim, heads, dtype):
    attention_by_bytes(figure)(length, head_dim, heads, dtype)
    right = figure.axes[0].get_xlim()[1]
    for way in ROWS:
        found = blocks(figure, way)
        cost = attention_cost(length, head_dim, heads, DTYPES[dtype], way)
        assert found[0][0] == 0
        for (start, width, *_), (next_start, *_) in pairwise(found):
            assert start + width == pytest.approx(next_start)
        end = found[-1][0] + found[-1][1]
        assert end / per_second(figure) == pytest.approx(cost.moved / BANDWIDTH)
        assert arithmetic(figure) / per_second(figure) == pytest.approx(cost.flops / SPEED[dtype])
        assert max(end, arithmetic(figure)) < 0.9 * right


def test_scores_and_weights_are_written_and_read_once_each(figure):
    attention_by_bytes(figure)(**USUAL)
    order = [(letter, written) for *_, letter, written in blocks(figure, "plain")]
    assert order == [
        *(("q", False), ("k", False), ("S", True)),
        *(("S", False), ("P", True)),
        *(("P", False), ("v", False), ("o", True)),
    ]
    order = [(letter, written) for *_, letter, written in blocks(figure, "fused")]
    assert order == [("q", False), ("k", False), ("v", False), ("o", True)]


def test_the_lesson_says_what_is_seen(figure):
    line = attention_by_bytes(figure)(**USUAL)
    assert "three kernels move 4.43 GB, 33 times the 134 MB of one kernel" in line
    assert "Operations for each byte: 62 and 2048" in line
    assert "three kernels: bytes, 1.32 ms; one: arithmetic, 0.278 ms" in line


def test_what_takes_less_than_a_millisecond_is_told_in_microseconds(figure):
    update = attention_by_bytes(figure)
    line = update(**USUAL | {"length": 512})
    assert "three kernels: bytes, 25 µs; one: bytes, 5.01 µs" in line
    assert per_second(figure) == 1e6
    assert figure.axes[0].get_xlim()[1] > 25
    update(**USUAL)
    assert per_second(figure) == 1e3


def test_without_tensor_cores_arithmetic_is_the_limit_of_both(figure):
    line = attention_by_bytes(figure)(**USUAL | {"dtype": "float32"})
    assert "three kernels: arithmetic, 4.1 ms; one: arithmetic, 4.1 ms" in line


@pytest.mark.parametrize("length", [256, 512, 4096, 16384])
@pytest.mark.parametrize(
    ("head_dim", "limit"), [(32, "bytes"), (64, "bytes"), (128, "arithmetic"), (256, "arithmetic")]
)
def test_without_tensor_cores_narrow_heads_wait_for_bytes(figure, length, head_dim, limit):
    sizes = {"length": length, "head_dim": head_dim, "dtype": "float32"}
    line = attention_by_bytes(figure)(**USUAL | sizes)
    assert f"three kernels: {limit}, " in line
    assert "one: arithmetic, " in line


def test_the_exps_take_half_as_long_as_the_matrix_products():
    """At the 3.9e12 special functions a second that FlashAttention-3's paper (arXiv:2407.08608) gives for an H100."""
    exps = USUAL["heads"] * USUAL["length"] ** 2
    products = attention_cost(**{key: USUAL[key] for key in ("length", "head_dim", "heads")}, dtype=DTYPES["bfloat16"])
    assert round(1e3 * exps / 3.9e12, 2) == 0.14
    assert round(1e3 * products.flops / SPEED["bfloat16"], 2) == 0.28


@pytest.mark.parametrize(("length", "head_dim"), [(512, 128), (4096, 128), (4096, 64), (256, 256)])
@pytest.mark.parametrize("heads", [8, 32])
def test_neither_heads_nor_numbers_change_how_many_times(figure, length, head_dim, heads):
    update = attention_by_bytes(figure)
    for dtype in DTYPES:
        times = float(re.search(r"([\d.]+) times the", update(length, head_dim, heads, dtype))[1])
        assert times == pytest.approx(1 + length / head_dim, rel=5e-3)


def test_the_right_guess_is_how_many_times_as_many_bytes():
    shown = panel()
    before = float(re.search(r"([\d.]+) times the", shown.line)[1])
    shown.move(length=4096)
    assert float(re.search(r"([\d.]+) times the", shown.line)[1]) == GUESS.right
    assert before != GUESS.right
    assert before in GUESS.options.values()
