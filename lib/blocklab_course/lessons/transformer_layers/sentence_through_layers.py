"""A sentence on its way through one post-norm layer of MiniLM: how large each word piece is, step by step."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import is_narrow, subplots
from blocklab_course.panel.palette import INK, MOVED, QUIET, TRUE
from blocklab_course.pretrained import Trace

SMALLEST, LARGEST = 0.03, 15.0

HALVES = (
    Text(en="attention: norm1(x + attention(x))", zh="注意力：norm1(x + attention(x))"),
    Text(en="feed-forward network: norm2(x + ffn(x))", zh="前馈网络：norm2(x + ffn(x))"),
)
STEPS = (  # from top to bottom; hollow marks lie on top of others
    (Text(en="x, as it comes in", zh="输入 x"), "o", 5, {"color": QUIET, "mfc": "none"}),
    (Text(en="what is added", zh="加上的部分"), ">", 3, {"color": MOVED}),
    (Text(en="the sum", zh="两者之和"), "s", 6, {"color": TRUE, "mfc": "none"}),
    (Text(en="after the norm", zh="归一化之后"), "o", 4, {"color": INK}),
)
APART = (-0.27, -0.09, 0.09, 0.27)  # the steps of a word piece stand below each other, so that none hides another
SIZE = Text(en="root mean square of the 384 features", zh="384 个特征的均方根")
SEEN = Text(
    en="Layer {layer}. Most is added to “{piece}”, by {half}: x {came:.1f}, added {added:.1f}, sum {total:.1f}, after "
    "the norm {after:.1f}. Median over the pieces: attention adds {attended:.2f}, the feed-forward network {fed:.2f}.",
    zh="第 {layer} 层，{half}给“{piece}”加上的最多：x 为 {came:.1f}，加上 {added:.1f}，和为 {total:.1f}，"
    "归一化之后为 {after:.1f}。各个子词的中位数：注意力加上 {attended:.2f}，前馈网络加上 {fed:.2f}。",
)
NAMES = (Text(en="attention", zh="注意力"), Text(en="the feed-forward network", zh="前馈网络"))


def sentence_through_layers(pieces: Sequence[str], sizes: Tensor) -> Callable[[Figure], Callable[..., str]]:
    """The picture of a reading: a row for each word piece, attention left, the feed-forward network right.

    sizes: (layer, half, step, L), as of the steps above. update(layer): counted from 0.
    """
    table = sizes.numpy()
    rows = np.arange(len(pieces))

    def picture(figure: Figure) -> Callable[..., str]:
        grid = subplots(
            figure,
            2,
            wide={"left": 0.09, "right": 0.985, "bottom": 0.12, "top": 0.83, "wspace": 0.06},
            narrow={"left": 0.2, "right": 0.97, "bottom": 0.06, "top": 0.87, "hspace": 0.3},
            sharey=True,
        )
        dots = []
        for axes, title in zip(grid, HALVES, strict=True):
            axes.set(xscale="log", xlim=(SMALLEST, LARGEST), ylim=(len(rows) - 0.3, -0.7), xlabel=str(SIZE))
            axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
            axes.set_yticks(rows, pieces)
            axes.tick_params(axis="y", length=0, labelsize=10)
            axes.set_title(str(title), size=11, color=INK)
            style_axes(axes, grid="both")
            dots.append(
                [
                    axes.plot(
                        rows + 1.0, rows + y, mark, label=str(name), animated=True, ms=6, mew=1.6, zorder=z, **colours
                    )[0]
                    for y, (name, mark, z, colours) in zip(APART, STEPS, strict=True)
                ]
            )
        columns = 2 if is_narrow(figure) else 4
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=columns, frameon=False, labelcolor=INK)

        def update(layer: int) -> str:
            here = table[layer]
            for half, of_half in zip(here, dots, strict=True):
                for values, marks in zip(half, of_half, strict=True):
                    marks.set_xdata(values)
            half, place = np.unravel_index(here[:, 1].argmax(), here[:, 1].shape)
            came, added, total, after = here[half, :, place]
            return SEEN.format(
                layer=layer,
                piece=pieces[place],
                half=NAMES[half],
                came=came,
                added=added,
                total=total,
                after=after,
                attended=np.median(here[0, 1]),
                fed=np.median(here[1, 1]),
            )

        return update

    return picture


def panel(reading: Trace, **own: Control) -> Panel:
    """The picture of a reading with its controls; `own` replaces some of them."""
    sizes = reading.sizes()
    last = len(sizes) - 1
    controls = {"layer": Slider(0, last, 1, value=last, label=Text(en="layer", zh="层"))}
    return Panel(sentence_through_layers(reading.pieces, sizes), size=(10, 4.6), narrow=(4.6, 7.8), **controls | own)
