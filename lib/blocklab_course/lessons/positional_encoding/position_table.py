"""The sinusoidal table as a heat map, with one of its rows and one of its columns drawn as curves beside it."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from blocklab.positional_encoding import sinusoidal_encoding, wavelengths
from blocklab_course.i18n import Text
from blocklab_course.lessons.positional_encoding.diverging_colormap import WAVE
from blocklab_course.panel import Panel, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import is_narrow
from blocklab_course.panel.palette import INK, MOVED, PAPER_ON_COLOUR, POKED, fixed

LONGEST, WIDEST = 200, 512  # the largest table
STEADY = 0.1  # a column whose numbers all lie within this of each other hardly tells positions apart

POSITION = Text(en="position k", zh="位置 k")
COLUMN = Text(en="column", zh="列")
THE_ROW = Text(en="the row", zh="这一行")
THE_COLUMN = Text(en="the column", zh="这一列")
SINE = Text(en="sine", zh="正弦")
COSINE = Text(en="cosine", zh="余弦")
SEEN = Text(
    en="Column {column}: the {wave} of pair {pair}, one turn takes {turn} positions. In {steady} of the {width} "
    "columns ({share:.0%}) all {length} numbers lie within 0.1 of each other.",
    zh="第 {column} 列：第 {pair} 对的{wave}，转一圈要 {turn} 个位置。{width} 列中有 {steady} 列"
    "（{share:.0%}）几乎不变：列中 {length} 个数彼此相差不到 0.1。",
)


def steady_columns(table: np.ndarray) -> int:
    """In how many columns of a table, (L, d), all numbers lie within 0.1 of each other."""
    return int((np.ptp(table, axis=0) < STEADY).sum())


def position_table(figure: Figure) -> Callable[..., str]:
    """The table, position 0 on top; the chosen column on the right of it, the chosen row below.

    update(length, d_model, base, row, column, apart): the size of the table and the base of its frequencies; what is
    drawn as curves, the last row or column where the table is too small; whether all sines stand before all cosines.
    """
    narrow = is_narrow(figure)
    left, bottom, wide, high = (0.13, 0.4, 0.6, 0.57) if narrow else (0.065, 0.4, 0.68, 0.56)
    heat = figure.add_axes((left, bottom, wide, high))
    right = left + wide + (0.06 if narrow else 0.025)
    beside = figure.add_axes((right, bottom, 0.985 - right, high))
    below = figure.add_axes((left, 0.115, wide, 0.2))
    heat.set_ylabel(str(POSITION), color=INK)
    below.set_xlabel(str(COLUMN), color=INK)
    heat.tick_params(labelbottom=False)
    image = heat.imshow([[0.0]], cmap=WAVE, vmin=-1, vmax=1, aspect="auto", interpolation="nearest", animated=True)
    for axes in (beside, below):
        style_axes(axes, grid="both")
    beside.set(xlim=(-1.15, 1.15), xticks=[-1, 0, 1])
    beside.tick_params(labelleft=False)
    beside.set_xlabel(str(THE_COLUMN), color=INK)
    below.set(ylim=(-1.2, 1.2), yticks=[-1, 0, 1])
    below.set_ylabel(str(THE_ROW), color=INK)
    key = figure.add_axes((right, 0.115, 0.985 - right, 0.03))
    key.imshow([np.linspace(-1, 1, 201)], cmap=WAVE, aspect="auto", extent=(-1, 1, 0, 1))
    key.set(xticks=[-1, 0, 1], yticks=[])
    style_axes(key, edges=())
    across = heat.axhline(0, color=fixed(MOVED), linewidth=1.6, animated=True)
    down = heat.axvline(0, color=fixed(POKED), linewidth=1.6, animated=True)
    for line in (across, down):
        line.set_path_effects([withStroke(linewidth=4, foreground=PAPER_ON_COLOUR)])
    (wave,) = beside.plot([], [], color=POKED, linewidth=1.4, marker="o", markersize=2.5, animated=True)
    dots = {"marker": "o", "linestyle": "", "color": MOVED, "animated": True, "clip_on": False}
    (sines,) = below.plot([], [], markersize=3, label=str(SINE), **dots)
    (cosines,) = below.plot([], [], markersize=4, mfc="none", label=str(COSINE), **dots)
    crossing = {"marker": "o", "markersize": 7, "animated": True, "zorder": 4, "clip_on": False}
    (here,) = beside.plot([], [], color=MOVED, **crossing)
    (there,) = below.plot([], [], color=POKED, **crossing)
    draggable(across, "row", lambda row: (0, min(row, image.get_size()[0] - 1)))
    draggable(down, "column", lambda column: (min(column, image.get_size()[1] - 1), 0))
    figure.legend(
        handles=[sines, cosines], loc="center", bbox_to_anchor=(0.87, 0.225), ncols=1 if narrow else 2, frameon=False
    )

    def update(length: int, d_model: int, base: float, row: int, column: int, apart: bool) -> str:
        table = sinusoidal_encoding(length, d_model, base, dtype=torch.float64).numpy()
        steady = steady_columns(table)
        order = np.arange(d_model)
        if apart:
            order = np.concatenate([order[::2], order[1::2]])
        table = table[:, order]
        row, column = min(row, length - 1), min(column, d_model - 1)
        image.set_data(table)
        extent = (-0.5, d_model - 0.5, length - 0.5, -0.5)
        if tuple(image.get_extent()) != extent:  # draws all anew
            image.set_extent(extent)
            below.set_xlim(extent[:2])
            beside.set_ylim(extent[2:])
        across.set_ydata([row, row])
        down.set_xdata([column, column])
        wave.set_data(table[:, column], np.arange(length))
        here.set_data([table[row, column]], [row])
        odd = order % 2 == 1
        for kind, chosen in ((sines, ~odd), (cosines, odd)):
            kind.set_data(np.flatnonzero(chosen), table[row, chosen])
        there.set_data([column], [table[row, column]])
        pair = int(order[column]) // 2
        turn = wavelengths(d_model, base, dtype=torch.float64)[pair].item()
        return SEEN.format(
            column=column,
            wave=COSINE if odd[column] else SINE,
            pair=pair,
            turn=f"{turn:.1f}" if turn < 100 else f"{turn:.0f}",
            steady=steady,
            width=d_model,
            share=steady / d_model,
            length=length,
        )

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "length": Slider(10, LONGEST, 10, value=50, label=Text(en="L", zh="L")),
        "d_model": Slider(16, WIDEST, 16, value=128, label=Text(en="d", zh="d")),
        "base": Slider(1.0, 100000.0, 10**0.5, value=10000.0, label=Text(en="base", zh="底数"), log=True),
        "row": Slider(0, LONGEST - 1, 1, value=20, label=Text(en="row", zh="行")),
        "column": Slider(0, WIDEST - 2, 3, value=24, label=Text(en="column", zh="列")),
        "apart": Toggle(False, label=Text(en="sines before cosines", zh="先正弦，后余弦")),
    }
    return Panel(position_table, size=(10, 5), narrow=(4.6, 5.4), **controls | own)
