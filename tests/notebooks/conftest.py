"""Settings for nbval: `pytest --nbval --nbval-current-env tests/notebooks notebooks/en notebooks/zh`.

With `--plain-panels en` the English lessons show plain panels: what a lesson prints is the same with either kind.
"""

from itertools import groupby
from pathlib import Path
from runpy import run_path

import pytest

# From its file: where the lessons run as on Colab, the authors' package is not installed.
stranded_cells = run_path(str(Path(__file__).parents[2] / "lib" / "authoring" / "cell_deps.py"))["stranded_cells"]


def pytest_addoption(parser):
    parser.addoption("--plain-panels", metavar="LANGUAGE", help="the lessons in this language show plain panels")


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` chooses
def pytest_collection_modifyitems(config, items):
    cells = [item for item in items if hasattr(item, "output_timeout")]
    for cell in cells:
        sealed = cell.cell.metadata.get("blocklab", {}).get("sealed")  # what a run shows, and the file does not
        cell.cell.outputs = sealed or cell.cell.outputs
        cell.output_timeout = 60  # nbval waits 5 seconds for a line of output, too few on a busy machine
        if (language := cell.path.parent.name) == config.getoption("--plain-panels"):
            cell.cell.source = cell.cell.source.replace(f'begin("{language}")', f'begin("{language}", panels="plain")')
    for _path, lesson in groupby(cells, key=lambda cell: cell.path):
        for cell in slow(list(lesson)):
            cell.add_marker("slow")


def slow(lesson):
    """The slow cells, and those that need one of them."""
    tagged = [number for number, cell in enumerate(lesson) if "slow" in cell.cell.metadata.get("tags", [])]
    return [lesson[number] for number in stranded_cells([cell.cell.source for cell in lesson], tagged)]
