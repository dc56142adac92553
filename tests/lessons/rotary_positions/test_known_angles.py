import math

import pytest
import torch

from blocklab.rope_scaling import yarn_temperature
from blocklab_course.lessons.rotary_positions.known_angles import (
    LARGEST,
    MODELS,
    RULES,
    frequencies_by,
    known_and_asked,
    known_angles,
    panel,
)
from blocklab_course.pretrained.rotary_models import RotaryModel, rotary_models

NEVER = {"glassllm": 10, "SmolLM2 135M": 12, "Llama-2 7B": 18, "Llama-3 8B": 29}  # counted by hand: 2 pi / w > L
SMALL = RotaryModel("small", head_dim=8, rotated=8, base=10000.0, length=4096)


@pytest.mark.parametrize("name", MODELS)
def test_pairs_that_never_turn_fully(name):
    model = rotary_models()[name]
    slow = [i for i in range(model.pairs) if 2 * math.pi * model.base ** (2 * i / model.rotated) > model.length]
    known, _, new = known_and_asked("none", model, 4)
    assert len(slow) == NEVER[name]
    assert (known < 1).nonzero().flatten().tolist() == slow == new.nonzero().flatten().tolist()


@pytest.mark.parametrize(
    ("rule", "wanted"),
    {
        "none": [1, 0.1, 0.01, 0.001],
        "interpolation": [0.25, 0.025, 0.0025, 0.00025],
        "ntk": [1, 0.0629961, 0.00396850, 0.00025],
        "yarn": [1, 0.1, 0.00625, 0.00025],
        "llama3": [1, 0.1, 0.01, 0.00025],
    }.items(),
)
def test_frequencies_by_rule(rule, wanted):
    assert frequencies_by(rule, SMALL, 4).tolist() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", MODELS)
def test_no_rule_does_anything_to_a_text_that_is_no_longer(name, rule):
    known, asked, new = known_and_asked(rule, rotary_models()[name], 1)
    torch.testing.assert_close(asked, known, rtol=1e-12, atol=0)
    assert not new.any()


@pytest.mark.parametrize("factor", [2, 8, LARGEST])
@pytest.mark.parametrize("name", MODELS)
def test_what_each_rule_leaves_with_new_angles(name, factor):
    model = rotary_models()[name]
    new = {rule: int(known_and_asked(rule, model, factor)[2].sum()) for rule in RULES}
    assert new["interpolation"] == new["llama3"] == 0
    assert new["none"] == NEVER[name]
    assert new["ntk"] == NEVER[name] - 1


@pytest.mark.parametrize(("rule", "enough"), [("yarn", 32), ("llama3", 4)])
@pytest.mark.parametrize("name", MODELS)
def test_from_how_many_turns_a_rule_leaves_a_hand_alone(name, rule, enough):
    model = rotary_models()[name]
    turns, *_ = known_and_asked("none", model, 4)
    slowed = frequencies_by("none", model, 4) / frequencies_by(rule, model, 4)
    torch.testing.assert_close(slowed[turns >= enough], torch.ones_like(slowed[turns >= enough]))
    torch.testing.assert_close(slowed[turns < 1], torch.full_like(slowed[turns < 1], 4))
    assert (slowed[(turns > 1) & (turns < enough)] > 1).any()


def test_numbers_of_the_lesson_about_rules():
    assert round(yarn_temperature(4) ** 2, 2) == 1.30
    assert round(known_and_asked("none", SMALL, 4)[0][2].item(), 1) == 6.5


def test_numbers_of_the_lesson(figure):
    update = known_angles(figure)
    line = update(model="Llama-3 8B", rule="none", factor=4)
    assert "64 pairs, base 500000, trained on 8192 positions; 29 pairs never" in line
    assert line.endswith("With 32768 positions, rule none: 29 of them meet new angles.")
    assert update(model="Llama-3 8B", rule="ntk", factor=4).endswith("rule NTK-aware: 28 of them meet new angles.")


def test_the_dots_are_the_turns(figure):
    known_angles(figure)(model="glassllm", rule="yarn", factor=8)
    known, asked, new = (line for line in figure.axes[0].lines if line.get_animated())
    model = rotary_models()["glassllm"]
    by_hand = [128 * 10000 ** (-i / 16) / (2 * math.pi) for i in range(16)]
    assert list(known.get_ydata()) == pytest.approx(by_hand)
    slower = (frequencies_by("yarn", model, 8) / frequencies_by("none", model, 8)).tolist()
    everywhere = dict(zip([*asked.get_xdata(), *new.get_xdata()], [*asked.get_ydata(), *new.get_ydata()], strict=True))
    assert [everywhere[i] for i in range(16)] == pytest.approx(
        [8 * s * t for s, t in zip(slower, by_hand, strict=True)]
    )


@pytest.mark.parametrize("name", MODELS)
def test_nothing_leaves_the_picture(figure, name):
    known_angles(figure)(model=name, rule="none", factor=LARGEST)
    low, high = figure.axes[0].get_ylim()
    known, asked, _ = known_and_asked("none", rotary_models()[name], LARGEST)
    assert low < known.min()
    assert asked.max() < high


def test_the_panel_opens_on_another_model_than_the_one_asked_about():
    assert "12 pairs never" in panel().line
