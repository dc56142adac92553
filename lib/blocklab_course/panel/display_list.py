"""Everything that was recorded, each different thing once, under a number that is never given again.

A record is a tuple: its kind, then what belongs to that kind. As JSON it is a list.

    ("style", css)                                ("clip", x, y, width, height)  or  ("clip", d)
    ("glyph", d)                                  ("hatch", d, size, css)
    ("path", style, clip, d[, hatch])             ("marks", style, clip, d, (x, y, x, y, …))
    ("text", style, clip, transform, (glyph, x, y, glyph, x, y, …), string)
    ("image", clip, x, y, width, height, smooth, url)
    ("rest", (stroke, stroke, 0, stroke, …))      each 0 is a slot that a moving artist fills
    ("handles", ((slot, control, …), …))          what can be touched, see `touch`

style, clip, hatch, glyph and stroke are numbers of records; clip 0 is none. Lengths are whole tenths of a CSS pixel,
from the upper left corner; in glyphs, thousandths of an em.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from itertools import chain, count

LIMIT = 4_000_000
"""Characters. A state of the largest picture takes 30,000, a usual one 1,000."""


class DisplayList:
    """A store of records that forgets all but what is in use once it holds more characters than its limit."""

    def __init__(self, limit: int = LIMIT):
        self._limit = limit
        self._next = count(1)
        self._numbers: dict[tuple, int] = {}
        self._records: dict[int, tuple] = {}
        self._characters = 0
        self.memo: dict = {}
        """Numbers by what their records were made from, for those who record. Forgotten with the records."""

    def number(self, record: tuple) -> int:
        """The number of a record: the same for the same content, as long as it is not forgotten."""
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
        """These numbers and those of all records that theirs need; of what is known, all that it needs is known."""
        used, waiting = set(), list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in used and number not in known:
                used.add(number)
                waiting += references(self._records[number])
        return used

    def trim(self, drawing: "Drawing") -> None:
        """If there are too many characters, forget all but what a drawing uses."""
        if self._characters > self._limit:
            self.forget_all_but(drawing.uses(self))

    def forget_all_but(self, used: set[int]) -> None:
        self._records = {number: self._records[number] for number in sorted(used)}
        self._numbers = {record: number for number, record in self._records.items()}
        self._characters = sum(map(count_characters, self._numbers))
        self.memo.clear()


@dataclass(frozen=True)
class Drawing:
    """A state of a picture: the record of what rests in it, and the strokes that fill each of its slots."""

    rest: int
    moving: list[list[int]]

    def uses(self, records: DisplayList, known: Set[int] = frozenset()) -> set[int]:
        """The numbers of all records that one needs to draw it and does not know."""
        return records.used_by([self.rest, *chain.from_iterable(self.moving)], known)


def references(record: tuple) -> list[int]:
    """The numbers that a record mentions."""
    kind, *rest = record
    if kind == "rest":
        found = rest[0]
    elif kind == "text":
        found = (*rest[:2], *rest[3][::3])
    elif kind == "path":
        found = (*rest[:2], *rest[3:])
    elif kind == "marks":
        found = rest[:2]
    else:
        found = rest[:1] if kind == "image" else ()
    return [number for number in found if number]


def renumber(record: tuple, number: Callable[[int], int]) -> tuple:
    """The record with other numbers in place of those that it mentions; 0 stays."""

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
    if kind == "marks":
        return kind, *new(rest[:2]), *rest[2:]
    return (kind, *new(rest[:1]), *rest[1:]) if kind == "image" else record


def count_characters(record: tuple) -> int:
    """About how long a record is as JSON: five characters for a number."""
    return sum(
        len(part) if isinstance(part, str) else 5 * len(part) if isinstance(part, tuple) else 5 for part in record
    )
