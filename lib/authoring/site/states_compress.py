"""Records in fewer characters, and in columns, which gzip halves again: similar values stand together, as deltas.

    [[kind, numbers, column, column, …], …]

Each group holds the records of one kind with the same number of parts: their numbers, as deltas, and then a column for
each part. The parts are those of `blocklab_course.panel.display_list`, except for lists of coordinates:

    "steps"  style, clip, x, y, shape, across, down[, hatch]   a path: its first point, its commands, each with its
                                                               number of points, and the deltas between its steps
    "marks"  style, clip, d, across, down                      the coordinates of the places as deltas
    "handles"  …, "drag", places, across, down, …              likewise

`states.js` reads them.
"""

import re
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from io import BytesIO
from itertools import groupby, pairwise
from operator import itemgetter

from PIL import Image

from blocklab_course.panel.svg_path import join_numbers

Record = tuple

_ABSOLUTE = re.compile(r"[MLQCZ\d -]+")
_ABSOLUTE_COMMAND = re.compile(r"([MLQCZ])([^MLQCZ]*)")
_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}
_RELATIVE = re.compile(r"M(-?\d+) ?(-?\d+)([mlqcz\d -]*)")  # what `relative_path` writes
_RELATIVE_COMMAND = re.compile(r"([mlqcz])([\d -]*)")
_NUMBER = re.compile(r"-?\d+")


def deltas(values: Iterable[int]) -> list[int]:
    """The first value, then the step from each to the next."""
    return [there - here for here, there in pairwise((0, *values))]


# Records in fewer characters


def shorten(record: Record) -> Record:
    """The record with a relative path, or with a smaller image. It draws the very same."""
    kind, *parts = record
    if kind == "path":
        return kind, *parts[:2], relative_path(parts[2]), *parts[3:]
    return (kind, *parts[:-1], smaller_image(parts[-1])) if kind in ("image", "tint") else record


def relative_path(d: str) -> str:
    """An absolute path with relative commands; any other path as it is."""
    if not _ABSOLUTE.fullmatch(d):
        return d
    written, here, start = [], (0, 0), (0, 0)
    for letter, arguments in _ABSOLUTE_COMMAND.findall(d):
        if letter == "Z":
            written.append("z")
            here = start
            continue
        values = [int(value) for value in _NUMBER.findall(arguments)]
        points = list(zip(values[::2], values[1::2], strict=True))
        steps = []
        for first in range(0, len(points), _POINTS[letter]):
            curve = points[first : first + _POINTS[letter]]
            steps += [there - from_ for point in curve for there, from_ in zip(point, here, strict=True)]
            here = curve[-1]
        if letter == "M":
            start = here
        written.append((letter.lower() if written else letter) + join_numbers(steps))
    return "".join(written)


@lru_cache(maxsize=1000)  # both languages show the same images
def smaller_image(url: str) -> str:
    """A PNG as a data URL, or the same pixels as WebP if that is shorter."""
    out = BytesIO()
    image = Image.open(BytesIO(b64decode(url.partition(",")[2])))
    image.save(out, "WEBP", lossless=True, quality=75, method=6, exact=True)  # 100 takes seconds
    return min(url, "data:image/webp;base64," + b64encode(out.getvalue()).decode(), key=len)


# Records in columns


def to_columns(records: Iterable[tuple[int, Record]]) -> list[list]:
    """The records with their numbers, in groups."""
    groups = defaultdict(list)
    for number, record in records:
        kind, *parts = _to_row(record)
        groups[kind, len(parts)].append((number, *parts))
    found = ((kind, *zip(*rows, strict=True)) for (kind, _), rows in groups.items())
    return [[kind, deltas(own), *map(list, parts)] for kind, own, *parts in found]


def _to_row(record: Record) -> Record:
    """The record as its group has it."""
    kind, *parts = record
    if kind == "path" and (found := _RELATIVE.fullmatch(parts[2])):
        return "steps", *parts[:2], *_to_steps(*found.groups()), *parts[3:]
    if kind == "marks":
        return kind, *parts[:3], *_across_and_down(parts[3])
    return (kind, [_handle(*each) for each in parts[0]]) if kind == "handles" else record


def _to_steps(x: str, y: str, d: str) -> tuple[int, int, str, list[int], list[int]]:
    """A relative path; consecutive commands of one letter become one."""
    commands = [(letter, len(_NUMBER.findall(values)) // 2) for letter, values in _RELATIVE_COMMAND.findall(d)]
    runs = ((letter, sum(points for _, points in run)) for letter, run in groupby(commands, itemgetter(0)))
    shape = "".join(f"{letter}{points or ''}" for letter, points in runs)
    return int(x), int(y), shape, *_across_and_down([int(number) for number in _NUMBER.findall(d)])


def _across_and_down(coordinates: list[int]) -> tuple[list[int], list[int]]:
    return deltas(coordinates[::2]), deltas(coordinates[1::2])


def _handle(slot: int, control: int, way: str, places: tuple, points: tuple[int, ...] = ()) -> Record:
    """What can be dragged, with deltas; what can be picked, as it is."""
    if way == "pick":
        return slot, control, way, places
    return slot, control, way, deltas(places), *_across_and_down(points)
