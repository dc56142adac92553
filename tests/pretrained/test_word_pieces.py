"""MiniLM's tokens match Hugging Face's tokenizer; see data/minilm_sentences.py."""

import json
from pathlib import Path

import pytest
from optional_models import load_or_skip

from blocklab_course.pretrained import load_minilm
from blocklab_course.pretrained.word_pieces import WordPieceTokenizer, split_words
from data.minilm_sentences import TRAPS

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "minilm_word_pieces.json").read_text("utf-8"))
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


@pytest.fixture(scope="module")
def word_pieces():
    return load_or_skip(load_minilm).word_pieces


@pytest.fixture
def small():
    return WordPieceTokenizer([*SPECIAL, "gate", "gat", "##ing", "##e", "##s", "层", ",", "##"])


def test_reference_is_complete():
    assert TRAPS.keys() == REFERENCE["pieces"].keys()
    assert "transformers" in REFERENCE["made_with"]


@pytest.mark.parametrize("name", TRAPS)
def test_pieces_match_reference(name, word_pieces):
    assert " ".join(word_pieces.split(TRAPS[name])) == REFERENCE["pieces"][name]


def test_longest_piece_wins_or_word_is_unknown(small):
    assert small.split("gates, gating") == ["gate", "##s", ",", "gat", "##ing"]
    assert small.split("gatex 层层") == ["[UNK]", "层", "层"]
    assert small.encode("Gates", 10) == [2, 4, 8, 3]


@pytest.mark.parametrize(("length", "numbers"), [(2, [2, 3]), (3, [2, 4, 3]), (4, [2, 4, 8, 3]), (5, [2, 4, 8, 3])])
def test_encode_truncates_before_end_token(length, numbers, small):
    assert small.encode("gates", length) == numbers


def test_split_words():
    assert split_words("Ünï-codé\tTEXT 归一") == ["uni", "-", "code", "text", "归", "一"]
    assert split_words("\u200b\x00") == []
