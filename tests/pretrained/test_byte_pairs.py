"""Byte pair encoding with a small vocabulary; SmolLM2's own tokens are in test_smollm2.py."""

import pytest

from blocklab_course.pretrained.byte_pairs import BytePairTokenizer, byte_letters, split_words

MERGES = ["Ġ t", "h e", "Ġt he", "a a", "' s", "å ±", "å± Ĥ", "1 2", "< |"]
SPECIAL = "<|end|>"


@pytest.fixture(scope="module")
def small():
    letters = [letter for letter in byte_letters() if letter != byte_letters()[0x16]]
    return BytePairTokenizer([SPECIAL, *letters, *(merge.replace(" ", "") for merge in MERGES)], MERGES)


def tokens(small, text):
    return [small.vocabulary[number] for number in small.encode(text)]


def test_byte_letters_are_distinct_and_printable():
    letters = byte_letters()
    assert len(set(letters)) == 256
    assert [letters[ord(c)] for c in "a!~"] == ["a", "!", "~"]
    assert [letters[byte] for byte in (0, 0x20, 0x7F, 0xA0, 0xAD, 0xFF)] == ["Ā", "Ġ", "ġ", "ł", "Ń", "ÿ"]
    assert not any(letter.isspace() or not letter.isprintable() for letter in letters)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the the", "t he Ġthe"),
        ("aaaaa", "aa aa a"),
        ("it's", "i t 's"),
        ("' s", "' Ġ s"),  # no token crosses a word boundary
        ("层层", "å±Ĥ å±Ĥ"),
        ("层", "å±Ĥ"),
        ("é", "Ã ©"),
        ("12", "1 2"),  # no token of two digits
        ("", ""),
    ],
)
def test_merges_pairs_by_priority(small, text, expected):
    assert " ".join(tokens(small, text)) == expected


def test_priority_beats_position_in_text():
    pairs = BytePairTokenizer([*"abc", "bc", "ab"], ["b c", "a b"])
    assert tokens(pairs, "abc") == ["a", "bc"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop", ["Don", "'t", " stop"]),
        ("DON'T", ["DON", "'", "T"]),
        ("a  b", ["a", " ", " b"]),
        ("a  5 ", ["a", "  ", "5", " "]),  # digits are split off first
        ("x=12.5", ["x", "=", "1", "2", ".", "5"]),
        ("²½Ⅷ٣", ["²", "½", "Ⅷ", "٣"]),
        ("def f():\n    return", ["def", " f", "():", "\n   ", " return"]),
        ("\n\n", ["\n\n"]),
        ("snake_case", ["snake", "_", "case"]),
        ("層，层", ["層", "，", "层"]),
        ("e\u0301a", ["e", "\u0301", "a"]),
        ("a\x1c b", ["a", "\x1c", " b"]),
        ("a\u3000b", ["a", "\u3000", "b"]),
        (" !?", [" !?"]),
    ],
)
def test_split_words(text, expected):
    assert list(split_words(text)) == expected
    assert "".join(expected) == text


def test_stream_yields_whole_characters(small):
    numbers = small.encode("é层!")
    assert list(small.stream(numbers)) == ["é", "层", "!"]
    assert list(small.stream(numbers[:1])) == ["�"]
    assert small.decode([*numbers[1:2], *small.encode("a")]) == "�a"
    assert list(small.stream([])) == []


def test_stream_is_lazy(small):
    def numbers():
        yield from small.encode("the")
        raise AssertionError("the second piece is there already")

    stream = small.stream(numbers())
    assert [next(stream), next(stream)] == ["t", "he"]


def test_special_token_is_decoded_but_never_encoded(small):
    assert small.token_ids[SPECIAL] == 0
    assert small.decode([0]) == SPECIAL
    assert 0 not in small.encode(f"a{SPECIAL}")
    assert small.decode(small.encode(f"a{SPECIAL}")) == f"a{SPECIAL}"


def test_bytes_without_token_are_dropped(small):
    assert small.decode(small.encode("t\x16he")) == "the"


@pytest.mark.parametrize("number", [-1, 1000])
def test_rejects_unknown_id(small, number):
    with pytest.raises(
        ValueError, match=rf"BytePairTokenizer: expected ids from 0 to {len(small.vocabulary) - 1}, got {number}$"
    ):
        small.decode([1, number])


def test_rejects_lone_surrogate(small):
    with pytest.raises(ValueError, match=r"expected text without lone surrogates, got '\\ud83d'"):
        small.encode("smile \ud83d")
