"""What LayerNorm does to tokens of three features: down to the plane of mean 0, then out to a sphere."""

from collections.abc import Callable
from math import ceil

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, POKED, QUIET, TRUE
from blocklab_course.panel.three_features import (
    CLOSEST,
    FRAME,
    View,
    angles,
    between,
    looking,
    on_the_way,
    three_number_tokens,
)

TOKEN = 4.0, 0.0, -1.0  # the lesson's, with mean 1
GUESS = Prediction(
    {
        Text(en="a solid ball", zh="实心球"): "ball",
        Text(en="a sphere", zh="球面"): "sphere",
        Text(en="a flat disc", zh="圆盘"): "disc",
        Text(en="a circle", zh="圆"): "circle",
    },
    right="circle",
    question=Text(
        en="After both steps, what shape do the outputs of the 300 tokens form?",
        zh="两步都做完之后，300 个词元的输出组成什么形状？",
    ),
    explanation=Text(
        en="A circle: drag steps to 2, and all points are 1.73 from the origin, at 90° to the diagonal.",
        zh="是一个圆：把“步骤”拖到 2，所有的点到原点的距离都是 1.73，与对角线的夹角都是 90°。",
    ),
)
"""The shape that LayerNorm's outputs form."""

DONE = "x", "x − μ", "(x − μ) / σ"  # by the steps begun
TITLE = Text(en="300 tokens: {done}", zh="300 个词元：{done}")
OF_TOKEN = Text(en="the token {token}: {done}", zh="词元 {token}：{done}")
MEAN = Text(en="mean {mean:.2f}", zh="均值 {mean:.2f}")
SPHERE = Text(en="wires: the sphere of radius 1.73", zh="线框：半径为 1.73 的球面")
SEEN = Text(
    en="{steps:g} of 2 steps. Distance from the origin: {length}; angle to the diagonal: {angle}. The marked token is "
    "now {token}.",
    zh="做完 {steps:g} 步（共 2 步）。到原点的距离：{length}；与对角线的夹角：{angle}。标出的词元现在是 {token}。",
)
ROUND = np.linspace(0, 2 * np.pi, 97)
PLANE = np.stack([np.cos(ROUND), np.sin(ROUND)], -1) @ FRAME[:2]  # a disc of radius 1 in the plane of mean 0
LOWEST, HIGHEST = -3.0, 4.6


def plane_and_sphere(figure: Figure) -> Callable[..., str]:
    """Left 300 tokens in space, (1, 1, 1) pointing up, and one token with its path; right the features of that token.

    update(steps, tilt, turn): how many of the two steps are done, 0 to 2; from how high one looks, in degrees, 90 being
    along (1, 1, 1); the turn about (1, 1, 1).
    """
    tokens = torch.cat([three_number_tokens(), torch.tensor([TOKEN], dtype=torch.float64)])
    above = (tokens.mean(-1) > 0).numpy()
    view = View(add_axes(figure, wide=(0.0, 0.06, 0.6, 0.81), narrow=(0.0, 0.43, 1.0, 0.5)), MOVED)
    space = view.dots.axes
    plane = Polygon(np.zeros((1, 2)), facecolor=TRUE, alpha=0.13, zorder=0.5, animated=True)
    space.add_patch(plane)
    (path,) = space.plot([], [], color=POKED, linewidth=1.6, zorder=4.5, animated=True)
    (marked,) = space.plot([], [], "o", color=POKED, markersize=9, markeredgecolor="white", zorder=4.6, animated=True)
    bars = add_axes(figure, wide=(0.68, 0.15, 0.3, 0.74), narrow=(0.14, 0.05, 0.82, 0.28))
    bars.set(xlim=(-0.6, 2.6), ylim=(LOWEST, HIGHEST), xticks=range(3), xticklabels=("x₁", "x₂", "x₃"))
    style_axes(bars, grid="y")
    bars.axhline(0, color=INK, linewidth=1)
    features = bars.bar(range(3), [0, 0, 0], width=0.6, color=POKED, animated=True, zorder=3)
    numbers = [bars.text(i, 0, "", size=10, color=INK, ha="center", animated=True, zorder=5) for i in range(3)]
    mean_line = bars.axhline(0, color=TRUE, linewidth=1.6, linestyle="--", animated=True, zorder=4)
    mean_name = bars.text(2.58, 0, "", size=10, color=TRUE, ha="right", va="bottom", animated=True, zorder=5)
    mean_name.set_bbox({"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1})
    title = bars.set_title("", size=11, color=INK, animated=True)
    place = (0.5, 0.405) if is_narrow(figure) else (0.3, 0.03)
    figure.text(*place, str(SPHERE), ha="center", va="center", size=10, color=QUIET)

    def update(steps: float, tilt: float, turn: float) -> str:
        points = on_the_way(tokens, steps, subtract=True)
        half = max(CLOSEST, 1.04 * float(points.norm(dim=-1).max()))
        done = DONE[ceil(steps)]
        view.title.set_text(TITLE.format(done=done))
        view.show(points.numpy(), above, tilt, turn, half)
        look = looking(tilt, turn)[:2].T / half
        plane.set_xy(1.15 * CLOSEST * PLANE @ look)
        plane.set_visible(steps > 0)  # before, it would give the answer away
        stops = [step for step in (0.0, 1.0) if step < steps] + [steps]
        way = np.stack([on_the_way(tokens[-1:], step, subtract=True)[0].numpy() for step in stops]) @ look
        path.set_data(*way.T)
        marked.set_data(*way[-1:].T)
        now = points[-1].tolist()
        for bar, number, value in zip(features, numbers, now, strict=True):
            bar.set_height(value)
            number.set(text=f"{value:.2f}".replace("-", "−"), y=value + (0.12 if value >= 0 else -0.12))
            number.set_verticalalignment("bottom" if value >= 0 else "top")
        mean = sum(now) / 3
        mean_line.set_ydata([mean, mean])
        mean_name.set(text=MEAN.format(mean=mean + 0.0 if abs(mean) > 5e-3 else 0.0), y=mean)
        token = ", ".join(f"{value:g}".replace("-", "−") for value in TOKEN)
        title.set_text(OF_TOKEN.format(token=f"({token})", done=done))
        return SEEN.format(
            steps=steps,
            length=between(points.norm(dim=-1), ".2f"),
            angle=between(angles(points), ".0f", "°"),
            token="(" + ", ".join(f"{value:.2f}".replace("-", "−") for value in now) + ")",
        )

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "steps": Slider(0, 2, 0.1, value=0, label=Text(en="steps", zh="步骤")),
        "tilt": Slider(-90, 90, 5, value=25, label=Text(en="tilt", zh="俯仰")),
        "turn": Slider(-180, 180, 10, value=20, label=Text(en="turn", zh="旋转")),
    }
    return Panel(plane_and_sphere, size=(10, 4.8), narrow=(4.6, 7.4), **controls | own)
