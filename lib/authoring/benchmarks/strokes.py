"""What one state of each lesson's panels costs the Jupyter kernel: recorded strokes, compared with a JPEG frame.

Each picture is drawn both ways, in turn. Only drawing is timed, in processor time, because `update` is the same for
both. The states are the stops of the first slider, or of the first control if there is no slider. The size of a state
is that of the JSON that the page has not received yet.
"""

import gc
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from statistics import median, quantiles
from time import process_time
from typing import NamedTuple

from authoring.lesson_panels import SOURCES, run_panels
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.canvas import Canvas, jpeg
from blocklab_course.panel.fallback_view import QUALITY
from blocklab_course.panel.panel import LIVE_SCALE

TINY = {"lesson": "09", "stops": 2}
GOAL, GOAL_EACH, GOAL_BYTES = 0.4, 1.0, 3000  # strokes' time divided by frames': of all panels, of each; median size


class Cost(NamedTuple):
    """Milliseconds of each state as a frame and as strokes; bytes of each state, and of the first one."""

    frames: list[float]
    strokes: list[float]
    sizes: list[int]
    first: int


def states(panel: Panel, stops: int) -> Iterator[dict[str, object]]:
    """The values of all controls while a reader moves one of them to its end and back."""
    name, control = min(panel.controls.items(), key=lambda item: not isinstance(item[1], Slider))
    values = list(control.stops())
    if isinstance(control, Slider):
        values = [control.at(n) for n in sorted({round(control.last * k / (stops - 1)) for k in range(stops)})]
    for value in [*values, *values[-2::-1]]:
        yield {**panel.values, name: value}


def measure(panel: Panel, stops: int) -> Cost:
    framed, recorded = (Canvas(panel.size, LIVE_SCALE) for _ in range(2))
    updates = [panel._picture(canvas.figure) for canvas in (framed, recorded)]
    frames, strokes, sizes, sent = [], [], [], set()
    for number, values in enumerate(states(panel, stops)):
        for update in updates:
            update(**values)
        renderers = [(frames, lambda: jpeg(framed.frame(), QUALITY)), (strokes, recorded.strokes)]
        for times, draw in renderers if number % 2 else renderers[::-1]:  # the first one pays for shared work
            start = process_time()
            draw()
            times.append(1000 * (process_time() - start))
        drawing = recorded.strokes()
        new = sorted(drawing.uses(recorded.records, sent))
        sent.update(new)
        packet = {"rest": drawing.rest, "moving": drawing.moving, "new": {n: recorded.records[n] for n in new}}
        sizes.append(len(json.dumps(packet, separators=(",", ":")).encode()))
    forward = len(sizes) // 2 + 1  # on the way back every state is known
    return Cost(frames[1:], strokes[1:], sizes[1:forward], sizes[0])


def main(lesson: str = "", stops: int = 16) -> None:
    gc.freeze()
    of_frames, of_strokes, sizes, slower = 0.0, 0.0, [], []
    print("milliseconds to draw a state and bytes to send it: medians over the states of a panel, without the first")
    print(f"{'panel':8}{'frame':>8}{'strokes':>9}{'p90':>7}{'ratio':>7}{'bytes':>8}{'largest':>9}{'first':>9}")
    for source in SOURCES:
        if not source.name.startswith(lesson):
            continue
        with redirect_stdout(StringIO()):  # what its cells print
            made = run_panels(source)
        for (cell, language), panel in made.items():
            if language != "en" or not panel.controls:
                continue
            cost = measure(panel, stops)
            frame, strokes, size = median(cost.frames), median(cost.strokes), median(cost.sizes)
            of_frames += frame
            of_strokes += strokes
            sizes.append(size)
            slower += [f"{source.name[:2]}.{cell}"] * (strokes > GOAL_EACH * frame)
            print(
                f"{source.name[:2]}.{cell:<5}{frame:8.1f}{strokes:9.1f}{quantiles(cost.strokes, n=10)[-1]:7.1f}"
                f"{strokes / frame:7.0%}{size:8.0f}{max(cost.sizes):9}{cost.first:9}",
                flush=True,
            )
    print(
        f"all: {of_strokes:.0f} ms, frames {of_frames:.0f} ms: {of_strokes / of_frames:.0%}; goal: at most {GOAL:.0%}"
    )
    print(f"slower than frames: {', '.join(slower) or 'none'}; goal: none")
    print(f"median size of a state: {median(sizes):.0f} bytes; goal: at most {GOAL_BYTES}")
