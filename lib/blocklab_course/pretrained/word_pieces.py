"""BERT's uncased WordPiece tokenizer."""

import string
import unicodedata
from collections.abc import Iterable, Iterator

MAX_WORD_LENGTH = 100
CONTROL = ("Cc", "Cf", "Co", "Cs")  # dropped; unassigned characters are kept
IDEOGRAPHS = [  # the blocks that BERT treats as Chinese; neither kana nor hangul
    *[(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)],
    *[(0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF)],
]


class WordPieceTokenizer:
    """Split text into words and punctuation, and unknown words into the longest known pieces.

        "Gating, 层!"  ->  ga ##ting , 层 !

    Case, accents and control characters are dropped. Every Chinese character and every punctuation mark is a word of
    its own. A word that no pieces make up, or of more than 100 characters, is [UNK]. "[SEP]" and the like in a text
    are ordinary characters.

    Source: google-research/bert, tokenization.py
    """

    def __init__(self, vocabulary: Iterable[str]):
        self.vocabulary = list(vocabulary)
        self.token_ids = {piece: id for id, piece in enumerate(self.vocabulary)}

    def split(self, text: str) -> list[str]:
        """The pieces of a text; pieces that continue a word begin with ##."""
        return [piece for word in split_words(text) for piece in self._pieces(word)]

    def encode(self, text: str, length: int) -> list[int]:
        """The ids of [CLS], the pieces of a text, and [SEP], truncated to `length` in all."""
        return [self.token_ids[piece] for piece in ["[CLS]", *self.split(text)[: length - 2], "[SEP]"]]

    def _pieces(self, word: str) -> list[str]:
        pieces, rest = [], word
        while rest and len(word) <= MAX_WORD_LENGTH:
            ends = (end for end in range(len(rest), 0, -1) if self._piece(pieces, rest[:end]) in self.token_ids)
            if not (end := next(ends, 0)):
                break
            pieces.append(self._piece(pieces, rest[:end]))
            rest = rest[end:]
        return ["[UNK]"] if rest else pieces

    @staticmethod
    def _piece(before: list[str], characters: str) -> str:
        return f"##{characters}" if before else characters


def split_words(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case and without accents."""
    spaced = "".join(f" {c} " if _is_ideograph(c) else c for c in _cleaned(text))
    bare = (c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    lower = (c.lower() for c in bare)  # one by one, so that a final sigma stays an ordinary sigma
    return "".join(f" {c} " if _is_punctuation(c) else c for c in "".join(lower)).split()


def _cleaned(text: str) -> Iterator[str]:
    for c in text:
        if c in "\t\n\r" or (c.isspace() and unicodedata.category(c)[0] == "Z"):
            yield " "
        elif c != "\ufffd" and unicodedata.category(c) not in CONTROL:
            yield c


def _is_ideograph(c: str) -> bool:
    return any(first <= ord(c) <= last for first, last in IDEOGRAPHS)


def _is_punctuation(c: str) -> bool:
    return c in string.punctuation or unicodedata.category(c)[0] == "P"
