"""What the tests of the whole package share."""

import pytest
import torch
from hypothesis import settings
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Same examples in every run, and no time limit on one of them: a shared machine is slow at times.
settings.register_profile("blocklab", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("blocklab")


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def figure() -> Figure:
    figure = Figure(figsize=(10, 5))
    FigureCanvasAgg(figure)
    return figure
