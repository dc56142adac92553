"""The dot product of two rows of the table against their signed distance, as they are and with a shift between."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.figure import Figure

from blocklab.positional_encoding import shift_matrix, sinusoidal_encoding
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET

FAR, REACH = 40, 20  # how far the curves reach to either side, and the offset
POSITION = 100  # of the first row: any other gives the same curves

AS_THEY_ARE = Text(en="of two rows", zh="两行的点积")
SHIFTED = Text(en="with M times the first row", zh="先用 M 乘第一行，再求点积")
DISTANCE = Text(en="second position less first", zh="第二个位置减第一个位置")
PRODUCT = Text(en="dot product over d/2", zh="点积 ÷ (d/2)")
SEEN = Text(
    en="M shifts by {offset}. As they are: {least:.2f} at −{near} and {most:.2f} at {near}. With M: {before:.2f} and "
    "{after:.2f}, highest at {peak}.",
    zh="M 平移 {offset} 个位置。不乘 M 时，−{near} 处是 {least:.2f}，{near} 处是 {most:.2f}；乘上 M，"
    "两处是 {before:.2f} 和 {after:.2f}，最高点在 {peak}。",
)
NEAR = 5  # the distance that the line tells of


def products(offset: int, d_model: int) -> np.ndarray:
    """The dot products of a row that a shift has moved, and the rows from −FAR to FAR around it."""
    rows = sinusoidal_encoding(POSITION + FAR + 1, d_model, dtype=torch.float64)
    moved = shift_matrix(offset, d_model, dtype=torch.float64) @ rows[POSITION]
    return (rows[POSITION - FAR :] @ moved).numpy()


def signed_distance(figure: Figure) -> Callable[..., str]:
    """Two curves over the signed distance.

    update(offset, d_model): how far the matrix between the rows shifts, and the width of the table.
    """
    narrow = is_narrow(figure)
    axes = add_axes(figure, wide=(0.07, 0.16, 0.91, 0.76), narrow=(0.16, 0.14, 0.81, 0.7))
    axes.set(xlim=(-FAR - 1, FAR + 1), ylim=(-0.3, 1.08), xticks=range(-FAR, FAR + 1, 10))
    axes.set_xlabel(str(DISTANCE), color=INK)
    axes.set_ylabel(str(PRODUCT), color=INK)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    style_axes(axes, grid="both")
    axes.axvline(0, color=QUIET, linewidth=1)
    distances = np.arange(-FAR, FAR + 1)
    styles = (AS_THEY_ARE, OTHER, 4.5), (SHIFTED, MOVED, 1.8)
    still, moving = (
        axes.plot([], [], color=colour, linewidth=wide, label=str(name), animated=True)[0]
        for name, colour, wide in styles
    )
    peak = {"marker": "o", "markersize": 9, "markeredgecolor": "white", "zorder": 4, "animated": True}
    (dot,) = axes.plot([], [], color=MOVED, **peak)
    draggable(dot, "offset", lambda offset: (offset, 1))
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1)}
    axes.legend(**(above if narrow else {"loc": "lower right", "ncols": 2}), frameon=False, labelcolor=INK)

    def update(offset: int, d_model: int) -> str:
        plain_ones, shifted = (products(by, d_model) / (d_model / 2) for by in (0, offset))
        still.set_data(distances, plain_ones)
        moving.set_data(distances, shifted)
        dot.set_data([offset], [shifted[FAR + offset]])
        (least, most), (before, after) = ((curve[FAR - NEAR], curve[FAR + NEAR]) for curve in (plain_ones, shifted))
        return SEEN.format(
            offset=offset,
            near=NEAR,
            least=least,
            most=most,
            before=before,
            after=after,
            peak=int(distances[shifted.argmax()]),
        ).replace(" -", " −")

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "offset": Slider(-REACH, REACH, 1, value=0, label=Text(en="offset of M", zh="M 的平移")),
        "d_model": Slider(4, 128, 4, value=16, label=Text(en="d", zh="d")),
    }
    return Panel(signed_distance, size=(10, 3.4), narrow=(4.6, 4.2), **controls | own)
