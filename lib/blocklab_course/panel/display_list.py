"""A store of recorded strokes: equal records are stored once, and a number is never reused.

A record is a tuple of its kind and fields. As JSON it is a list.

    ("style", css)                                ("clip", x, y, width, height)  or  ("clip", d)
    ("glyph", d)                                  ("hatch", d, size, css)
    ("path", style, clip, d[, hatch])             ("marks", style, clip, d, (x, y, x, y, …))
    ("text", style, clip, transform, (glyph, x, y, glyph, x, y, …), string)
    ("image", clip, x, y, width, height, smooth, url)
    ("tint", style, clip, x, y, width, height, smooth, url)   the style's colour, as opaque as the grey image is light
    ("rest", (stroke, stroke, 0, stroke, …))      each 0 is a slot for a moving artist
    ("handles", ((slot, control, …), …))          what can be touched, see `drag`

style, clip, hatch, glyph and stroke are numbers of records; clip 0 means no clip. Lengths are whole tenths of a CSS
pixel from the upper left corner; in glyphs, thousandths of an em.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from itertools import chain, count

LIMIT = 4_000_000
"""Characters. A state of the largest picture takes 30,000, a typical one 1,000."""


class DisplayList:
    """A store of records. Above its limit of characters it drops whatever the current drawing does not use."""

    def __init__(self, limit: int = LIMIT):
        self._limit = limit
        self._next = count(1)
        self._numbers: dict[tuple, int] = {}
        self._records: dict[int, tuple] = {}
        self._characters = 0
        self.memo: dict = {}
        """A cache for renderers, from inputs to the numbers of their records. Dropped with the records."""

    def number(self, record: tuple) -> int:
        """Return the number of a record; equal records have the same number until they are dropped."""
        known = self._numbers.get(record)
        if known is None:
            known = self._numbers[record] = next(self._next)
            self._records[known] = record
            self._characters += count_characters(record)
        return known

    def __getitem__(self, number: int) -> tuple:
        return self._records[number]

    def __contains__(self, number: int) -> bool:
        return number in self._records

    def __len__(self) -> int:
        return len(self._records)

    def used_by(self, numbers: Iterable[int], known: Set[int] = frozenset()) -> set[int]:
        """Return these numbers and all that their records refer to, except `known` ones and their references."""
        used, waiting = set(), list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in used and number not in known:
                used.add(number)
                waiting += references(self._records[number])
        return used

    def trim(self, drawing: "Drawing") -> None:
        """Above the limit, drop all records that a drawing does not use."""
        if self._characters > self._limit:
            self.forget_all_but(drawing.uses(self))

    def forget_all_but(self, used: set[int]) -> None:
        self._records = {number: self._records[number] for number in sorted(used)}
        self._numbers = {record: number for number, record in self._records.items()}
        self._characters = sum(map(count_characters, self._numbers))
        self.memo.clear()


@dataclass(frozen=True)
class Drawing:
    """A state of a picture: the record of its static strokes, and the strokes for each slot."""

    rest: int
    moving: list[list[int]]

    def uses(self, records: DisplayList, known: Set[int] = frozenset()) -> set[int]:
        """Return the numbers of all records needed to draw it, except `known` ones."""
        return records.used_by([self.rest, *chain.from_iterable(self.moving)], known)


def references(record: tuple) -> list[int]:
    """Return the numbers that a record refers to."""
    kind, *rest = record
    if kind == "rest":
        found = rest[0]
    elif kind == "text":
        found = (*rest[:2], *rest[3][::3])
    elif kind == "path":
        found = (*rest[:2], *rest[3:])
    elif kind in ("marks", "tint"):
        found = rest[:2]
    else:
        found = rest[:1] if kind == "image" else ()
    return [number for number in found if number]


def renumber(record: tuple, number: Callable[[int], int]) -> tuple:
    """Return the record with its references mapped through `number`; 0 stays 0."""

    def new(numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(number(each) if each else 0 for each in numbers)

    kind, *rest = record
    if kind == "rest":
        return kind, new(rest[0])
    if kind == "text":
        letters = zip(new(rest[3][::3]), rest[3][1::3], rest[3][2::3], strict=True)
        return kind, *new(rest[:2]), rest[2], tuple(chain.from_iterable(letters)), *rest[4:]
    if kind == "path":
        return kind, *new(rest[:2]), rest[2], *new(rest[3:])
    if kind in ("marks", "tint"):
        return kind, *new(rest[:2]), *rest[2:]
    return (kind, *new(rest[:1]), *rest[1:]) if kind == "image" else record


def count_characters(record: tuple) -> int:
    """Estimate the length of a record as JSON, with five characters per number."""
    return sum(
        len(part) if isinstance(part, str) else 5 * len(part) if isinstance(part, tuple) else 5 for part in record
    )
