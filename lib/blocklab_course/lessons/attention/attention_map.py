"""Who looks at whom in a trained model: the attention of one head, as a map and for one word."""

from collections.abc import Callable
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable, pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, POKED
from blocklab_course.pretrained import Trace

IT = 8  # the row of "it" in the sentence that is read if no other is given
HEAD = 2  # of layer 0: it looks one place to the left, so the map says something at once

WEIGHT = Text(en="weight", zh="权重")
MAP = Text(
    en="rows look at columns: no color 0, full orange 1, dot: the row's largest",
    zh="每一行看向各列：无色 0，纯橙 1，圆点为该行最大",
)
TINT = LinearSegmentedColormap.from_list("weight", [to_rgba(MOVED, 0), to_rgba(MOVED)])
ROW = Text(en="where “{piece}” looks", zh="“{piece}”看向哪里")
SEEN = Text(
    en="Layer {layer}, head {head}: “{piece}” looks most at “{seen}”, with weight {weight:.2f}. "
    "The mean of that column is {mean:.2f}.",
    zh="第 {layer} 层，{head} 号头：“{piece}”最关注“{seen}”，权重为 {weight:.2f}。这一列的平均值为 {mean:.2f}。",
)


def attention_map(pieces: tuple[str, ...], attention: Tensor) -> Callable[[Figure], Callable[..., str]]:
    """The picture of a reading: its word pieces and its weights, (layer, head, L, L), a row looks at the columns.

    update(layer, head, row): all counted from 0; row is the word whose weights stand on the right.
    """
    weights = attention.numpy()

    def picture(figure: Figure) -> Callable[..., str]:
        places = np.arange(len(pieces))
        narrow = is_narrow(figure)
        grid = add_axes(figure, wide=(0.1, 0.02, 0.42, 0.78), narrow=(0.2, 0.49, 0.7, 0.36))
        cells = grid.imshow(weights[0, 0], cmap=TINT, vmin=0, vmax=1, aspect="auto", animated=True, zorder=1)
        (largest,) = grid.plot(places, places, "o", color=INK, ms=5, animated=True, zorder=2)
        frame = Rectangle((-0.5, 0), len(pieces), 1, fill=False, edgecolor=POKED, linewidth=2, animated=True)
        frame.set(zorder=3, clip_on=False)
        grid.add_patch(frame)
        draggable(frame, "row", lambda row: (-0.5, row))
        grid.set_title(fill(str(MAP), 48) if narrow else str(MAP), size=11, color=INK)
        grid.set_xticks(places, pieces, rotation=60, ha="left", rotation_mode="anchor")
        grid.set_yticks(places, pieces)
        grid.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=2, labelsize=10)
        for row, word in enumerate(grid.get_yticklabels()):
            word.set_animated(True)
            pickable(word, "row", [row])
        bars = bar_axes(add_axes(figure, wide=(0.65, 0.14, 0.33, 0.66), narrow=(0.2, 0.07, 0.75, 0.35)), pieces)
        title = figure.text(
            *((0.5, 0.445) if narrow else (0.815, 0.86)),
            "",
            size=11,
            color=INK,
            ha="center",
            va="center",
            animated=True,
        )

        def update(layer: int, head: int, row: int) -> str:
            shown = weights[layer, head]
            cells.set_data(shown)
            largest.set_xdata(shown.argmax(1))
            frame.set_y(row - 0.5)
            for bar, weight in zip(bars, shown[row], strict=True):
                bar.set_width(weight)
            title.set_text(ROW.format(piece=pieces[row]))
            most = int(shown[row].argmax())
            return SEEN.format(
                layer=layer,
                head=head,
                piece=pieces[row],
                seen=pieces[most],
                weight=shown[row, most],
                mean=shown[:, most].mean(),
            )

        return update

    return picture


def bar_axes(axes: Axes, pieces: tuple[str, ...]) -> list[Rectangle]:
    """A bar for each word piece, the first on top."""
    axes.set(xlim=(0, 1), ylim=(len(pieces) - 0.5, -0.5), xlabel=str(WEIGHT))
    axes.set_yticks(range(len(pieces)), pieces)
    axes.tick_params(axis="y", length=0, labelsize=10)
    style_axes(axes, grid="x")
    return list(axes.barh(range(len(pieces)), np.zeros(len(pieces)), 0.7, color=MOVED, animated=True, zorder=3))


def panel(reading: Trace, **own: Control) -> Panel:
    """The picture of a reading with its controls; `own` replaces some of them."""
    layers, heads, length, _ = reading.attention.shape
    controls = {
        "layer": Slider(0, layers - 1, 1, value=0, label=Text(en="layer", zh="层")),
        "head": Slider(0, heads - 1, 1, value=min(HEAD, heads - 1), label=Text(en="head", zh="头")),
        "row": Slider(0, length - 1, 1, value=min(IT, length - 1), label=Text(en="row", zh="行")),
    }
    return Panel(attention_map(reading.pieces, reading.attention), size=(10, 4.6), narrow=(4.6, 7.6), **controls | own)
