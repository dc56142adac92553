"""Settings for nbval: `pytest --nbval --nbval-current-env tests/notebooks notebooks/en notebooks/zh`.

With `--plain-panels en` the English lessons use fallback panels; what the lessons print is the same.
"""

from itertools import groupby
from pathlib import Path
from runpy import run_path

import pytest

# Loaded from its file, because `authoring` is not installed in the Colab environment.
stranded_cells = run_path(str(Path(__file__).parents[2] / "lib" / "authoring" / "cell_deps.py"))["stranded_cells"]


def pytest_addoption(parser):
    parser.addoption("--plain-panels", metavar="LANGUAGE", help="use fallback panels in the lessons of this language")


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` deselects
def pytest_collection_modifyitems(config, items):
    cells = [item for item in items if hasattr(item, "output_timeout")]
    for cell in cells:
        own = cell.cell.metadata.get("blocklab", {})
        if hidden := own.get("sealed"):  # the outputs of an answer, which nbval by itself ignores
            cell.cell.outputs = hidden
            cell.options["check"] = cell.parent.compare_outputs and not own.get("varies")
        cell.output_timeout = 60  # nbval's default of 5 seconds is too short on a busy machine
        if (language := cell.path.parent.name) == config.getoption("--plain-panels"):
            cell.cell.source = cell.cell.source.replace(f'begin("{language}")', f'begin("{language}", panels="plain")')
    for _path, lesson in groupby(cells, key=lambda cell: cell.path):
        for cell in slow(list(lesson)):
            cell.add_marker("slow")


def slow(lesson):
    """The slow cells, and the cells that depend on them."""
    tagged = [number for number, cell in enumerate(lesson) if "slow" in cell.cell.metadata.get("tags", [])]
    return [lesson[number] for number in stranded_cells([cell.cell.source for cell in lesson], tagged)]
