import pytest
import torch
import torch.nn.functional as F

from blocklab_course.lessons.rms_norm.mean_and_rms import EPS, TOKEN, mean_and_rms, panel


def heights(axes):
    return [bar.get_height() for bar in axes.patches]


@pytest.mark.parametrize(("scale", "shift"), [(1, 0), (1.2, 2.5), (0.2, -5), (1, -2.5)])
def test_bars_are_what_the_layers_give(figure, scale, shift):
    mean_and_rms(figure)(scale=scale, shift=shift)
    token, layer, rms, _ = figure.axes
    x = scale * torch.tensor(TOKEN, dtype=torch.float64) + shift
    assert heights(token) == pytest.approx(x.tolist())
    assert heights(layer) == pytest.approx(F.layer_norm(x, (4,), eps=EPS).tolist())
    assert heights(rms) == pytest.approx(F.rms_norm(x, (4,), eps=EPS).tolist())
    for axes in figure.axes[:3]:
        low, high = axes.get_ylim()
        assert low < min(heights(axes)) <= max(heights(axes)) < high


@pytest.mark.parametrize(("scale", "shift"), [(1, 0), (1.2, 2.5), (0.2, -5)])
def test_the_triangle_has_a_right_angle(figure, scale, shift):
    mean_and_rms(figure)(scale=scale, shift=shift)
    across, up, sloping = ((line.get_xdata(), line.get_ydata()) for line in figure.axes[3].lines[-3:])
    lengths = [((x[1] - x[0]) ** 2 + (y[1] - y[0]) ** 2) ** 0.5 for x, y in (across, up, sloping)]
    x = scale * torch.tensor(TOKEN, dtype=torch.float64) + shift
    by_hand = [x.mean().abs(), x.std(correction=0), x.square().mean().sqrt()]
    assert lengths == pytest.approx([float(side) for side in by_hand])
    assert lengths[2] ** 2 == pytest.approx(lengths[0] ** 2 + lengths[1] ** 2)
    (left, right), (_, top) = figure.axes[3].get_xlim(), figure.axes[3].get_ylim()
    assert all(left < x < right and y < top for line in (across, up) for x, y in zip(*line, strict=True))


def test_the_lesson_predicts_what_is_seen(figure):
    update = mean_and_rms(figure)
    assert "differ by up to 0.00" in update(scale=1, shift=-2.5)
    assert "LayerNorm by 0.00, RMSNorm by 0.00" in update(scale=0.2, shift=0)
    assert "LayerNorm by 0.00, RMSNorm by 0.32" in update(scale=1, shift=2.5)


def test_the_right_guess_is_the_shift_at_which_the_layers_agree():
    shown = panel()
    shift = shown.controls["shift"]
    agree = set()
    for number in range(shift.last + 1):
        shift.value = shift.at(number)
        if "differ by up to 0.00" in shown.line:
            agree.add(shift.value)
    [right] = [str(name) for name, value in shown.prediction.options.items() if value == shown.prediction.right]
    assert {float(right.replace("−", "-"))} == agree
