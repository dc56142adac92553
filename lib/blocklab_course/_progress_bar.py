"""The progress of long work, on one line."""

import sys
import time
from collections.abc import Iterable, Iterator

from blocklab_course.i18n import Text

PROGRESS = Text(en="{label}: {done} of {total}", zh="{label}：{done}/{total}")


def progress_bar(iterable: Iterable, label: Text, every: float = 0.1) -> Iterator:
    """Go through `iterable` and count on one line, at most once in `every` seconds, and at the end.

    Only counts are shown, no times, so that the saved output is the same on every machine.
    Raises TypeError for an iterable without a length.
    """
    total = len(iterable)
    shown = -float("inf")
    done = 0

    def show(end: str) -> None:
        sys.stdout.write("\r" + PROGRESS.format(label=label, done=done, total=total) + end)
        sys.stdout.flush()

    for item in iterable:
        if time.monotonic() - shown >= every:
            show("")
            shown = time.monotonic()
        yield item
        done += 1
    show("\n")
