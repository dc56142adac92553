"""Records as columns, which gzip packs to half and less: what is alike stands together, numbers by differences.

    [[kind, numbers, column, column, …], …]

Each group holds records of one kind that have as many parts: `numbers` are theirs, told by differences, and then comes
a column for each part. All stands as in `blocklab.panel.records`, but for what is a row of places:

    "steps"  style, clip, x, y, shape, across, down[, hatch]   a path: where it begins, its commands, each with how many
                                                               places it leads to, and the differences between its steps
    "marks"  style, clip, d, across, down                      differences between the places
    "handles"  …, "drag", places, across, down, …              differences, too

`states.js` reads it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, pairwise
from operator import itemgetter

Record = tuple

_STEPS = re.compile(r"M(-?\d+) ?(-?\d+)([mlqcz\d -]*)")  # what `by_differences` makes
_COMMAND = re.compile(r"([mlqcz])([\d -]*)")
_NUMBER = re.compile(r"-?\d+")


def differences(values: Iterable[int]) -> list[int]:
    """The first value, then from each to the next."""
    return [there - here for here, there in pairwise((0, *values))]


def columns(records: Iterable[tuple[int, Record]]) -> list[list]:
    """The records with their numbers, in groups."""
    groups = defaultdict(list)
    for number, record in records:
        kind, *parts = told(record)
        groups[kind, len(parts)].append((number, *parts))
    found = ((kind, *zip(*members, strict=True)) for (kind, _), members in groups.items())
    return [[kind, differences(numbers), *map(list, parts)] for kind, numbers, *parts in found]


def told(record: Record) -> Record:
    """The record as its group has it."""
    kind, *parts = record
    if kind == "path" and (found := _STEPS.fullmatch(parts[2])):
        return "steps", *parts[:2], *in_steps(*found.groups()), *parts[3:]
    if kind == "marks":
        return kind, *parts[:3], *across_and_down(parts[3])
    return (kind, [handle(*each) for each in parts[0]]) if kind == "handles" else record


def in_steps(x: str, y: str, d: str) -> tuple[int, int, str, list[int], list[int]]:
    """A path from its beginning on; neighbours that are the same command become one."""
    commands = [(letter, len(_NUMBER.findall(said)) // 2) for letter, said in _COMMAND.findall(d)]
    runs = ((letter, sum(many for _, many in alike)) for letter, alike in groupby(commands, itemgetter(0)))
    shape = "".join(f"{letter}{many or ''}" for letter, many in runs)
    return int(x), int(y), shape, *across_and_down([int(number) for number in _NUMBER.findall(d)])


def across_and_down(places: list[int]) -> tuple[list[int], list[int]]:
    return differences(places[::2]), differences(places[1::2])


def handle(hole: int, control: int, way: str, places: tuple, points: tuple[int, ...] = ()) -> Record:
    """What can be touched: something dragged is told by differences, places that are picked as they are."""
    if way == "pick":
        return hole, control, way, places
    return hole, control, way, differences(places), *across_and_down(points)
