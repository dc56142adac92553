"""What training has made of LayerNorm's γ, which starts at one: norm by norm, from a real model."""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import subplots
from blocklab_course.panel.palette import INK, MOVED, QUIET

BINS = np.linspace(-0.0625, 1.6125, 68)  # 0 and 1 are in the middle of a bar
MOST = 0.05, 0.95  # the thick part of a line

GUESS = Prediction(
    {
        Text(en="nearly all larger than 1", zh="几乎都比 1 大"): "larger",
        Text(en="nearly all smaller than 1", zh="几乎都比 1 小"): "smaller",
        Text(en="half and half", zh="大小各占一半"): "half",
        Text(en="all about 1", zh="都约等于 1"): "one",
    },
    right="smaller",
    question=Text(
        en="Before training every γ was 1. What has training made of them?",
        zh="训练之前，γ 都是 1。训练把它们变成了什么样？",
    ),
    explanation=Text(
        en="Nearly all are smaller than 1: tick *trained*, and go through the norms.",
        zh="几乎都比 1 小：勾选“训练之后”，再逐个看各个归一化层。",
    ),
)
"""What training makes of γ."""

NORM = Text(en="norm, from the input up, from 0", zh="归一化层的编号（从输入算起，从 0 编起）")
GAMMA = Text(en="γ", zh="γ")
START = Text(en="start of training", zh="训练开始时")
COUNT = Text(en="features", zh="特征个数")
MEAN = Text(en="mean", zh="均值")
ALL = Text(en="all {count} γ", zh="全部 {count} 个 γ")
MIDDLE = Text(en="the middle 90%", zh="中间的 90%")
SEEN = Text(
    en="Norm {place}: γ has mean {mean:.2f} and lies between {low:.2f} and {high:.2f}; {above} of {count} values are "
    "above their start, 1.",
    zh="编号 {place} 的归一化层：γ 的均值为 {mean:.2f}，在 {low:.2f} 和 {high:.2f} 之间；"
    "{count} 个值里有 {above} 个大于初值 1。",
)
BEFORE = Text(en="Before training every γ is 1.", zh="训练之前，γ 都是 1。")


def trained_scales(gammas: list[Tensor]) -> Callable[[Figure], Callable[..., str]]:
    """The picture of a model's γ vectors, from the input up.

    update(place, trained): which norm the right half shows, and whether as trained or as at the start.
    """
    values = [gamma.numpy() for gamma in gammas]

    def picture(figure: Figure) -> Callable[..., str]:
        overview, histogram = subplots(
            figure,
            2,
            wide={"left": 0.07, "right": 0.985, "bottom": 0.16, "top": 0.93, "wspace": 0.18},
            narrow={"left": 0.13, "right": 0.97, "bottom": 0.08, "top": 0.97, "hspace": 0.25},
        )
        places = np.arange(len(values))
        overview.set(
            xlim=(-0.7, len(values) - 0.3), ylim=(BINS[0], BINS[-1] + 0.3), xlabel=str(NORM), ylabel=str(GAMMA)
        )
        histogram.set(xlim=(BINS[0], BINS[-1]), xlabel=str(GAMMA), ylabel=str(COUNT), yscale="log")
        histogram.set_ylim(0.7, 2 * max(map(len, values)))
        histogram.set_yticks([1, 10, 100], ["1", "10", "100"])
        for axes in (overview, histogram):
            style_axes(axes, grid="y")
        overview.axhline(1, color=QUIET, linestyle="--", linewidth=1)
        histogram.axvline(1, color=QUIET, linestyle="--", linewidth=1)
        histogram.text(1.04, 0.96, str(START), transform=histogram.get_xaxis_transform(), va="top", size=9, color=QUIET)
        low, high = np.array([(v.min(), v.max()) for v in values]).T
        ends, middle = np.array([np.quantile(v, MOST) for v in values]).T, np.array([v.mean() for v in values])
        drawn = {"color": QUIET, "animated": True}
        lines = [
            overview.vlines(places, low, high, linewidth=1.2, label=ALL.format(count=len(values[0])), **drawn),
            overview.vlines(places, *ends, linewidth=5, label=str(MIDDLE), **drawn),
        ]
        (means,) = overview.plot(places, middle, "o", color=INK, markersize=5, animated=True, zorder=3, label=str(MEAN))
        legend = overview.legend(loc="upper center", ncols=3, frameon=False, labelcolor=INK)
        legend.set_animated(True)
        (chosen,) = overview.plot([], [], "o", color=MOVED, markersize=11, animated=True, zorder=4)
        bars = histogram.stairs(np.zeros(len(BINS) - 1), BINS, fill=True, color=MOVED, animated=True, zorder=3)

        def update(place: int, trained: bool) -> str:
            gamma = values[place] if trained else np.ones_like(values[place])
            heights = middle if trained else np.ones_like(middle)
            for mark in (*lines, legend):  # before training there is one γ only, and nothing to tell apart
                mark.set_visible(trained)
            means.set_ydata(heights)
            chosen.set_data([place], [heights[place]])
            draggable(chosen, "place", lambda place: (place, heights[place]))
            bars.set_data(np.histogram(gamma, BINS)[0], BINS)
            if not trained:
                return str(BEFORE)
            return SEEN.format(
                place=place,
                mean=gamma.mean(),
                low=round(float(gamma.min()), 2) + 0.0,  # not -0.00
                high=gamma.max(),
                above=int((gamma > 1).sum()),
                count=len(gamma),
            )

        return update

    return picture


def panel(gammas: list[Tensor], **own: Control) -> Panel:
    """The picture of these γ with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "trained": Toggle(False, label=Text(en="trained", zh="训练之后")),
        "place": Slider(0, len(gammas) - 1, 1, value=0, label=Text(en="norm, from 0", zh="编号，从 0 起")),
    }
    return Panel(trained_scales(gammas), size=(10, 3.8), narrow=(4.6, 6.2), **controls | own)
