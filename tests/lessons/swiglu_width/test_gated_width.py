import re
from itertools import pairwise

import pytest

from blocklab_course.lessons.swiglu_width.gated_width import LONGEST, gated_width


def boxes(figure):
    """Of SwiGLU's matrices, in units of d_model²: where each part starts and how long it is."""
    return [(patch.get_x(), patch.get_width()) for patch in figure.axes[1].patches[2:]]


@pytest.mark.parametrize(
    ("d_model", "multiple_of", "multiplier", "wanted", "width"),
    [
        (4096, 256, 1.0, 10922, 11008),
        (512, 256, 1.0, 1365, 1536),
        (768, 256, 1.0, 2048, 2048),
        (4096, 1024, 1.3, 14198, 14336),
        (256, 1024, 0.5, 341, 1024),
    ],
)
def test_lengths_are_parameters(figure, d_model, multiple_of, multiplier, wanted, width):
    line = gated_width(figure)(d_model=d_model, multiple_of=multiple_of, multiplier=multiplier)
    assert f"→ {wanted}. " in line
    assert f"· {multiple_of} = {width}, {width - wanted} more" in line
    assert float(re.findall(r"([\d.]+) times the MLP", line)[0]) == pytest.approx(3 * width / (8 * d_model), abs=5e-5)
    parts = boxes(figure)
    assert [length for _, length in parts[0::2]] == pytest.approx([wanted / d_model] * 3)
    assert [length for _, length in parts[1::2]] == pytest.approx([(width - wanted) / d_model] * 3, abs=1e-12)
    for (start, length), (following, _) in pairwise(parts):
        assert following == pytest.approx(start + length)
    full, rest = figure.axes[0].patches
    assert rest.get_width() == pytest.approx((width - wanted) / multiple_of)
    assert rest.get_x() == pytest.approx(full.get_x() + full.get_width())


def test_everything_fits_the_axis(figure):
    update = gated_width(figure)
    for d_model in range(256, 8193, 256):
        for multiplier in (0.5, 1.0, 1.3, 1.5):
            update(d_model=d_model, multiple_of=1024, multiplier=multiplier)
            start, length = boxes(figure)[-1]
            assert start + length < LONGEST


def test_the_lesson_says_where_both_are_equal(figure):
    update = gated_width(figure)
    for d_model in (768, 1536):
        assert "1.0000 times" in update(d_model=d_model, multiple_of=256, multiplier=1.0)
    assert "1.1250 times" in update(d_model=512, multiple_of=256, multiplier=1.0)
    assert "1.0078 times" in update(d_model=4096, multiple_of=256, multiplier=1.0)
    assert "1.0312 times" in update(d_model=1024, multiple_of=256, multiplier=1.0)
    assert "→ 21845, times 1.3 → 28398. " in update(d_model=8192, multiple_of=1024, multiplier=1.3)


def test_nothing_is_hatched_where_nothing_is_added(figure):
    update = gated_width(figure)
    hatched = [figure.axes[0].patches[1], *figure.axes[1].patches[3::2]]
    for d_model, seen in ((768, False), (512, True)):
        update(d_model=d_model, multiple_of=256, multiplier=1.0)
        assert [patch.get_visible() for patch in hatched] == [seen] * 4


def test_the_hint_of_the_exercise_can_be_followed(figure):
    update = gated_width(figure)
    assert "→ 682, times 1.3 → 886. " in update(d_model=256, multiple_of=1, multiplier=1.3)
    assert "· 256 = 1024, " in update(d_model=256, multiple_of=256, multiplier=1.3)
