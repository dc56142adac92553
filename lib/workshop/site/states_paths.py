"""Paths in fewer characters: points far from the corner of a picture lie near to each other."""

import re

from blocklab.panel.outlines import numbers

ABSOLUTE = re.compile(r"[MLQCZ\d -]+")
COMMAND = re.compile(r"([MLQCZ])([^MLQCZ]*)")
POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}


def by_differences(d: str) -> str:
    """The same path, each of its points told from where the one before has ended; any other path as it is."""
    if not ABSOLUTE.fullmatch(d):
        return d
    told, here, start = [], (0, 0), (0, 0)
    for letter, said in COMMAND.findall(d):
        if letter == "Z":
            told.append("z")
            here = start
            continue
        values = [int(value) for value in re.findall(r"-?\d+", said)]
        points = list(zip(values[::2], values[1::2], strict=True))
        steps = []
        for first in range(0, len(points), POINTS[letter]):
            curve = points[first : first + POINTS[letter]]
            steps += [there - from_ for point in curve for there, from_ in zip(point, here, strict=True)]
            here = curve[-1]
        if letter == "M":
            start = here
        told.append((letter.lower() if told else letter) + numbers(steps))
    return "".join(told)
