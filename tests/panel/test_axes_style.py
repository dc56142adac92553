import matplotlib
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.palette import STILL


@pytest.fixture
def axes():
    return Figure().add_subplot()


@pytest.mark.parametrize(
    ("wanted", "edges"), [({}, {"left", "bottom"}), ({"edges": ("bottom",)}, {"bottom"}), ({"edges": ()}, set())]
)
def test_draws_only_requested_edges(axes, wanted, edges):
    style_axes(axes, **wanted)
    assert {name for name, edge in axes.spines.items() if edge.get_visible()} == edges


@pytest.mark.parametrize(("grid", "drawn"), [(None, ""), ("x", "x"), ("y", "y"), ("both", "xy")])
def test_grid_is_behind_the_plot(axes, grid, drawn):
    style_axes(axes, grid=grid)
    lines = {"x": axes.get_xgridlines()[0], "y": axes.get_ygridlines()[0]}
    assert [name for name, line in lines.items() if line.get_visible()] == list(drawn)
    assert all(same_color(lines[name].get_color(), STILL) for name in drawn)
    assert axes.get_axisbelow() == (True if grid else matplotlib.rcParams["axes.axisbelow"])
