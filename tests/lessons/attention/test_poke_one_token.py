import numpy as np
import pytest
import torch
import torch.nn.functional as F
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from blocklab_course.lessons.attention.poke_one_token import (
    MASKS,
    PUSH,
    allowed,
    attend,
    moved_by_each,
    panel,
    poke_one_token,
    tokens,
)
from blocklab_course.panel.palette import MOVED, POKED, STILL

VALUES = {"token": 0, "mask": "none", "polarity": "off"}


def by_loops(mask):
    """True where key j takes part for query i, in words: not after i, not padding; swapped, only after i."""
    if mask == "swapped":
        return [[j > i for j in range(8)] for i in range(8)]
    causal, padding = mask in ("causal", "both"), mask in ("padding", "both")
    return [[not (causal and j > i) and not (padding and j >= 6) for j in range(8)] for i in range(8)]


@pytest.mark.parametrize("mask", MASKS)
def test_the_mask_by_formula(mask):
    assert allowed(mask).tolist() == by_loops(mask)
    assert int(allowed(mask).sum()) == {"none": 64, "causal": 36, "swapped": 28, "padding": 48, "both": 33}[mask]


@pytest.mark.parametrize("mask", MASKS)
def test_what_moves_is_the_mask_and_padding_by_its_own_query(mask):
    moved, weights = moved_by_each(mask)
    assert np.array_equal(weights > 0, allowed(mask).numpy())
    asks = torch.eye(8, dtype=torch.bool) & (allowed(mask).sum(-1) > 1)  # who sees one or none asks in vain
    assert np.array_equal(moved, (allowed(mask) | asks).numpy())


@pytest.mark.parametrize("mask", MASKS)
def test_torch_moves_the_same_outputs_and_by_much_or_not_at_all(mask):
    x = tokens()
    waves = 0.5 * torch.sin(1.7 * torch.arange(1, 109, dtype=torch.float64)).view(3, 6, 6)

    def outputs(x):
        return F.scaled_dot_product_attention(*(x @ matrix for matrix in waves), allowed(mask))

    torch.testing.assert_close(attend(x, mask)[0], outputs(x))
    for token in range(8):
        pushed = x.clone()
        pushed[token] += PUSH
        change = (outputs(pushed) - outputs(x)).abs().amax(-1)
        assert ((change == 0) | (change > 5e-4)).all()
        assert (change > 0).tolist() == moved_by_each(mask)[0][:, token].tolist()


def test_the_lesson_predicts_what_is_seen(figure):
    update = poke_one_token(figure)
    assert "8 of 8" in update(**VALUES)
    assert "5 of 8 outputs move: 3, 4, 5, 6, 7." in update(**VALUES | {"token": 3, "mask": "causal"})
    assert "4 of 8 outputs move: 0, 1, 2, 3." in update(**VALUES | {"token": 3, "mask": "swapped"})
    assert "1 of 8 outputs move: 6." in update(**VALUES | {"token": 6, "mask": "padding"})
    assert "8 of 8 outputs move" in update(**VALUES | {"token": 6})


def test_the_right_guess_is_what_moves_when_token_3_is_pushed_under_the_causal_mask():
    shown = panel()
    shown.move(token=3, mask="causal")
    which = [int(number) for number in shown.line.rpartition(": ")[2].rstrip(".").split(", ")]
    assert which == list(shown.prediction.right)


def test_boxes_wires_and_map_show_the_push(figure):
    update = poke_one_token(figure)
    update(**VALUES | {"token": 3, "mask": "causal"})
    left, right = figure.axes
    boxes = [to_hex(p.get_facecolor()) for p in left.patches if isinstance(p, Rectangle)]
    assert boxes[:8] == ["#ffffff"] * 3 + [POKED] + ["#ffffff"] * 4
    assert boxes[8:] == [STILL] * 3 + [MOVED] * 5
    (wires,) = left.collections
    starts = [segment[0][0] for segment in wires.get_segments()]
    assert len(starts) == 36
    assert starts[-5:] == [3] * 5  # the pushed token's wires, on top
    cells = right.images[0].get_array()
    expected = [[MOVED if j <= i else STILL for j in range(4)] + ["#ffffff"] * 4 for i in range(8)]
    assert [[to_hex(colour) for colour in row] for row in cells] == expected
    assert right.patches[0].get_x() == 2.5


@pytest.mark.parametrize(("polarity", "first_row"), [("off", ""), ("sdpa", "TFFFFFFF"), ("module", "FTTTTTTT")])
def test_letters_in_both_polarities(figure, polarity, first_row):
    update = poke_one_token(figure)
    update(**VALUES | {"mask": "causal", "polarity": polarity})
    assert "".join(letter.get_text() for letter in figure.axes[1].texts[:8]) == first_row
