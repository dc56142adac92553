"""Byte pair encoding: a text as bytes, of which pairs that were frequent in training are one token."""

import codecs
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

# What is cut apart before pairs are joined; a space goes with the word after it. No numbers are left here, and \x1c to
# \x1f, which Python takes for white space, Unicode does not.
WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W_]+| ?(?:[^\w\s]|[_\x1c-\x1f])+|[^\S\x1c-\x1f]+(?!\S)|[^\S\x1c-\x1f]+")


def byte_letters() -> list[str]:
    """The letter that stands in a vocabulary for each byte: itself where it can be seen, else one from U+0100 on."""
    seen = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = map(chr, range(256, 512))
    return [chr(byte) if byte in seen else next(others) for byte in range(256)]


class BytePairTokenizer:
    """Tokens of SmolLM2, as numbers: words, with the space before them, and pieces of words; digits one by one.

        "Bob's 12 层"  ->  Bob 's Ġ 1 2 Ġå ± Ĥ

    vocabulary: tokens in the letters of `byte_letters` (Ġ is the space); merges: "Ġ t" for every pair that is joined,
    the first of them first. Tokens that the model was taught as signs, such as <|im_end|>, are in `numbers`, but never
    come out of a text. Bytes without a token are left out: some control characters, and none of written language.

    Raises ValueError for numbers of no token, and for half a character (a surrogate), which has no bytes.

    Source: Sennrich et al. 2016, arXiv:1508.07909; on bytes: openai/gpt-2, src/encoder.py
    """

    def __init__(self, vocabulary: Iterable[str], merges: Iterable[str]):
        self.vocabulary = list(vocabulary)
        self.token_ids = {token: number for number, token in enumerate(self.vocabulary)}
        self._ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self._letters = byte_letters()
        self._bytes = {letter: byte for byte, letter in enumerate(self._letters)}

    def encode(self, text: str) -> list[int]:
        try:
            return [self.token_ids[token] for word in split_words(text) for token in self._join(word)]
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise ValueError(f"BytePairs wants a text of whole characters, got {half!r}, half of one") from None

    def decode(self, numbers: Iterable[int]) -> str:
        """The text again. Bytes that are no character become �."""
        return "".join(self.stream(numbers))

    def stream(self, numbers: Iterable[int]) -> Iterator[str]:
        """The text, piece by piece; a character of several tokens comes with the last of them."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for number in numbers:
            if not 0 <= number < len(self.vocabulary):
                raise ValueError(f"BytePairs wants numbers from 0 to {len(self.vocabulary) - 1}, got {number}")
            if piece := decoder.decode(bytes(self._bytes[letter] for letter in self.vocabulary[number])):
                yield piece
        if rest := decoder.decode(b"", final=True):
            yield rest

    def _join(self, word: str) -> list[str]:
        letters = (self._letters[byte] for byte in word.encode())
        tokens = [letter for letter in letters if letter in self.token_ids]
        while pairs := [pair for pair in pairwise(tokens) if pair in self._ranks]:
            first = min(pairs, key=self._ranks.__getitem__)
            joined = []
            for token in tokens:
                if joined and (joined[-1], token) == first:
                    joined[-1] += token
                else:
                    joined.append(token)
            tokens = joined
        return tokens


def split_words(text: str) -> Iterator[str]:
    """The pieces of a text that no token crosses. Digits are cut out first, so that white space before one is whole."""
    for is_number, run in groupby(text, lambda c: unicodedata.category(c)[0] == "N"):
        characters = "".join(run)
        yield from characters if is_number else WORDS.findall(characters)
