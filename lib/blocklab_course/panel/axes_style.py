"""How the axes of a plot look: alike in all pictures, and no line more than is read."""

from matplotlib.axes import Axes

from .palette import STILL


def style_axes(axes: Axes, edges: tuple[str, ...] = ("left", "bottom"), grid: str | None = None) -> None:
    """Draw only these edges of the frame, and lines behind the plot where a `grid` is wanted: "x", "y" or "both"."""
    for name, edge in axes.spines.items():
        edge.set_visible(name in edges)
    if grid:
        axes.grid(axis=grid, color=STILL)
        axes.set_axisbelow(True)
