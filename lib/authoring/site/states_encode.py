"""Encode the states of a panel in all languages as JSON.

    {"format": 2,
     "narrow": whether they are arranged for a phone,
     "spec": {language: what the player has to know},
     "records": columns,                            numbered 1, 2, …: those of the first language
     "instead": {language: columns},                those that differ in another language
     "states": [[at, lines, index, numbers, index, numbers, …], …]}

A state holds what differs from the state before. Index 0 is the record of what rests, 1 that of what can be touched,
and 2, 3, … are the strokes of the moving artists: one number, or several as deltas. `states.js` reads it;
`states_compress` says what columns are.

Most strokes look the same in all languages, so a number stands for one record in each of them: a state has the same
numbers in every language, and only words are stored twice.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from blocklab_course.panel import Panel
from blocklab_course.panel.display_list import DisplayList, renumber
from blocklab_course.panel.drag import handles
from blocklab_course.panel.live_view import spec
from blocklab_course.session import set_language

from .states_compress import Record, deltas, shorten, to_columns

FORMAT = 2
NOTHING = ("nothing",)  # in the language without a stroke that another language has; the player draws nothing


class Drawn(NamedTuple):
    """A state in one language: lists of strokes, the resting ones split at the slots."""

    line: str
    touched: Record
    resting: list[list[Record]]
    moving: list[list[Record]]


class Shared:
    """Numbers for the records of all languages."""

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
        """The numbers of strokes that stand side by side, one list for each language."""
        return [self.number(twins) for twins in zip_longest(*lists, fillvalue=NOTHING)]

    def in_language(self, language: int) -> list[Record]:
        return [twins[language] for twins in self._numbers]


def encode(panels: dict[str, Panel], states: list[list[int]]) -> dict:
    """The states of a panel that was made once for each language.

    Raises ValueError if the languages do not draw the same moving artists.
    """
    shared = Shared(len(panels))
    drawn = [list(_draw(panel, language, states, shared)) for language, panel in panels.items()]
    before: dict[int, list[int]] = {}
    encoded = []
    for at, *twins in zip(states, *drawn, strict=True):
        now = dict(enumerate(_number(twins, shared)))
        changes = [
            part for index, numbers in now.items() if before.get(index) != numbers for part in (index, _brief(numbers))
        ]
        encoded.append([at, [twin.line for twin in twins], *changes])
        before = now
    records = {language: shared.in_language(number) for number, language in enumerate(panels)}
    first, *others = panels
    own = records[first]
    instead = {
        language: to_columns((n, record) for n, record in enumerate(records[language], 1) if record != own[n - 1])
        for language in others
    }
    return {
        "format": FORMAT,
        "narrow": panels[first].is_narrow,
        "spec": {language: _spec(panel, language) for language, panel in panels.items()},
        "records": to_columns(enumerate(own, 1)),
        "instead": instead,
        "states": encoded,
    }


def _number(twins: list[Drawn], shared: Shared) -> list[list[int]]:
    """A state in all languages, as numbers: what rests, what can be touched, the strokes of each slot."""
    resting, *between = (shared.numbers(lists) for lists in zip(*(twin.resting for twin in twins), strict=True))
    rest = shared.same(("rest", tuple(resting + [number for part in between for number in (0, *part)])))
    touched = shared.number(tuple(twin.touched for twin in twins))
    moving = (shared.numbers(lists) for lists in zip(*(twin.moving for twin in twins), strict=True))
    return [[rest], [touched], *moving]


def _brief(numbers: list[int]) -> int | list[int]:
    return numbers[0] if len(numbers) == 1 else deltas(numbers)


def _draw(panel: Panel, language: str, states: list[list[int]], shared: Shared) -> Iterator[Drawn]:
    """Each state in one language, its styles, clips and glyphs under their shared numbers."""
    set_language(language)  # once: changing the font takes longer than most pictures
    known: dict[int, Record] = {}

    def record(number: int, records: DisplayList) -> Record:
        if number not in known:
            known[number] = shorten(renumber(records[number], lambda part: shared.same(record(part, records))))
        return known[number]

    for at in states:
        with panel.at_state(at) as (canvas, line):
            drawing, records = canvas.strokes(), canvas.records
            touched = "handles", handles(canvas.moving_artists, panel.controls, canvas.figure.bbox.height)
            _, resting = records[drawing.rest]
            yield Drawn(
                line,
                touched,
                [[record(number, records) for number in part] for part in _split(resting)],
                [[record(number, records) for number in strokes] for strokes in drawing.moving],
            )


def _split(strokes: tuple[int, ...]) -> list[list[int]]:
    """The strokes before, between and after the slots."""
    parts: list[list[int]] = [[]]
    for number in strokes:
        if number:
            parts[-1].append(number)
        else:
            parts.append([])
    return parts


def _spec(panel: Panel, language: str) -> dict:
    set_language(language)
    return spec(panel, panel.canvas)
