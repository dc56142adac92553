"""How far mean and variance of a mini-batch lie from the true ones, and what theory says of independent values."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import is_narrow, subplots
from blocklab_course.panel.palette import INK, MOVED, TRUE

IMAGES, SIDE = 8192, 14  # the pool that mini-batches are drawn from, of one channel with mean 0 and variance 1
MOST = 32  # images in a mini-batch
BATCHES = 4000  # mini-batches measured
COUNTS = np.geomspace(2, MOST * SIDE**2, 200)  # values per channel, for the curves

MEANS = Text(en="the batch's mean", zh="小批量的均值")
VARIANCES = Text(en="the batch's unbiased variance", zh="小批量的无偏方差")
COUNT = Text(en="values per channel, m = N·H·W", zh="每个通道的数值个数 m = N·H·W")
SPREAD = Text(en="standard deviation", zh="标准差")
THEORY = Text(en="theory, for independent values", zh="理论值（各数相互独立）")
FOUND = Text(en="measured", zh="实测值")
SEEN = Text(
    en="{images} images of {side} × {side}: m = {m}. The means have standard deviation {mean:.3f} "
    "(theory {mean_theory:.3f}), the unbiased variances {variance:.3f} (theory {variance_theory:.3f}).",
    zh="{images} 张 {side} × {side} 的图：m = {m}。均值的标准差是 {mean:.3f}（理论值 {mean_theory:.3f}），"
    "无偏方差的标准差是 {variance:.3f}（理论值 {variance_theory:.3f}）。",
)
WORTH = Text(
    en=" For the mean, these {m} values are worth {worth:.0f} independent ones.",
    zh="就均值而言，这 {m} 个数只相当于 {worth:.0f} 个独立的数。",
)


def estimate_spread(figure: Figure) -> Callable[..., str]:
    """How far means and unbiased variances of many mini-batches spread, against m, both axes logarithmic.

    update(images, side, alike): images in a mini-batch, their height and width, and whether neighbouring pixels are
    alike (each the average of 3 × 3 independent numbers) or independent. Small dots are the sides up to this one.
    """
    left, right = subplots(
        figure,
        2,
        wide={"left": 0.07, "right": 0.985, "bottom": 0.14, "top": 0.82, "wspace": 0.16},
        narrow={"left": 0.15, "right": 0.97, "bottom": 0.08, "top": 0.86, "hspace": 0.35},
    )
    pools = {alike: sums(pool(alike)) for alike in (False, True)}
    generator = torch.Generator().manual_seed(1)
    chosen = torch.randint(IMAGES, (BATCHES, MOST), generator=generator).numpy()
    of_mean, of_variance = spread_axes(left, MEANS, spread_of_mean), spread_axes(right, VARIANCES, spread_of_variance)
    left.set_ylabel(str(SPREAD))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper center", ncols=1 if is_narrow(figure) else 2, frameon=False, labelcolor=INK
    )

    @cache
    def measured(images: int, side: int, alike: bool) -> tuple[float, float]:
        """The spread of the means and of the variances."""
        m = images * side**2
        total, squares = (each[side - 1][chosen[:, :images]].sum(1) for each in pools[alike])
        return (total / m).std(), ((squares - total**2 / m) / (m - 1)).std()

    def update(images: int, side: int, alike: bool) -> str:
        m = images * side**2
        sides = range(1, side + 1)
        for (trail, here), spreads in zip(
            (of_mean, of_variance), zip(*(measured(images, s, alike) for s in sides), strict=True), strict=True
        ):
            trail.set_data([images * s**2 for s in sides], spreads)
            here.set_data([m], [spreads[-1]])
        mean, variance = measured(images, side, alike)
        draggable(of_mean[1], "images", lambda images: (images * side**2, measured(images, side, alike)[0]))
        draggable(of_variance[1], "side", lambda side: (images * side**2, measured(images, side, alike)[1]))
        line = SEEN.format(
            images=images,
            side=side,
            m=m,
            mean=mean,
            mean_theory=spread_of_mean(m),
            variance=variance,
            variance_theory=spread_of_variance(m),
        )
        return line + (WORTH.format(m=m, worth=images * worth(side)) if alike and side > 1 else "")

    return update


def spread_of_mean(m):
    """The standard deviation of the mean of m independent values of variance 1."""
    return m**-0.5


def spread_of_variance(m):
    """The standard deviation of the unbiased variance of m independent normal values of variance 1."""
    return (2 / (m - 1)) ** 0.5


def worth(side: int) -> float:
    """How many independent pixels the mean over side × side pixels is worth, each the average of 3 × 3 numbers.

    Along an axis two pixels a distance k apart share (3 − k) / 3 of their numbers.
    """
    shared = sum(max(0, 3 - abs(i - j)) / 3 for i in range(side) for j in range(side))
    return side**4 / shared**2


def pool(alike: bool) -> torch.Tensor:
    """Images of normal numbers with mean 0 and variance 1, independent or each the average of 3 × 3."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(IMAGES, 1, SIDE + 2, SIDE + 2, generator=generator, dtype=torch.float64)
    if alike:
        return 3 * F.avg_pool2d(x, 3, stride=1)[:, 0]
    return x[:, 0, 1:-1, 1:-1]


def sums(images: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """For every side the sum over the image's first side × side pixels, and that of their squares: (SIDE, IMAGES)."""
    corners = (x.cumsum(1).cumsum(2).diagonal(dim1=1, dim2=2).T.numpy() for x in (images, images.square()))
    return tuple(corners)


def spread_axes(axes: Axes, title: Text, spread: Callable) -> tuple[Line2D, Line2D]:
    """The line of theory, and empty artists for what is measured: small dots, and a large one."""
    axes.set(xscale="log", yscale="log", xlim=(1.6, 8000), ylim=(0.009, 2), xlabel=str(COUNT))
    axes.set_title(str(title), size=11)
    axes.set_xticks([2, 10, 100, 1000], ["2", "10", "100", "1000"])
    axes.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    axes.minorticks_off()
    style_axes(axes, grid="both")
    axes.plot(COUNTS, spread(COUNTS), color=TRUE, linewidth=2, label=str(THEORY), zorder=2)
    (trail,) = axes.plot([], [], "o", color=MOVED, markersize=5, animated=True, zorder=3)
    (here,) = axes.plot([], [], "o", color=MOVED, markersize=10, label=str(FOUND), animated=True, zorder=4)
    return trail, here


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "images": Slider(2, MOST, 2, value=4, label=Text(en="images N", zh="图像数 N"), log=True),
        "side": Slider(1, SIDE, 1, value=SIDE, label=Text(en="height = width", zh="高 = 宽")),
        "alike": Toggle(False, label=Text(en="neighbours alike", zh="相邻像素相似")),
    }
    return Panel(estimate_spread, size=(10, 4), narrow=(4.6, 6.6), **controls | own)
