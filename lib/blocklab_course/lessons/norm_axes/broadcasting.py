"""Which mean meets which number when a table minus its means is taken, with and without `keepdim`."""

from collections.abc import Callable
from math import isclose

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Toggle
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, PAPER, POKED, QUIET, STILL, letters_on

TABLES = {
    "square": torch.tensor([[1.0, 1, 1], [5, 5, 5], [9, 9, 9]]),
    "x": torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]]),
}
ROWS, COLUMNS = 3, 4  # of the largest table
GAP = 1.3  # columns between two tables, with the sign in it

REFUSED = Text(
    en="{call}: shapes {table} and {mean}. torch refuses: “{error}”",
    zh="{call}：形状是 {table} 和 {mean}，torch 报错：“{error}”。",
)
FITS = Text(
    en="{call}: the means have the shape {mean}. {wrong} of {total} results are wrong.",
    zh="{call}：均值的形状是 {mean}，{total} 个结果中有 {wrong} 个是错的。",
)
NO_OUTPUT = Text(en="error: no output", zh="报错，没有输出")


def broadcasting(figure: Figure) -> Callable[..., str]:
    """A table, its means where broadcasting puts them, with the copies pale, and the difference.

    update(table, axis, keepdim): a key of TABLES; the axis of the mean; whether it is kept with size 1.
    """
    narrow = is_narrow(figure)
    axes = add_axes(figure, wide=(0.0, 0.0, 1.0, 0.86), narrow=(0.0, 0.0, 1.0, 0.9))
    axes.set_axis_off()
    axes.set_aspect("equal")
    slot = COLUMNS + GAP
    places = [(0, 0), (slot, 0), (slot / 2, -ROWS - 1.3)] if narrow else [(0, 0), (slot, 0), (2 * slot, 0)]
    right = max(left for left, _ in places) + COLUMNS
    axes.set(xlim=(-0.3, right + 0.3), ylim=(places[-1][1] - ROWS - 0.2, 1.1))
    size = {"family": "monospace", "size": 10 if narrow else 11, "color": INK, "va": "center", "animated": True}
    call = figure.text(0.02, 0.95 if narrow else 0.93, "", **size)
    grids = [Grid(axes, *place) for place in places]
    for sign, (left, top) in zip("−=", places[1:], strict=True):
        axes.text(left - GAP / 2, top - ROWS / 2, sign, size=16, color=INK, ha="center", va="center")
    left, top = places[-1]
    error = axes.text(
        left + COLUMNS / 2,
        top - ROWS / 2,
        str(NO_OUTPUT),
        size=11,
        color=POKED,
        ha="center",
        va="center",
        animated=True,
    )

    def update(table: str, axis: int, keepdim: bool) -> str:
        x = TABLES[table]
        mean = x.mean(axis, keepdim=keepdim)
        written = f"{table} - {table}.mean({axis}{', keepdim=True' if keepdim else ''})"
        call.set_text(written)
        pickable(call, "keepdim", [not keepdim])
        grids[0].show(x, x.shape, [[STILL] * x.shape[1]] * len(x))
        about = {"call": written, "table": tuple(x.shape), "mean": tuple(mean.shape)}
        try:
            found = x - mean
        except RuntimeError as refused:
            error.set_visible(True)
            grids[1].show(mean[None], mean.shape, [[STILL] * len(mean)])
            grids[2].hide()
            return REFUSED.format(error=refused, **about)
        error.set_visible(False)
        aligned = mean.expand(x.shape)
        kept = [1] * (x.dim() - mean.dim()) + list(mean.shape)
        first = [[all(i < n for i, n in zip(at, kept, strict=True)) for at in row] for row in cells(x)]
        grids[1].show(aligned, mean.shape, [[STILL if own else PAPER for own in row] for row in first])
        wanted = (x - x.mean(axis, keepdim=True)).tolist()
        right = [
            [isclose(a, b, abs_tol=1e-5) for a, b in zip(*rows, strict=True)]
            for rows in zip(found.tolist(), wanted, strict=True)
        ]
        grids[2].show(found, found.shape, [[STILL if fits else MOVED for fits in row] for row in right])
        wrong = sum(not fits for row in right for fits in row)
        return FITS.format(wrong=wrong, total=x.numel(), **about)

    return update


def cells(x: Tensor) -> list[list[tuple[int, int]]]:
    """The places of a table, row by row."""
    return [[(row, column) for column in range(x.shape[1])] for row in range(x.shape[0])]


class Grid:
    """A table of at most ROWS by COLUMNS cells, whose upper left corner is at (left, top) in the axes."""

    def __init__(self, axes: Axes, left: float, top: float):
        self.left, self.top = left, top
        self.cells = []
        for row in range(ROWS):
            for column in range(COLUMNS):
                cell = Rectangle((0, 0), 0.94, 0.94, edgecolor=QUIET, linewidth=0.6, animated=True)
                axes.add_patch(cell)
                number = axes.text(0, 0, "", size=10, ha="center", va="center", animated=True)
                self.cells.append((row, column, cell, number))
        self.shape = axes.text(left, top + 0.45, "", size=10, color=INK, va="center", ha="center", animated=True)

    def show(self, table: Tensor, shape: torch.Size, colours: list[list[str]]) -> None:
        """Show a table in the middle of the place, with its colours, and `shape` above it."""
        rows, columns = table.shape
        left, top = self.left + (COLUMNS - columns) / 2, self.top - (ROWS - rows) / 2
        for row, column, cell, number in self.cells:
            there = row < rows and column < columns
            cell.set_visible(there)
            number.set_visible(there)
            if there:
                colour = colours[row][column]
                cell.set(xy=(left + column + 0.03, top - row - 0.97), facecolor=colour)
                number.set_position((left + column + 0.5, top - row - 0.5))
                number.set(text=f"{table[row, column]:g}".replace("-", "−"))
                number.set_color(QUIET if colour == PAPER else letters_on(colour))
        self.shape.set(visible=True, text=str(tuple(shape)), position=(self.left + COLUMNS / 2, top + 0.45))

    def hide(self) -> None:
        """Show nothing."""
        for _, _, cell, number in self.cells:
            cell.set_visible(False)
            number.set_visible(False)
        self.shape.set_visible(False)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "keepdim": Toggle(False, label="keepdim"),
        "axis": Choice({"0": 0, "1": 1}, 1, label=Text(en="axis", zh="轴")),
        "table": Choice({"square (3, 3)": "square", "x (2, 4)": "x"}, "square", label=Text(en="table", zh="表")),
    }
    return Panel(broadcasting, size=(10, 2.8), narrow=(4.6, 4.6), **controls | own)
