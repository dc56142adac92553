"""Settings for nbval: `pytest --nbval --nbval-current-env tests/notebooks notebooks/en notebooks/zh`."""

from itertools import groupby
from pathlib import Path
from runpy import run_path

import pytest

# From its file: where the lessons run as on Colab, the authors' package is not installed.
needed = run_path(str(Path(__file__).parents[2] / "lib" / "workshop" / "cells.py"))["needed"]


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` chooses
def pytest_collection_modifyitems(items):
    cells = [item for item in items if hasattr(item, "output_timeout")]
    for cell in cells:
        cell.output_timeout = 60  # nbval waits 5 seconds for a line of output, too few on a busy machine
    for _path, lesson in groupby(cells, key=lambda cell: cell.path):
        for cell in dispensable(list(lesson)):
            cell.add_marker("slow")


def dispensable(lesson):
    """The slow cells; none where others need one of them, for these may need its random numbers, too."""
    slow = [number for number, cell in enumerate(lesson) if "slow" in cell.cell.metadata.get("tags", [])]
    return [] if needed([cell.cell.source for cell in lesson], slow) else [lesson[number] for number in slow]
