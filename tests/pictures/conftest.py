import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


@pytest.fixture
def figure():
    figure = Figure(figsize=(10, 5))
    FigureCanvasAgg(figure)
    return figure
