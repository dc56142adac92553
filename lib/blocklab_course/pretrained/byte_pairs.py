"""Byte pair encoding: text as bytes, with frequent pairs merged into one token."""

import codecs
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

# Text is split into words before pairs are merged; a space belongs to the word after it. Numbers are already gone here.
# Python counts \x1c to \x1f as white space, Unicode does not.
WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W_]+| ?(?:[^\w\s]|[_\x1c-\x1f])+|[^\S\x1c-\x1f]+(?!\S)|[^\S\x1c-\x1f]+")


def byte_letters() -> list[str]:
    """The letter that a vocabulary uses for each byte: the character itself if printable, else one from U+0100 on."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = map(chr, range(256, 512))
    return [chr(byte) if byte in printable else next(others) for byte in range(256)]


class BytePairTokenizer:
    """SmolLM2's tokenizer. Tokens are words with the space before them, and pieces of words; each digit is a token.

        "Bob's 12 层"  ->  Bob 's Ġ 1 2 Ġå ± Ĥ

    vocabulary: tokens in the letters of `byte_letters` (Ġ is the space); merges: pairs such as "Ġ t", by priority.
    Special tokens such as <|im_end|> are in `token_ids`, but encoding a text never produces them. Bytes without a
    token, which are rare control characters, are dropped.

    Raises ValueError for an id without a token and for a lone surrogate, which has no bytes.

    Source: Sennrich et al. 2016, arXiv:1508.07909; on bytes: openai/gpt-2, src/encoder.py
    """

    def __init__(self, vocabulary: Iterable[str], merges: Iterable[str]):
        self.vocabulary = list(vocabulary)
        self.token_ids = {token: id for id, token in enumerate(self.vocabulary)}
        self._ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self._letters = byte_letters()
        self._bytes = {letter: byte for byte, letter in enumerate(self._letters)}

    def encode(self, text: str) -> list[int]:
        try:
            return [self.token_ids[token] for word in split_words(text) for token in self._merge(word)]
        except UnicodeEncodeError as error:
            surrogate = error.object[error.start]
            raise ValueError(f"BytePairTokenizer: expected text without lone surrogates, got {surrogate!r}") from None

    def decode(self, ids: Iterable[int]) -> str:
        """Turn ids back into text. Invalid bytes become �."""
        return "".join(self.stream(ids))

    def stream(self, ids: Iterable[int]) -> Iterator[str]:
        """Decode piece by piece; a character of several tokens is yielded with the last of them."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for id in ids:
            if not 0 <= id < len(self.vocabulary):
                raise ValueError(f"BytePairTokenizer: expected ids from 0 to {len(self.vocabulary) - 1}, got {id}")
            if piece := decoder.decode(bytes(self._bytes[letter] for letter in self.vocabulary[id])):
                yield piece
        if rest := decoder.decode(b"", final=True):
            yield rest

    def _merge(self, word: str) -> list[str]:
        letters = (self._letters[byte] for byte in word.encode())
        tokens = [letter for letter in letters if letter in self.token_ids]
        while pairs := [pair for pair in pairwise(tokens) if pair in self._ranks]:
            best = min(pairs, key=self._ranks.__getitem__)
            merged = []
            for token in tokens:
                if merged and (merged[-1], token) == best:
                    merged[-1] += token
                else:
                    merged.append(token)
            tokens = merged
        return tokens


def split_words(text: str) -> Iterator[str]:
    """Split a text into pieces that no token crosses. Digits go first, so white space before one stays together."""
    for is_number, run in groupby(text, lambda c: unicodedata.category(c)[0] == "N"):
        characters = "".join(run)
        yield from characters if is_number else WORDS.findall(characters)
