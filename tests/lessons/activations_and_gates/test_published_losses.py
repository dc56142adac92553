import pytest

from blocklab_course.lessons.activations_and_gates.published_losses import (
    LOSSES,
    PLAIN,
    SPANS,
    apart,
    panel,
    published_losses,
)


@pytest.mark.parametrize(
    ("one", "other", "times"),
    [
        ("ReLU", "ReGLU", 7.5),
        ("GELU", "GEGLU", 6.4),
        ("Swish", "SwiGLU", 4.8),
        ("GELU", "Bilinear", 3.3),
        ("GELU", "GLU", 0.1),
        ("GLU", "SwiGLU", 3.3),
        ("ReGLU", "GEGLU", 2.2),
        ("SwiGLU", "GEGLU", 0.2),
    ],
)
def test_the_lesson_says_how_far_apart_two_networks_are(figure, one, other, times):
    assert f"{times} standard deviations" in published_losses(figure)(one=one, other=other)
    assert apart(one, other)[1] == pytest.approx(times, abs=0.05)


def test_after_the_longer_training_every_gate_is_ahead():
    later = {name: loss for name, (_, _, loss) in LOSSES.items()}
    assert max(loss for name, loss in later.items() if name not in PLAIN) < min(later[name] for name in PLAIN)


def test_the_line_tells_what_the_table_says(figure):
    line = published_losses(figure)(one="GEGLU", other="ReLU")
    assert line.startswith("GEGLU → ReLU: −0.055 lower, −8.6 standard deviations")
    assert line.endswith("after 524288 steps −0.044 lower.")


def test_every_loss_lies_within_the_picture_and_touching_it_chooses_it():
    shown = panel()
    for (first, deviation, last), name in zip(LOSSES.values(), LOSSES, strict=True):
        assert SPANS[0][0] < first - 2 * deviation < first + 2 * deviation < SPANS[0][1]
        assert SPANS[1][0] < last < SPANS[1][1]
        shown.move(other=name)
        assert f"→ {'bilinear' if name == 'Bilinear' else name}:" in shown.line
