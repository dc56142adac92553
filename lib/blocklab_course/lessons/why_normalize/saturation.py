"""tanh squashes: what goes in, what comes out, and how little of the gradient is left where the curve is flat."""

from collections.abc import Callable
from math import tanh

import numpy as np
import torch
from matplotlib.figure import Figure

from blocklab.normalization import standardize
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import is_narrow
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, QUIET, TRUE

COUNT = 4000
SATURATED = 0.9
IN_BINS = np.linspace(-6, 6, 61)
OUT_BINS = np.linspace(-1, 1, 41)

GUESS = Prediction(
    {f"σ = {scale}": scale for scale in (1.1, 2.2, 4.4)},
    right=2.2,
    question=Text(
        en="At which standard deviation σ of the inputs do half of the outputs lie beyond ±0.9?",
        zh="输入的标准差 σ 是多少时，一半的输出超出 ±0.9？",
    ),
    explanation=Text(
        en="At σ = 2.2: there the picture shows about 50%. At 1.1 it is 18%, and at 4.4 it is 74%.",
        zh="σ = 2.2：图上显示，这时大约有 50% 超出。σ = 1.1 时是 18%，4.4 时是 74%。",
    ),
)
"""At which standard deviation of the inputs half of the outputs are saturated."""

CURVE = Text(en="tanh and its slope", zh="tanh 及其斜率")
SLOPE = Text(en="slope", zh="斜率")
INPUTS = Text(en="how many inputs lie there (at the ends: all beyond)", zh="输入的分布（超出范围的计入两端）")
ONE_DEVIATION = Text(en="x = σ", zh="x = σ")
OUTPUTS = Text(en="outputs of tanh", zh="tanh 的输出")
BEYOND = Text(en="{share:.0f}% beyond ±{limit}", zh="{share:.0f}% 超出 ±{limit}")
SEEN = Text(
    en="Inputs with standard deviation {scale}: {share:.0f}% of the outputs lie beyond ±0.9, and the average slope "
    "is {slope:.2f}.",
    zh="输入的标准差为 {scale}：{share:.0f}% 的输出超出 ±0.9，平均斜率是 {slope:.2f}。",
)


def saturation(figure: Figure) -> Callable[..., str]:
    """Left tanh and its slope, below them where the inputs lie, a dot one standard deviation out; right the outputs.

    update(scale, normalize): the standard deviation of the inputs, and whether they are standardized first.
    """
    if is_narrow(figure):
        curve, inputs, outputs = figure.subplots(
            3,
            1,
            height_ratios=(3, 1, 2.4),
            gridspec_kw={"left": 0.1, "right": 0.97, "bottom": 0.05, "top": 0.95, "hspace": 0.4},
        )
    else:
        place = figure.add_gridspec(
            2, 2, width_ratios=(3, 2), height_ratios=(3, 1), left=0.06, right=0.985, bottom=0.08, top=0.9, wspace=0.14
        )
        curve, inputs = figure.add_subplot(place[0, 0]), figure.add_subplot(place[1, 0])
        outputs = figure.add_subplot(place[:, 1])
    z = np.linspace(IN_BINS[0], IN_BINS[-1], 400)
    curve.set(xlim=(z[0], z[-1]), ylim=(-1.15, 1.15), title=str(CURVE))
    inputs.set(xlim=(z[0], z[-1]), ylim=(0, 1.1), yticks=[])
    inputs.set_title(str(INPUTS), size=10)
    curve.tick_params(labelbottom=False)  # the axis below is the same
    outputs.set(xlim=(-1.05, 1.05), ylim=(0, 1.25), yticks=[], title=str(OUTPUTS))
    for axes in (curve, inputs, outputs):
        style_axes(axes, grid="x")
    curve.axhline(0, color=QUIET, linewidth=0.8)
    flat = np.zeros(len(IN_BINS) - 1)
    given = inputs.stairs(flat, IN_BINS, fill=True, color=TRUE, animated=True, zorder=3)
    made = outputs.stairs(np.zeros(len(OUT_BINS) - 1), OUT_BINS, fill=True, color=MOVED, animated=True, zorder=3)
    for side in (-1, 1):
        outputs.axvspan(side * SATURATED, side * 1.05, color=QUIET, alpha=0.25, linewidth=0, zorder=1)
    outputs.vlines([-SATURATED, SATURATED], 0, 1.08, color=INK, linestyle="--", linewidth=1, zorder=4)
    beyond = outputs.text(0, 1.17, "", ha="center", va="center", color=INK, animated=True)
    curve.plot(z, np.tanh(z), color=INK, linewidth=2, label="tanh", zorder=4)
    curve.plot(z, 1 - np.tanh(z) ** 2, "--", color=MOVED, linewidth=1.8, label=str(SLOPE), zorder=4)
    (knob,) = curve.plot([], [], "o", color=TRUE, markersize=9, markeredgecolor="white", animated=True, zorder=5)
    knob.set(label=str(ONE_DEVIATION), clip_on=False)
    curve.legend(loc="lower right" if is_narrow(figure) else "upper left", frameon=False, labelcolor=INK)
    normal = torch.special.ndtri((torch.arange(COUNT, dtype=torch.float64) + 0.5) / COUNT)

    def update(scale: float, normalize: bool) -> str:
        x = scale * standardize(normal, 0)
        x = standardize(x, 0) if normalize else x
        y = torch.tanh(x)
        inside, _ = np.histogram(np.clip(x.numpy(), IN_BINS[0], IN_BINS[-1]), IN_BINS)
        out, _ = np.histogram(y.numpy(), OUT_BINS)
        given.set_data(inside / inside.max(), IN_BINS)
        made.set_data(out / out.max(), OUT_BINS)
        draggable(knob, "scale", lambda scale: on_curve(1.0 if normalize else scale))
        x_there, y_there = on_curve(x.std(correction=0).item())
        knob.set_data([x_there], [y_there])
        share = 100 * (y.abs() > SATURATED).double().mean()
        beyond.set_text(BEYOND.format(share=share, limit=SATURATED))
        return SEEN.format(
            scale=short_number(x.std(correction=0).item()),
            share=share,
            slope=(1 - y.square()).mean(),
        )

    return update


def on_curve(x: float) -> tuple[float, float]:
    """The point of tanh there, or at the end of the axis."""
    x = min(x, IN_BINS[-1])
    return x, tanh(x)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "scale": Slider(0.1, 10**1.3, 10**0.05, value=1.0, label=Text(en="σ of the inputs", zh="输入的 σ"), log=True),
        "normalize": Toggle(False, label=Text(en="standardize first", zh="先标准化")),
    }
    return Panel(saturation, size=(10, 4.2), narrow=(4.6, 6.4), **controls | own)
