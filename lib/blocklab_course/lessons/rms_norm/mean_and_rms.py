"""One token, scaled and shifted, through LayerNorm and RMSNorm, and the triangle of mean, deviation and RMS."""

from collections.abc import Callable
from textwrap import fill

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab.normalization import layer_norm, rms_norm
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET, STILL

TOKEN = (1.0, 2.0, 3.0, 4.0)
EPS = 1e-5

GUESS = Prediction(
    {
        Text(en="0", zh="0"): "zero",
        Text(en="−2.5", zh="−2.5"): "mean of 0",
        Text(en="2.5", zh="2.5"): "the mean itself",
        Text(en="every shift", zh="任何平移"): "every",
        Text(en="no shift", zh="都不行"): "none",
    },
    right="mean of 0",
    question=Text(
        en="With scale 1, at which shift do both layers give the same four numbers?",
        zh="“缩放”为 1，“平移”取多少时，两种层给出相同的四个数？",
    ),
    explanation=Text(
        en="At −2.5 the mean is 0: drag shift there, and σ and RMS are both 1.12, so the layers differ by 0.00.",
        zh="平移取 −2.5 时均值为 0：拖到那里，σ 和 RMS 都是 1.12，两种层相差 0.00。",
    ),
)
"""The shift at which both layers give the same numbers."""

INPUT = Text(en="the token x", zh="词元 x")
LAYER_NORM = Text(en="LayerNorm", zh="层归一化")
FEATURE = Text(en="feature", zh="特征")
TRIANGLE = Text(
    en="μ across, σ up, and the sloping side is the root mean square: RMS² = μ² + σ²",
    zh="横边是 μ，竖边是 σ，斜边就是均方根：RMS² = μ² + σ²",
)
SEEN = Text(
    en="μ = {mean:.2f}, σ = {deviation:.2f}, RMS = {rms:.2f}. Moved since the start, the farthest of the four: "
    "LayerNorm by {ln:.2f}, RMSNorm by {moved:.2f}. The two layers differ by up to {apart:.2f}.",
    zh="μ = {mean:.2f}，σ = {deviation:.2f}，RMS = {rms:.2f}。与起初的输出相比，四个数中变化最大的："
    "层归一化改变了 {ln:.2f}，RMSNorm 改变了 {moved:.2f}。两种层之间最多相差 {apart:.2f}。",
)


def mean_and_rms(figure: Figure) -> Callable[..., str]:
    """Above the token and what the two layers make of it, as bars; below the right-angled triangle.

    update(scale, shift): what (1, 2, 3, 4) is multiplied by, and what is added to it then.
    """
    token = torch.tensor([TOKEN], dtype=torch.float64)
    names = (str(INPUT), str(LAYER_NORM), "RMSNorm")
    bars = []
    for i, (name, colour, high) in enumerate(zip(names, (QUIET, MOVED, OTHER), (8.0, 2.1, 2.1), strict=True)):
        wide, narrow = (0.05 + 0.33 * i, 0.58, 0.27, 0.33), (0.08 + 0.325 * i, 0.62, 0.25, 0.31)
        axes = add_axes(figure, wide, narrow)
        bars.append(bar_axes(axes, name, colour, high))
    triangle = add_axes(figure, wide=(0.0, 0.0, 1.0, 0.4), narrow=(0.0, 0.0, 1.0, 0.36))
    narrow = is_narrow(figure)
    triangle.set_title(fill(str(TRIANGLE), 44) if narrow else str(TRIANGLE), size=11, color=INK)
    triangle.set(xlim=(-5.6, 7.6 if narrow else 6.6), ylim=(-0.4, 1.6), aspect="equal", xticks=[], yticks=[])
    style_axes(triangle, edges=())
    triangle.axhline(0, color=STILL, linewidth=1)
    triangle.plot([0], [0], "o", color=INK, markersize=4)
    triangle.text(0, -0.12, "0", size=10, color=INK, ha="center", va="top")
    sides = [  # the sloping one is thin: where the mean is 0 it lies upon the upright one
        triangle.plot([], [], color=colour, linewidth=width, solid_capstyle="round", animated=True)[0]
        for colour, width in ((QUIET, 3), (MOVED, 6), (OTHER, 2))
    ]
    labels = [triangle.text(0, 0, "", size=10, color=INK, animated=True) for _ in sides]
    first = normalized(token)
    middle, spread = float(token.mean()), float(token.std(correction=0))

    def update(scale: float, shift: float) -> str:
        x = scale * token + shift
        outputs = normalized(x)
        for rectangles, values in zip(bars, (x, *outputs), strict=True):
            for rectangle, value in zip(rectangles, values[0].tolist(), strict=True):
                rectangle.set_height(value)
        mean, deviation = float(x.mean()), float(x.std(correction=0))
        rms = float(x.square().mean().sqrt())
        draw_triangle(sides, labels, mean, deviation, rms)
        along, up, _ = sides
        draggable(along, "shift", lambda shift: (scale * middle + shift, 0))
        draggable(up, "scale", lambda scale: (scale * middle + shift, scale * spread))
        ln, moved = (float((now - then).abs().max()) for now, then in zip(outputs, first, strict=True))
        apart = float((outputs[0] - outputs[1]).abs().max())
        return SEEN.format(mean=mean, deviation=deviation, rms=rms, ln=ln, moved=moved, apart=apart).replace(
            "= -", "= −"
        )

    return update


def normalized(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (1, 4), after LayerNorm and after RMSNorm, both with the same small ε."""
    return layer_norm(x, (4,), eps=EPS), rms_norm(x, (4,), eps=EPS)


def bar_axes(axes: Axes, name: str, colour: str, high: float):
    """Four bars about 0, one per feature."""
    axes.set_title(name, size=12, color=INK)
    axes.set(ylim=(-high, high), xlim=(0.4, 4.6), xticks=[1, 2, 3, 4], xlabel=str(FEATURE))
    style_axes(axes, grid="y")
    axes.axhline(0, color=QUIET, linewidth=0.9)
    return axes.bar([1, 2, 3, 4], 0.0, 0.7, color=colour, animated=True)


def draw_triangle(sides: list, labels: list, mean: float, deviation: float, rms: float) -> None:
    """From 0 along the mean, up the standard deviation, and back along the root mean square."""
    ends = [((0, mean), (0, 0)), ((mean, mean), (0, deviation)), ((0, mean), (0, deviation))]
    for side, (xs, ys) in zip(sides, ends, strict=True):
        side.set_data(xs, ys)
    right = mean >= 0
    along, up, sloping = labels
    along.set(x=mean / 2, y=-0.12, text=f"μ = {mean:.2f}".replace("-", "−"), ha="center", va="top")
    along.set_visible(abs(mean) > 1.2)
    up.set(x=mean + (0.15 if right else -0.15), y=deviation / 2, text=f"σ = {deviation:.2f}", va="center")
    up.set_ha("left" if right else "right")
    sloping.set(x=mean / 2 - (0.2 if right else -0.2), y=deviation / 2 + 0.12, text=f"RMS = {rms:.2f}", va="bottom")
    sloping.set_ha("right" if right else "left")


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "scale": Slider(0.2, 1.2, 0.2, value=1, label=Text(en="scale", zh="缩放")),
        "shift": Slider(-5, 2.5, 0.5, value=0, label=Text(en="shift", zh="平移")),
    }
    return Panel(mean_and_rms, size=(10, 4.6), narrow=(4.6, 4.2), **controls | own)
