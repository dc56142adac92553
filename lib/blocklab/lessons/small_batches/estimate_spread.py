"""How far mean and variance of a mini-batch lie from the true ones, and what theory says of independent values."""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab.language import Text
from blocklab.panel import Panel, Slider, Toggle
from blocklab.panel.controls import Control
from blocklab.panel.palette import INK, MOVED, QUIET, TRUE
from blocklab.panel.plain import plain
from blocklab.panel.touch import dragged

IMAGES, SIDE = 8192, 14  # the pool that mini-batches are drawn from, of one channel with mean 0 and variance 1
MOST = 32  # images in a mini-batch
BATCHES, DOTS = 4000, 150  # mini-batches measured, and how many of them are shown
COUNTS = np.geomspace(2, MOST * SIDE**2, 200)  # values per channel, for the curves

MEANS = Text(en="the batch's mean (true: 0)", zh="小批量的均值（真值 0）")
VARIANCES = Text(en="the batch's unbiased variance (true: 1)", zh="小批量的无偏方差（真值 1）")
COUNT = Text(en="values per channel, m = N·H·W", zh="每个通道的数值个数 m = N·H·W")
THEORY = Text(en="theory: ± 1 standard deviation", zh="理论值：± 1 个标准差")
FOUND = Text(en="measured: ± 1 standard deviation", zh="测量值：± 1 个标准差")
ONE = Text(en="one mini-batch", zh="一个小批量")
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
    """Left the means of many mini-batches, right their unbiased variances, as dots above m, in the funnel of theory.

    update(images, side, alike): images in a mini-batch, their height and width, and whether neighbouring pixels are
    alike (each the average of 3 × 3 independent numbers) or independent.
    """
    left, right = figure.subplots(
        1, 2, gridspec_kw={"left": 0.07, "right": 0.985, "bottom": 0.14, "top": 0.82, "wspace": 0.16}
    )
    pools = {alike: sums(pool(alike)) for alike in (False, True)}
    generator = torch.Generator().manual_seed(1)
    chosen = torch.randint(IMAGES, (BATCHES, MOST), generator=generator).numpy()
    shift = torch.linspace(-1, 1, DOTS)[torch.randperm(DOTS, generator=generator)].numpy()
    mean_dots, mean_bar = funnel(left, str(MEANS), 0, spread_of_mean, (-2.4, 2.4))
    variance_dots, variance_bar = funnel(right, str(VARIANCES), 1, spread_of_variance, (-0.4, 6.4))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=3, frameon=False, labelcolor=INK)

    def update(images: int, side: int, alike: bool) -> str:
        m = images * side**2
        total, squares = (each[side - 1][chosen[:, :images]].sum(1) for each in pools[alike])
        means = total / m
        variances = (squares - total * means) / (m - 1)
        for dots, bar, values, middle in (
            (mean_dots, mean_bar, means, 0),
            (variance_dots, variance_bar, variances, 1),
        ):
            spread = values.std()
            dots.set_data(m * 1.12**shift, values[:DOTS])
            bar.set_data([m, m], [middle - spread, middle + spread])
        dragged(mean_bar, "images", lambda images: (images * side**2, 0))
        dragged(variance_bar, "side", lambda side: (images * side**2, 1))
        line = SEEN.format(
            images=images,
            side=side,
            m=m,
            mean=means.std(),
            mean_theory=spread_of_mean(m),
            variance=variances.std(),
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


def funnel(axes: Axes, title: str, true: float, spread: Callable, limits: tuple[float, float]):
    """The curves true ± spread(m), and empty artists for the estimates and for the spread that they have."""
    axes.set(xscale="log", xlim=(1.6, 8000), ylim=limits, xlabel=str(COUNT))
    axes.set_title(title, size=11)
    axes.set_xticks([2, 10, 100, 1000], ["2", "10", "100", "1000"])
    axes.minorticks_off()
    axes.axhline(true, color=QUIET, linewidth=0.8)
    plain(axes, grid="both")
    for sign, label in ((1, str(THEORY)), (-1, None)):
        axes.plot(COUNTS, true + sign * spread(COUNTS), color=TRUE, linewidth=2, label=label, zorder=2)
    (dots,) = axes.plot([], [], ".", color=MOVED, markersize=4, alpha=0.6, label=str(ONE), animated=True, zorder=3)
    (bar,) = axes.plot([], [], "_-", color=INK, markersize=14, linewidth=2.2, animated=True, zorder=4, label=str(FOUND))
    return dots, bar


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "images": Slider(2, MOST, 2, value=4, label=Text(en="images N", zh="图像数 N"), log=True),
        "side": Slider(1, SIDE, 1, value=1, label=Text(en="height = width", zh="高 = 宽")),
        "alike": Toggle(False, label=Text(en="neighbours alike", zh="相邻像素相似")),
    }
    return Panel(estimate_spread, size=(10, 4), **controls | own)
