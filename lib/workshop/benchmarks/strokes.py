"""What a state of every lesson's panels costs the kernel: as strokes, against a frame and its JPEG.

Each panel's picture is made twice, and both are moved in turn, so that what else the machine does falls on both. Only
drawing is timed, in processor time, for `update` is the same. A state is a stop of the first slider, or of the first
control where there is none. What it takes to send is what is new in it and the numbers of its strokes, as JSON.
Run: OMP_NUM_THREADS=1 python -m workshop.benchmarks.strokes [LESSON, such as 02]
"""

import gc
import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from statistics import median, quantiles
from time import process_time
from typing import NamedTuple

from blocklab.panel import Panel, Slider
from blocklab.panel.canvas import Canvas, jpeg
from blocklab.panel.panel import LIVE_SCALE
from blocklab.panel.plain_view import QUALITY
from workshop.lesson_panels import SOURCES, panels

STOPS = 16
IN_SUM, EACH, BYTES = 0.4, 1.0, 3000
"""Wanted: at most this share of today's time over all panels, and of each; at most so many bytes, as a median."""


class Cost(NamedTuple):
    """Of one panel: milliseconds of each state, bytes that each sends, plain and compressed, and those of the first."""

    today: list[float]
    strokes: list[float]
    plain: list[int]
    compressed: list[int]
    first: int


def moves(panel: Panel) -> Iterator[dict[str, object]]:
    """Values of all controls while a reader moves one of them to and fro: a slider if there is one."""
    name, control = min(panel.controls.items(), key=lambda item: not isinstance(item[1], Slider))
    stops = list(control.stops())
    if isinstance(control, Slider):
        stops = [control.at(n) for n in sorted({round(control.last * k / (STOPS - 1)) for k in range(STOPS)})]
    for value in [*stops, *stops[-2::-1]]:
        yield {**panel.values, name: value}


def cost(panel: Panel) -> Cost:
    """Today's way and strokes, each in a picture of its own."""
    frames, drawn = (Canvas(panel.size, LIVE_SCALE) for _ in range(2))
    updates = [panel._picture(canvas.figure) for canvas in (frames, drawn)]
    today, strokes, plain, compressed, sent = [], [], [], [], set()
    for number, values in enumerate(moves(panel)):
        for update in updates:
            update(**values)
        arms = [(today, lambda: jpeg(frames.frame(), QUALITY)), (strokes, drawn.strokes)]
        for times, arm in arms if number % 2 else arms[::-1]:  # what both share, the first of them pays
            start = process_time()
            arm()
            times.append(1000 * (process_time() - start))
        drawing = drawn.strokes()
        new = sorted(drawing.uses(drawn.records, sent))
        sent.update(new)
        packet = {"rest": drawing.rest, "moving": drawing.moving, "new": {n: drawn.records[n] for n in new}}
        told = json.dumps(packet, separators=(",", ":")).encode()
        plain.append(len(told))
        compressed.append(len(gzip.compress(told)))
    half = len(plain) // 2 + 1  # on the way back every state is known
    plain, compressed = plain[:half], compressed[:half]
    return Cost(today[1:], strokes[1:], plain[1:], compressed[1:], plain[0])


def main(wanted: str) -> None:
    gc.freeze()
    sums, bytes_of_all, slow = [0.0, 0.0], [], []
    print("milliseconds of drawing one state, and bytes to send it: medians over its states, the first of them apart")
    print(
        f"{'panel':8}{'today':>8}{'strokes':>9}{'p90':>7}{'ratio':>7}{'bytes':>8}{'largest':>9}{'gzip':>7}{'first':>9}"
    )
    for source in SOURCES:
        if not source.name.startswith(wanted):
            continue
        with redirect_stdout(StringIO()):  # what its cells print
            made = panels(source)
        for (cell, language), panel in made.items():
            if language != "en" or not panel.controls:
                continue
            found = cost(panel)
            today, strokes = median(found.today), median(found.strokes)
            sums[0] += today
            sums[1] += strokes
            bytes_of_all.append(median(found.plain))
            slow += [f"{source.name[:2]}.{cell}"] * (strokes > EACH * today)
            print(
                f"{source.name[:2]}.{cell:<5}{today:8.1f}{strokes:9.1f}{quantiles(found.strokes, n=10)[-1]:7.1f}"
                f"{strokes / today:7.0%}{median(found.plain):8.0f}{max(found.plain):9}{median(found.compressed):7.0f}"
                f"{found.first:9}",
                flush=True,
            )
    print(f"all: {sums[1]:.0f} against {sums[0]:.0f} ms, {sums[1] / sums[0]:.0%}; wanted: at most {IN_SUM:.0%}")
    print(f"slower than today: {', '.join(slow) or 'none'}; wanted: none")
    print(f"bytes of a state, median over the panels: {median(bytes_of_all):.0f}; wanted: at most {BYTES}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
