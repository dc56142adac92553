"""Four rulers, one for each size of the first LLaMA: which multiple_of rounds up to the published width?"""

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from blocklab.feed_forward import hidden_width
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET, STILL

PUBLISHED = {4096: 11008, 5120: 13824, 6656: 17920, 8192: 22016}
"""By d_model: the hidden width of the first LLaMA models. Source: data/model_widths.csv."""

FIRST, LAST, STEP = 4, 704, 4  # the values of multiple_of that can be tried
ROWS = range(len(PUBLISHED) - 1, -1, -1)  # the smallest model on top

GUESS = Prediction(
    {
        Text(en="multiples of 256", zh="256 的倍数"): "multiples",
        Text(en="powers of 2", zh="2 的幂"): "powers",
        Text(en="some divisors", zh="一部分因数"): "some",
        Text(en="all divisors", zh="所有因数"): "all",
    },
    right="some",
    question=Text(
        en="Which values of multiple_of turn 10922 into 11008?",
        zh="哪些 multiple_of 能让 10922 变成 11008？",
    ),
    explanation=Text(
        en="Some divisors of 11008 do: set “try all” to “for 11008”, and the top row on the right has 5 marks, from "
        "128 to 688.",
        zh="是 11008 的一部分因数：把“全试一遍”设为“只看 11008”，右图最上面一行有 5 个标记，从 128 到 688。",
    ),
)
"""Which values of multiple_of turn 10922 into 11008."""

TRY_ALL = {
    Text(en="not yet", zh="先不试"): 0,
    Text(en="for 11008", zh="只看 11008"): 1,
    Text(en="for all four", zh="四个都看"): 4,
}
"""For how many of the models every value that fits is shown, from the top."""

SIZES = {"size": (10, 4.4), "narrow": (4.6, 6.4)}

RULERS = Text(en="marks: the multiples of multiple_of", zh="刻度：multiple_of 的倍数")
BEYOND = Text(en="distance from 8d/3 (without its fraction)", zh="与 8d/3（舍去小数）的距离")
TRIED = Text(en="multiple_of that give the width", zh="能得到该宽度的 multiple_of")
RULE = Text(en="the rule's width", zh="规则给出的宽度")
TABLE = Text(en="the published width", zh="公布的宽度")
NAME = Text(en="d = {d}\n8d/3 → {raw}", zh="d = {d}\n8d/3 → {raw}")
SEEN = Text(
    en="multiple_of = {multiple} gives {widths}: {found} of the 4 published widths.",
    zh="multiple_of = {multiple} 得到 {widths}：4 个公布的宽度中，对上了 {found} 个。",
)
ONE = Text(en=" Of all values tried, {one} give 11008.", zh="试过的取值里，有 {one} 个得到 11008。")
FOUR = Text(en=" All four widths come out with {which}.", zh="四个宽度都对上的是 {which}。")
AND = Text(en=", ", zh="、")


def fitting(d_model: int) -> list[int]:
    """The values of multiple_of, among those that can be tried, that give the published width."""
    return [m for m in range(FIRST, LAST + 1, STEP) if hidden_width(d_model, m) == PUBLISHED[d_model]]


def width_detective(figure: Figure) -> Callable[..., str]:
    """Left the rulers, where 8d/3 is cut to a whole number and put at 0; right which multiple_of fit, by model.

    update(multiple_of, tried): for how many models, from the top, the right half shows every value that fits.
    """
    rulers = add_axes(figure, wide=(0.125, 0.15, 0.475, 0.69), narrow=(0.27, 0.54, 0.7, 0.3))
    fits = add_axes(figure, wide=(0.685, 0.15, 0.3, 0.69), narrow=(0.27, 0.08, 0.7, 0.3))
    raw = [hidden_width(d, 1) for d in PUBLISHED]
    gaps = [published - start for published, start in zip(PUBLISHED.values(), raw, strict=True)]
    draw_axes(rulers, str(RULERS), str(BEYOND), (-25, LAST + 20))
    draw_axes(fits, str(TRIED), "multiple_of", (FIRST - 14, LAST + 14))
    names = [NAME.format(d=d, raw=start) for d, start in zip(PUBLISHED, raw, strict=True)]
    rulers.set_yticks(ROWS, names)
    fits.set_yticks(ROWS, PUBLISHED.values())
    rulers.axvline(0, color=QUIET, linestyle="--", linewidth=1)
    target = {"markerfacecolor": "none", "markeredgecolor": OTHER, "markeredgewidth": 2.2, "zorder": 4}
    rulers.plot(gaps, ROWS, "s", markersize=15, label=str(TABLE), **target)
    marks = LineCollection([], colors=QUIET, linewidths=0.8, animated=True)
    rulers.add_collection(marks, autolim=False)
    (dots,) = rulers.plot([], [], "o", color=MOVED, markersize=8, zorder=5, label=str(RULE), animated=True)
    rulers.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.09),
        ncols=1 if is_narrow(figure) else 2,
        frameon=False,
        labelcolor=INK,
    )
    everything = [(m, row) for row, d in zip(ROWS, PUBLISHED, strict=True) for m in fitting(d)]
    ticks = LineCollection([], colors=INK, linewidths=2.2, animated=True)
    fits.add_collection(ticks, autolim=False)
    (here,) = fits.plot([], [], color=STILL, linewidth=6, zorder=0, animated=True)
    draggable(here, "multiple_of", lambda multiple: (multiple, 1.5))
    (hits,) = fits.plot([], [], "o", color=MOVED, markersize=8, zorder=5, animated=True)
    fit_one = len(fitting(4096))
    fit_all = [m for m in range(FIRST, LAST + 1, STEP) if all((m, row) in everything for row in ROWS)]

    def update(multiple_of: int, tried: int) -> str:
        widths = [hidden_width(d, multiple_of) for d in PUBLISHED]
        beyond = [width - start for width, start in zip(widths, raw, strict=True)]
        found = [row for row, gap, wanted in zip(ROWS, beyond, gaps, strict=True) if gap == wanted]
        marks.set_segments(ruler_marks(multiple_of, raw))
        dots.set_data(beyond, ROWS)
        here.set_data([multiple_of] * 2, [-0.6, 3.6])
        hits.set_data([multiple_of] * len(found), found)
        ticks.set_segments([[(m, y - 0.3), (m, y + 0.3)] for m, y in everything if y in ROWS[:tried]])
        seen = SEEN.format(multiple=multiple_of, widths=str(AND).join(map(str, widths)), found=len(found))
        if tried:
            seen += ONE.format(one=fit_one)
        if tried == len(ROWS):
            seen += FOUR.format(which=str(AND).join(map(str, fit_all)))
        return seen

    return update


def ruler_marks(multiple_of: int, raw: list[int]) -> list[list[tuple[float, float]]]:
    """A short stroke at each multiple near the ruler's beginning, row by row."""
    marks = []
    for row, start in zip(ROWS, raw, strict=True):
        first = -(start % multiple_of)
        for x in np.arange(first, LAST + 20, multiple_of):
            if x > -25:
                marks.append([(x, row), (x, row + 0.26)])
    return marks


def draw_axes(axes: Axes, title: str, below: str, across: tuple[float, float]) -> None:
    """A line for each model, and the frame around them."""
    axes.set_title(title, size=11, color=INK)
    axes.set(xlim=across, ylim=(-0.6, 3.6), xlabel=below)
    axes.tick_params(axis="y", length=0, labelsize=10)
    axes.hlines(ROWS, *across, color=QUIET, linewidth=1.2)
    style_axes(axes, edges=("bottom",))


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "multiple_of": Slider(FIRST, LAST, STEP, value=64, label="multiple_of"),
        "tried": Choice(TRY_ALL, 0, label=Text(en="try all", zh="全试一遍")),
    }
    return Panel(width_detective, **SIZES, **controls | own)


def still() -> Panel:
    """Every value that fits, for all four models, and the one that fits them all; nothing in it can be moved."""
    return Panel(lambda figure: partial(width_detective(figure), multiple_of=256, tried=len(ROWS)), **SIZES)
