"""The states of a panel as one text, in all languages at once.

    {"format": 2,
     "spec": {language: what the player has to know},
     "records": columns,                            their numbers are 1, 2, …: in the first language
     "instead": {language: columns},                where another language has another
     "states": [[at, lines, index, numbers, index, numbers, …], …]}

A state says what it has in other places than the state before: in 0 the record of what rests, in 1 that of what can be
touched, in 2, 3, … the strokes of the moving artists, one number or a list, told by differences; some may be left of a
state that had more of them. `states.js` reads it, and `states_columns` says what columns are.

Most strokes look the same in all languages, so a number stands for one record in each of them: a state is the same
numbers everywhere, and only words are stored twice.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from blocklab.lessons.opening import speak
from blocklab.panel import Panel
from blocklab.panel.live_view import spec
from blocklab.panel.records import Records, renumbered
from blocklab.panel.touch import handles

from .states_columns import columns, differences
from .states_short import short

FORMAT = 2
NOTHING = ("nothing",)
"""What stands where one language has a stroke and another has none; the player draws nothing for it."""

Record = tuple


class Drawn(NamedTuple):
    """A state in one language: lists of strokes, those that rest from hole to hole."""

    line: str
    touched: Record
    resting: list[list[Record]]
    moving: list[list[Record]]


class Shared:
    """Numbers for what is drawn in all languages."""

    def __init__(self, languages: int):
        self._languages = languages
        self._numbers: dict[tuple[Record, ...], int] = {}

    def number(self, twins: tuple[Record, ...]) -> int:
        """The number of these records, one for each language."""
        return self._numbers.setdefault(twins, len(self._numbers) + 1)

    def same(self, record: Record) -> int:
        """The number of a record that is the same in all languages."""
        return self.number((record,) * self._languages)

    def numbers(self, lists: tuple[list[Record], ...]) -> list[int]:
        """Those of the strokes that stand beside each other in all languages."""
        return [self.number(twins) for twins in zip_longest(*lists, fillvalue=NOTHING)]

    def in_language(self, language: int) -> list[Record]:
        return [twins[language] for twins in self._numbers]


def packed(panels: dict[str, Panel], states: list[list[int]]) -> dict:
    """The states of a panel that was made in several languages; the first of them is the one that others differ from.

    Raises ValueError if they do not draw the same moving artists.
    """
    shared = Shared(len(panels))
    drawn = [list(draw(panel, language, states, shared)) for language, panel in panels.items()]
    before: dict[int, list[int]] = {}
    told = []
    for at, *twins in zip(states, *drawn, strict=True):
        now = dict(enumerate(numbered(twins, shared)))
        changes = [
            part for index, numbers in now.items() if before.get(index) != numbers for part in (index, brief(numbers))
        ]
        told.append([at, [twin.line for twin in twins], *changes])
        before = now
    records = {language: shared.in_language(number) for number, language in enumerate(panels)}
    first, *others = panels
    own = records[first]
    instead = {
        language: columns((n, record) for n, record in enumerate(records[language], 1) if record != own[n - 1])
        for language in others
    }
    return {
        "format": FORMAT,
        "spec": {language: about(panel, language) for language, panel in panels.items()},
        "records": columns(enumerate(own, 1)),
        "instead": instead,
        "states": told,
    }


def numbered(twins: list[Drawn], shared: Shared) -> list[list[int]]:
    """A state in all languages, as numbers: what rests, what can be touched, the strokes of each hole."""
    resting, *between = (shared.numbers(lists) for lists in zip(*(twin.resting for twin in twins), strict=True))
    rest = shared.same(("rest", tuple(resting + [number for part in between for number in (0, *part)])))
    touched = shared.number(tuple(twin.touched for twin in twins))
    moving = (shared.numbers(lists) for lists in zip(*(twin.moving for twin in twins), strict=True))
    return [[rest], [touched], *moving]


def brief(numbers: list[int]) -> int | list[int]:
    """One number alone, several by differences."""
    return numbers[0] if len(numbers) == 1 else differences(numbers)


def draw(panel: Panel, language: str, states: list[list[int]], shared: Shared) -> Iterator[Drawn]:
    """Each state in one language, its styles, clips and glyphs under their shared numbers."""
    speak(language)  # once: to change the font takes longer than most pictures
    known: dict[int, Record] = {}

    def record(number: int, records: Records) -> Record:
        if number not in known:
            known[number] = short(renumbered(records[number], lambda part: shared.same(record(part, records))))
        return known[number]

    for at in states:
        with panel.standing_at(at) as (canvas, line):
            drawing, records = canvas.strokes(), canvas.records
            touched = "handles", handles(canvas.holes, panel.controls, canvas.figure.bbox.height)
            _, resting = records[drawing.rest]
            yield Drawn(
                line,
                touched,
                [[record(number, records) for number in part] for part in split(resting)],
                [[record(number, records) for number in strokes] for strokes in drawing.moving],
            )


def split(strokes: tuple[int, ...]) -> list[list[int]]:
    """The strokes before, between and after the holes."""
    parts: list[list[int]] = [[]]
    for number in strokes:
        if number:
            parts[-1].append(number)
        else:
            parts.append([])
    return parts


def about(panel: Panel, language: str) -> dict:
    speak(language)
    return spec(panel, panel.canvas)
