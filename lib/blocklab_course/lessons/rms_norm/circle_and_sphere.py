"""Tokens of three features in space, on their way through LayerNorm and through RMSNorm."""

from collections.abc import Callable
from math import ceil

import torch
from matplotlib.figure import Figure

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import MOVED, OTHER, QUIET
from blocklab_course.panel.three_features import CLOSEST, View, angles, between, on_the_way, three_number_tokens

GUESS = Prediction(
    {
        Text(en="they stay spread over the whole sphere", zh="仍然布满整个球面"): "sphere",
        Text(en="they crowd together around the diagonal", zh="挤到对角线周围"): "pole",
        Text(en="they form a circle", zh="组成一个圆"): "circle",
        Text(en="they leave the sphere", zh="离开球面"): "away",
    },
    right="pole",
    question=Text(
        en="Both steps are done, and shift goes from 0 to 10. What will RMSNorm’s 300 outputs do?",
        zh="两步都做完了，“平移”从 0 到 10。RMSNorm 的 300 个输出会怎样？",
    ),
    explanation=Text(
        en="They crowd around the diagonal: drag steps to 2 and shift to 10, and half of them are within 4° of it.",
        zh="都挤到对角线周围：把“步骤”拖到 2，“平移”拖到 10，一半的点与对角线的夹角不到 4°。",
    ),
)
"""What a common mean does to RMSNorm's outputs."""

NAMES = Text(en="LayerNorm", zh="层归一化"), "RMSNorm"
DONE = ("x", "x − μ", "(x − μ) / σ"), ("x", "x", "x / RMS")  # by the steps begun
TITLE = Text(en="{name}: {done}, shift {shift:g}", zh="{name}：{done}，平移 {shift:g}")
SPHERE = Text(en="wires: the sphere of radius 1.73", zh="线框：半径为 1.73 的球面")
SEEN = Text(
    en="Shift {shift:g}, {steps:g} of 2 steps. LayerNorm: distance from the origin {ln_length}, angle to the diagonal "
    "{ln_angle}. RMSNorm: distance {rms_length}, angle {rms_angle}, median {median:.0f}°.",
    zh="平移 {shift:g}，做完 {steps:g} 步（共 2 步）。层归一化：到原点的距离 {ln_length}，"
    "与对角线的夹角 {ln_angle}。RMSNorm：距离 {rms_length}，夹角 {rms_angle}，中位数 {median:.0f}°。",
)


def circle_and_sphere(figure: Figure) -> Callable[..., str]:
    """Left LayerNorm, right RMSNorm: the same tokens in space, (1, 1, 1) pointing up.

    update(steps, shift, tilt, turn): how many of the two steps are done, 0 to 2; what is added to every number; from
    how high one looks, in degrees, 90 being along (1, 1, 1); the turn about (1, 1, 1).
    """
    tokens = three_number_tokens()
    above = (tokens.mean(-1) > 0).numpy()
    views = [
        View(add_axes(figure, wide=(0.0, 0.05, 0.5, 0.82), narrow=(0.0, 0.53, 1.0, 0.41)), MOVED),
        View(add_axes(figure, wide=(0.5, 0.05, 0.5, 0.82), narrow=(0.0, 0.04, 1.0, 0.41)), OTHER),
    ]
    figure.text(0.5, 0.02 if is_narrow(figure) else 0.03, str(SPHERE), ha="center", va="center", size=10, color=QUIET)

    def update(steps: float, shift: float, tilt: float, turn: float) -> str:
        x = tokens + shift
        ln, rms = (on_the_way(x, steps, subtract) for subtract in (True, False))
        farthest = float(torch.cat([ln, rms]).norm(dim=-1).max())
        for name, done, view, points in zip(NAMES, DONE, views, (ln, rms), strict=True):
            view.title.set_text(TITLE.format(name=name, done=done[ceil(steps)], shift=shift))
            view.show(points.numpy(), above, tilt, turn, max(CLOSEST, 1.04 * farthest))
        return SEEN.format(
            shift=shift,
            steps=steps,
            ln_length=between(ln.norm(dim=-1), ".2f"),
            rms_length=between(rms.norm(dim=-1), ".2f"),
            ln_angle=between(angles(ln), ".0f", "°"),
            rms_angle=between(angles(rms), ".0f", "°"),
            median=float(angles(rms).quantile(0.5)),
        )

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "steps": Slider(0, 2, 0.1, value=0, label=Text(en="steps", zh="步骤")),
        "shift": Slider(0, 10, 0.5, value=0, label=Text(en="shift", zh="平移")),
        "tilt": Slider(-90, 90, 5, value=25, label=Text(en="tilt", zh="俯仰")),
        "turn": Slider(-180, 180, 10, value=20, label=Text(en="turn", zh="旋转")),
    }
    return Panel(circle_and_sphere, size=(10, 4.6), narrow=(4.6, 7.4), **controls | own)
