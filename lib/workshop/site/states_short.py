"""Records in fewer characters that show the very same."""

import re
from base64 import b64decode, b64encode
from functools import lru_cache
from io import BytesIO

from PIL import Image

from blocklab.panel.outlines import numbers

ABSOLUTE = re.compile(r"[MLQCZ\d -]+")
COMMAND = re.compile(r"([MLQCZ])([^MLQCZ]*)")
POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}


def short(record: tuple) -> tuple:
    """The record with its path told by differences, or with its image packed more tightly."""
    kind, *about = record
    if kind == "path":
        return kind, *about[:2], by_differences(about[2]), *about[3:]
    return (kind, *about[:-1], tight(about[-1])) if kind == "image" else record


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


@lru_cache(maxsize=1000)  # both languages show the same images
def tight(url: str) -> str:
    """The address of an image in the shorter of two formats that keep every pixel: PNG, which it is in, and WebP."""
    out = BytesIO()
    image = Image.open(BytesIO(b64decode(url.partition(",")[2])))
    image.save(out, "WEBP", lossless=True, quality=75, method=6, exact=True)  # 100 takes seconds
    return min(url, "data:image/webp;base64," + b64encode(out.getvalue()).decode(), key=len)
