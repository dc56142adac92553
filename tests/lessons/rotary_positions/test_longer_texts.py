import re
from pathlib import Path

from blocklab.lessons.rotary_positions.known_angles import RULES
from blocklab.lessons.rotary_positions.longer_texts import NAMES, recorded_losses, table

SOURCE = Path(__file__).parents[3] / "notebooks" / "source" / "11_rotary_positions.py"


def test_the_window_has_the_lowest_loss_beyond_on_both_books():
    losses = recorded_losses()
    assert losses.keys() == {*RULES, "window"} == NAMES.keys()
    for beyond in (1, 3):
        assert min(losses, key=lambda rule: losses[rule][beyond]) == "window"


def test_a_window_changes_nothing_below_its_length():
    losses = recorded_losses()
    assert losses["window"][::2] == losses["none"][::2]


def test_what_the_lesson_tells_of_them():
    losses, text = recorded_losses(), SOURCE.read_text("utf-8")
    for told in (losses["window"][1], losses["window"][3], losses["interpolation"][0], losses["none"][0]):
        assert text.count(f"{told:.3f}") == 2
    assert round(losses["interpolation"][0] - losses["none"][0], 1) == 0.9


def test_a_line_for_every_rule(capsys):
    table()
    _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    for line, numbers in zip(lines, recorded_losses().values(), strict=True):
        assert tuple(map(float, re.findall(r"\d\.\d{3}", line))) == numbers
