"""BatchNorm of few values: one of them runs away, and its output stops at the ceiling √(m − 1)."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from blocklab.normalization import standardize
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes
from blocklab_course.panel.palette import INK, MOVED, POKED, QUIET, STILL, TRUE

LEFT, LEAST, MOST = -1.0, 0.001, 1000.0  # the curve begins at LEFT; x₁ can be moved from LEAST on
LARGEST, OPENING = 32, LEAST * 10**3.3  # where the panel opens: as many values, and x₁ just outside the others
SIZES = {"size": (10, 4.2), "narrow": (4.6, 6.2)}
MARKED = (2, 4, 8, 16, 32)  # whose curves stay once m has come down to them
CURVE = np.concatenate([-np.geomspace(-LEFT, LEAST / 10, 61), [0], np.geomspace(LEAST / 10, MOST, 211)])
"""Dense at 0, where the curve of two values jumps."""
LOWEST, HIGHEST = -2.0, 6.0  # the outputs shown
NEAR = 0.02  # the inset shows the inputs from −NEAR to NEAR
GRIP = 10.0  # the input at which the ceiling is dragged
EVEN = 0.5  # up to about here the axis of inputs is linear; further out, by and by, it becomes logarithmic

GUESS = Prediction(
    {"500": 500.0, "1.41": 1.41, "1": 1.0, "0.71": 0.71},
    right=1.0,
    question=Text(
        en="Two numbers share a mean: 0 and 1000. What becomes of the 1000?",
        zh="两个数共用一个均值：0 和 1000。1000 会变成多少？",
    ),
    explanation=Text(
        en="It is 1: set m to 2 and drag x₁ to 1000. The mean is 500, and the standard deviation is 500 as well.",
        zh="是 1：把 m 调到 2，把 x₁ 拖到 1000。均值是 500，标准差也是 500。",
    ),
)
"""The output for x₁ = 1000 where m = 2: not what the unbiased variance would give, either, which is 0.71."""

BEFORE = Text(en="inputs", zh="输入")
AFTER = Text(en="outputs", zh="输出")
TITLE = Text(en="the numbers of one mini-batch", zh="一个小批量里的数")
X = Text(en="input $x_1$", zh="输入 $x_1$")
Y = Text(en="output for $x_1$", zh="$x_1$ 的输出")
ZOOM = Text(en="enlarged: $x_1$ near 0", zh="放大：$x_1$ 在 0 附近")
CEILING = Text(en=r"ceiling $\sqrt{m-1}$", zh=r"上限 $\sqrt{m-1}$")
SEEN = Text(en="m = {m}: x₁ = {x:g} becomes {y:.3f}.", zh="m = {m}：x₁ = {x:g} 变成 {y:.3f}。")
LIMIT = Text(en=" No output can exceed √(m − 1) = {ceiling:.3f}.", zh="任何输出都不会超过 √(m − 1) = {ceiling:.3f}。")
ALONE = Text(
    en="m = 1: x₁ is its own mean, so x₁ − mean is 0 and the output is β, here 0, whatever x₁ is. In training torch "
    "refuses such a batch.",
    zh="m = 1：x₁ 就是自己的均值，x₁ 减去均值等于 0，所以不论 x₁ 是多少，输出都是 β（这里是 0）。"
    "训练时，torch 拒绝这样的小批量。",
)


def saturating_batch(figure: Figure) -> Callable[..., str]:
    """Left m values before and after BatchNorm, each joined to its output; right the output for x₁ against x₁.

    update(m, x): how many values share the mean, and the first of them. The others are evenly spread from −1 to 1 (one
    alone: 0). Where the panel opens, the curve ends at x₁ and no ceiling is seen: they answer what is to be guessed.
    """
    left = add_axes(figure, wide=(0.075, 0.06, 0.42, 0.84), narrow=(0.14, 0.63, 0.83, 0.32))
    right = add_axes(figure, wide=(0.58, 0.145, 0.345, 0.755), narrow=(0.12, 0.085, 0.74, 0.46))
    inset = add_axes(figure, wide=(0.735, 0.22, 0.18, 0.15), narrow=(0.44, 0.128, 0.4, 0.085))
    lines, others, first = two_rulers(left)
    marked, curve, ceiling, name, dot = curve_axes(right)
    rise, near = inset_axes(inset)
    draggable(first, "x", lambda x: (place_before(np.array(x)), 1))
    draggable(ceiling, "m", lambda m: (GRIP, (m - 1) ** 0.5))

    def update(m: int, x: float) -> str:
        inputs, outputs = batch(m, x), through(m, x)
        top, bottom = place_before(inputs), place_after(outputs)
        lines.set_segments([[(a, 1), (b, 0)] for a, b in zip(top[1:], bottom[1:], strict=True)])
        others.set_data(np.concatenate([top[1:], bottom[1:]]), np.repeat([1.0, 0.0], m - 1))
        first.set_data([top[0], bottom[0]], [1, 0])
        limit = (m - 1) ** 0.5
        told = m != LARGEST or not np.isclose(x, OPENING)
        for larger, artists in marked.items():
            for artist in artists:
                artist.set_visible(told and larger >= m)
        for artist in (ceiling, name):
            artist.set_visible(told)
        along = np.array([through(m, value)[0] for value in CURVE])
        drawn = len(CURVE) if told else np.searchsorted(CURVE, x * (1 + 1e-9))
        curve.set_data(CURVE[:drawn], along[:drawn])
        rise.set_data(CURVE[:drawn], along[:drawn])
        draggable(dot, "x", lambda x: (x, np.interp(x, CURVE, along)))
        ceiling.set_ydata([limit, limit])
        name.set_position((60, limit - 0.12))
        dot.set_data([x], [outputs[0]])
        near.set_data([x], [outputs[0]])
        near.set_visible(x <= NEAR)
        if m == 1:
            return str(ALONE)
        line = SEEN.format(m=m, x=float(f"{x:.3g}"), y=outputs[0])
        return line + LIMIT.format(ceiling=limit) if told else line

    return update


def batch(m: int, x: float) -> np.ndarray:
    """x₁ and the m − 1 values beside it."""
    return np.array([x, *(np.linspace(-1, 1, m - 1) if m != 2 else [0.0])])


def through(m: int, x: float) -> np.ndarray:
    """What BatchNorm makes of them, with γ = 1 and β = 0."""
    return standardize(torch.from_numpy(batch(m, x)), 0).numpy()


def place_before(x: np.ndarray) -> np.ndarray:
    """Where a value stands on the upper ruler, from 0 to 1, on an asinh scale as on the axis of inputs."""
    low, high, place = (np.arcsinh(value / EVEN) for value in (LEFT, MOST, x))
    return (place - low) / (high - low)


def place_after(y: np.ndarray) -> np.ndarray:
    return (y - LOWEST) / (HIGHEST - LOWEST)


def two_rulers(axes: Axes):
    """The rulers of inputs and outputs, and empty artists for lines between them, the other values, and x₁."""
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.3, 1.3))
    axes.axis("off")
    axes.set_title(str(TITLE), size=11)
    rulers = (
        (1, BEFORE, place_before, (-1, 0, 1, 10, 100, 1000), 0.08, "bottom"),
        (0, AFTER, place_after, range(-2, 7), -0.08, "top"),
    )
    for height, name, place, ticks, off, side in rulers:
        axes.plot([0, 1], [height, height], color=QUIET, linewidth=1.2, zorder=1)
        axes.text(-0.05, height, str(name), ha="right", va="center", size=10, color=INK)
        for tick in ticks:
            at = float(place(np.array(float(tick))))
            axes.plot([at, at], [height, height + off / 3], color=QUIET, linewidth=1.2, zorder=1)
            axes.text(at, height + off, f"{tick}".replace("-", "−"), ha="center", va=side, size=9.5, color=INK)
    lines = LineCollection([], colors=QUIET, linewidths=0.9, alpha=0.7, animated=True, zorder=2)
    axes.add_collection(lines)
    (others,) = axes.plot([], [], "o", color=QUIET, markersize=6, animated=True, zorder=3)
    (first,) = axes.plot([], [], "o-", color=POKED, markersize=9, linewidth=2.4, animated=True, zorder=4)
    return lines, others, first


def curve_axes(axes: Axes):
    """The curves of some m and their names, and empty artists for the present one, its ceiling, its name, and x₁."""
    axes.set_xscale("asinh", linear_width=EVEN)  # as the upper ruler
    axes.set(xlim=(LEFT, MOST), ylim=(LOWEST - 2.8, HIGHEST + 0.2), xlabel=str(X))  # room for the inset
    axes.set_yticks([-2, 0, 2, 4, 6], ["−2", "0", "2", "4", "6"])
    axes.set_ylabel(str(Y))
    axes.set_xticks([-1, 0, 1, 10, 100, 1000], ["−1", "0", "1", "10", "100", "1000"])
    axes.minorticks_off()
    style_axes(axes)
    marked = {}
    for m in MARKED:
        y = [through(m, value)[0] for value in CURVE]
        (thin,) = axes.plot(CURVE, y, color=STILL, linewidth=2, zorder=1, animated=True)
        place = MOST * 1.45, (m - 1) ** 0.5
        marked[m] = thin, axes.text(*place, f"m = {m}", va="center", size=9.5, color=INK, animated=True)
    (curve,) = axes.plot(CURVE, CURVE, color=MOVED, linewidth=2.6, animated=True, zorder=3)
    (ceiling,) = axes.plot([LEFT, MOST], [0, 0], "--", color=TRUE, linewidth=1.4, animated=True, zorder=2)
    name = axes.text(0, 0, str(CEILING), size=9.5, color=TRUE, va="top", animated=True, zorder=4)
    (dot,) = axes.plot([], [], "o", color=POKED, markersize=9, animated=True, zorder=5, clip_on=False)
    return marked, curve, ceiling, name, dot


def inset_axes(axes: Axes):
    """Empty artists for the curve of the present m and for x₁, on a linear axis of inputs around 0."""
    axes.set(xlim=(-NEAR, NEAR), ylim=(-1.3, 1.3), facecolor="none")
    axes.set_xticks([-NEAR, 0, NEAR], [f"−{NEAR}", "0", f"{NEAR}"])
    axes.set_yticks([-1, 1], ["−1", "1"])
    axes.set_title(str(ZOOM), size=9.5, color=INK, pad=3)
    style_axes(axes)
    axes.tick_params(labelsize=9, pad=1)
    (rise,) = axes.plot([], [], color=MOVED, linewidth=2.2, animated=True, zorder=3)
    (near,) = axes.plot([], [], "o", color=POKED, markersize=7, animated=True, zorder=4)
    return rise, near


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "m": Slider(1, LARGEST, 1, value=LARGEST, label=Text(en="m", zh="m")),
        "x": Slider(LEAST, MOST, 10**0.1, value=OPENING, label=Text(en="x₁", zh="x₁"), log=True),
    }
    return Panel(saturating_batch, **SIZES, **controls | own)


def still() -> Panel:
    """All curves, and the ceiling of two values; nothing in it can be moved."""
    return Panel(lambda figure: partial(saturating_batch(figure), m=2, x=MOST), **SIZES)
