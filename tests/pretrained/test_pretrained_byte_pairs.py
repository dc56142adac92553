"""Byte pairs with a small vocabulary of the test's own; SmolLM2's are in test_pretrained_smollm2.py."""

import pytest

from blocklab_course.pretrained.byte_pairs import BytePairTokenizer, byte_letters, split_words

MERGES = ["Ġ t", "h e", "Ġt he", "a a", "' s", "å ±", "å± Ĥ", "1 2", "< |"]
SIGN = "<|end|>"


@pytest.fixture(scope="module")
def small():
    letters = [letter for letter in byte_letters() if letter != byte_letters()[0x16]]
    return BytePairTokenizer([SIGN, *letters, *(merge.replace(" ", "") for merge in MERGES)], MERGES)


def tokens(small, text):
    return [small.vocabulary[number] for number in small.encode(text)]


def test_every_byte_has_a_letter_of_its_own():
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
        ("' s", "' Ġ s"),  # no token goes from one word to the next
        ("层层", "å±Ĥ å±Ĥ"),
        ("层", "å±Ĥ"),
        ("é", "Ã ©"),
        ("12", "1 2"),  # no token of two digits
        ("", ""),
    ],
)
def test_pairs_are_joined_in_their_order(small, text, expected):
    assert " ".join(tokens(small, text)) == expected


def test_the_pair_that_comes_first_in_the_list_wins_not_the_one_that_comes_first_in_the_text():
    pairs = BytePairTokenizer([*"abc", "bc", "ab"], ["b c", "a b"])
    assert tokens(pairs, "abc") == ["a", "bc"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop", ["Don", "'t", " stop"]),
        ("DON'T", ["DON", "'", "T"]),
        ("a  b", ["a", " ", " b"]),
        ("a  5 ", ["a", "  ", "5", " "]),  # the digit is cut out first
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
def test_words(text, expected):
    assert list(split_words(text)) == expected
    assert "".join(expected) == text


def test_a_character_comes_when_it_is_whole(small):
    numbers = small.encode("é层!")
    assert list(small.stream(numbers)) == ["é", "层", "!"]
    assert list(small.stream(numbers[:1])) == ["�"]
    assert small.decode([*numbers[1:2], *small.encode("a")]) == "�a"
    assert list(small.stream([])) == []


def test_a_stream_asks_for_no_more_than_it_gives(small):
    def numbers():
        yield from small.encode("the")
        raise AssertionError("the second piece is there already")

    stream = small.stream(numbers())
    assert [next(stream), next(stream)] == ["t", "he"]


def test_a_sign_is_read_but_never_comes_out_of_a_text(small):
    assert small.token_ids[SIGN] == 0
    assert small.decode([0]) == SIGN
    assert 0 not in small.encode(f"a{SIGN}")
    assert small.decode(small.encode(f"a{SIGN}")) == f"a{SIGN}"


def test_what_has_no_token_is_left_out(small):
    assert small.decode(small.encode("t\x16he")) == "the"


def test_a_long_word_takes_no_minutes(small):
    assert len(small.encode("a" * 20_001)) == 10_001


@pytest.mark.parametrize("number", [-1, 1000])
def test_numbers_of_no_token(small, number):
    with pytest.raises(
        ValueError, match=rf"BytePairs wants numbers from 0 to {len(small.vocabulary) - 1}, got {number}$"
    ):
        small.decode([1, number])
