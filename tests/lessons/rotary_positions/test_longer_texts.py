import re
from pathlib import Path

import pytest

from blocklab_course.lessons.rotary_positions.known_angles import RULES
from blocklab_course.lessons.rotary_positions.longer_texts import NAMES, SHOWN, recorded_losses, table

SOURCE = Path(__file__).parents[3] / "notebooks" / "source" / "11_rotary_positions.py"


def test_the_window_has_the_lowest_loss_beyond_on_both_books():
    losses = recorded_losses()
    assert losses.keys() == {*RULES, "window"} == NAMES.keys()
    for beyond in ("alice_384_512", "alice_beyond_128", "oz_beyond_128"):
        assert min(losses, key=lambda rule: losses[rule][beyond]) == "window"


def test_a_window_changes_nothing_below_its_length():
    losses = recorded_losses()
    for below in ("alice_64_128", "alice_below_128", "oz_below_128"):
        assert losses["window"][below] == losses["none"][below]


@pytest.mark.parametrize("rule", NAMES)
def test_a_mean_lies_between_those_of_its_parts(rule):
    losses = recorded_losses()[rule]
    assert losses["alice_128_160"] < losses["alice_beyond_128"] < losses["alice_384_512"]


def test_what_the_lesson_tells_of_them():
    losses, text = recorded_losses(), SOURCE.read_text("utf-8")
    told = [("window", "alice_384_512"), ("window", "oz_beyond_128"), ("interpolation", "alice_below_128")]
    told += [("llama3", "alice_384_512"), ("interpolation", "oz_beyond_128"), ("none", "oz_beyond_128")]
    for rule, column in [*told, ("none", "alice_below_128"), ("none", "alice_384_512")]:
        assert text.count(f"{losses[rule][column]:.3f}") == 2
    assert round(losses["interpolation"]["alice_below_128"] - losses["none"]["alice_below_128"], 2) == 0.90
    assert round(losses["llama3"]["alice_below_128"] - losses["none"]["alice_below_128"], 2) == 0.19
    farther = [rule for rule in losses if rule not in ("none", "window")]
    assert min(farther, key=lambda rule: losses[rule]["alice_384_512"]) == "llama3"


def test_a_line_for_every_rule(capsys):
    table()
    _, head, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    ends = [place.end() for place in re.finditer(r"\d+–\d+", head)]  # each number stands below its positions
    for line, losses in zip(lines, recorded_losses().values(), strict=True):
        assert [*map(float, re.findall(r"\d\.\d{3}", line))] == [losses[column] for column in SHOWN]
        assert [place.end() for place in re.finditer(r"\d\.\d{3}", line)] == ends
