import re

import numpy as np
import pytest
import torch

from blocklab.batch_statistics import batch_statistics
from blocklab_course.lessons.small_batches.two_parts import FARTHEST, A, B, two_parts


def held(figure):
    """What stands beside the rows: (count, mean, M2) of a, of b, and of both."""
    rows = [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith("count")]
    return [tuple(map(float, re.findall(r"-?\d+\.?\d*", row.replace("M2", "")))) for row in rows]


@pytest.mark.parametrize("shift", [-FARTHEST, -3, 0, 1, FARTHEST])
def test_beside_the_rows_stands_what_torch_finds(figure, shift):
    two_parts(figure)(shift=shift)
    parts = [A, B + shift, np.concatenate([A, B + shift])]
    wanted = [batch_statistics(torch.from_numpy(part), 0) for part in parts]
    for found, (count, mean, m2) in zip(held(figure), wanted, strict=True):
        assert found == pytest.approx((count, mean.item(), m2.item()), rel=1e-3)


def test_what_the_lesson_says(figure):
    update = two_parts(figure)
    assert update(shift=0).endswith("2 · 2² + 4 · 1² = 12 more. Together 22.")
    before = held(figure)
    assert update(shift=3).endswith("2 · 4² + 4 · 2² = 48 more. Together 58.")
    after = held(figure)
    assert [one[2] == other[2] for one, other in zip(before, after, strict=True)] == [True, True, False]


@pytest.mark.parametrize("shift", range(-FARTHEST, FARTHEST + 1))
def test_no_number_hides_another_and_all_are_within_the_picture(figure, shift):
    two_parts(figure)(shift=shift)
    axes = figure.axes[0]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    places = [place for line in dots for place in zip(*line.get_data(), strict=True)]
    assert len(set(places)) == len(places) == 2 * (len(A) + len(B))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert all(left < x < right and bottom < y < top for x, y in places)
