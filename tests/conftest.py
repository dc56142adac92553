"""What the tests of the whole package share."""

import matplotlib
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


@pytest.fixture
def lesson_undone():
    """Takes back what `lesson.begin` sets: language, font, threads."""
    from blocklab import language  # here, for some tests put another package of that name in its place

    threads = torch.get_num_threads()
    with matplotlib.rc_context():
        yield
    language.choose("en")
    torch.set_num_threads(threads)


@pytest.fixture
def english_again():
    """Takes back the language that a test has chosen."""
    from blocklab import language

    yield
    language.choose("en")
