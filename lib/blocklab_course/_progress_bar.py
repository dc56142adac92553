"""A progress line for long loops."""

import sys
import time
from collections.abc import Iterable, Iterator

from blocklab_course.i18n import Text

PROGRESS = Text(en="{label}: {done} of {total}", zh="{label}：{done}/{total}")


def progress_bar(iterable: Iterable, label: Text, every: float = 0.1) -> Iterator:
    """Iterate over `iterable` and print a count, at most once in `every` seconds and at the end, always on one line.

    No times are printed, so that the saved output is the same on every machine.

    Raises TypeError if the iterable has no length.
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
