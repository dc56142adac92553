"""The style of axes, the same in all pictures."""

from matplotlib.axes import Axes

from .palette import STILL


def style_axes(axes: Axes, edges: tuple[str, ...] = ("left", "bottom"), grid: str | None = None) -> None:
    """Show only these edges of the frame, and optionally a grid behind the plot: "x", "y" or "both"."""
    for name, edge in axes.spines.items():
        edge.set_visible(name in edges)
    if grid:
        axes.grid(axis=grid, color=STILL)
        axes.set_axisbelow(True)
