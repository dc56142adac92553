"""A running mean behind the mean that it follows: a small momentum is calm and late, a large one is quick and noisy."""

from collections.abc import Callable
from functools import partial
from itertools import accumulate

import numpy as np
import torch
from matplotlib.figure import Figure

from blocklab.moving_average import half_life
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, POKED, QUIET, TRUE

STEPS = 300
JUMP = 100  # the step at which the data change
GRASP = 110  # where the running mean can be taken hold of
LOW, HIGH = 2.0, 8.0
DEVIATION = 2.0  # of a value; a mini-batch's mean has 1/sqrt(batch size) of it
LARGEST = 128
SIZES = {"size": (10, 3.8), "narrow": (4.6, 4.2)}

DRIFTS = {
    Text(en="jump", zh="突变"): "jump",
    Text(en="slope", zh="渐变"): "slope",
    Text(en="none", zh="不变"): "none",
}
"""For a panel's choice: what the true mean does."""

STEP = Text(en="training step", zh="训练步数")
TRUTH = Text(en="true mean", zh="真实均值")
BATCH = Text(en="mean of a mini-batch", zh="小批量的均值")
RUNNING = Text(en="running mean", zh="运行均值")
BESIDE = Text(en="running mean, momentum {:g}", zh="运行均值，动量 {:g}")
HALF = Text(en="half of the jump", zh="跟上一半")
SEEN = Text(
    en="momentum {momentum:.3f}: half-life {half_life:.1f} steps. Without the noise the running mean would lag "
    "behind the true one by {lag:.2f} in the end; over the last 100 steps it fluctuates with a standard "
    "deviation of {jitter:.2f}.",
    zh="动量取 {momentum:.3f}：半衰期 {half_life:.1f} 步。不计抖动，运行均值到最后比真实均值落后 {lag:.2f}，"
    "最后 100 步抖动的标准差为 {jitter:.2f}。",
)


def drifting_mean(figure: Figure, beside: float | None = None) -> Callable[..., str]:
    """Batch means as dots, the true mean dashed, the running mean as a line; a line of another momentum beside it.

    update(momentum, batch_size, drift): PyTorch's momentum, the size of a mini-batch, "jump", "slope" or "none".
    """
    axes = add_axes(figure, wide=(0.06, 0.15, 0.925, 0.76), narrow=(0.09, 0.13, 0.88, 0.72))
    axes.set(xlim=(0, STEPS), ylim=(-1.5, 12.5), xlabel=str(STEP))
    style_axes(axes, grid="both")
    time = np.arange(1, STEPS + 1)
    noise = standard_noise()
    (dots,) = axes.plot(time, time, ".", color=QUIET, markersize=3.5, alpha=0.6, label=str(BATCH), animated=True)
    (dashes,) = axes.plot(time, time, "--", color=TRUE, linewidth=1.6, label=str(TRUTH), animated=True)
    (line,) = axes.plot(time, time, color=MOVED, linewidth=2.4, label=str(RUNNING), animated=True)
    (knob,) = axes.plot([GRASP], [0], "o", color=MOVED, markersize=9, markeredgecolor="white", animated=True)
    half = axes.axhline((LOW + HIGH) / 2, color=QUIET, linewidth=0.8, linestyle=":", animated=True)
    name = axes.text(STEPS - 3, (LOW + HIGH) / 2 + 0.2, str(HALF), size=9, color=QUIET, ha="right", animated=True)
    if beside is not None:
        (other,) = axes.plot(time, time, color=POKED, linewidth=1.6, label=BESIDE.format(beside), animated=True)
    columns = 2 if is_narrow(figure) else 4
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 0.995), ncols=columns, frameon=False, labelcolor=INK)

    def update(momentum: float, batch_size: int, drift: str) -> str:
        truth = {
            "jump": np.where(time <= JUMP, LOW, HIGH),
            "slope": LOW + (HIGH - LOW) * (time - 1) / (STEPS - 1),
            "none": np.full(STEPS, HIGH),
        }[drift]
        errors = DEVIATION * noise[:, :batch_size].mean(1)
        means = truth + errors
        calm, trembling = follow(truth, momentum), follow(errors, momentum)  # the average is linear: both add up
        dots.set_ydata(means)
        dashes.set_ydata(truth)
        half.set_visible(drift == "jump")
        name.set_visible(drift == "jump")
        if beside is not None:
            other.set_ydata(follow(means, beside))
        line.set_ydata(calm + trembling)
        knob.set_ydata((calm + trembling)[GRASP - 1 : GRASP])
        draggable(knob, "momentum", lambda other: (GRASP, after(means[:GRASP], other)))
        return SEEN.format(
            momentum=momentum,
            half_life=half_life(momentum),
            lag=truth[-1] - calm[-1],
            jitter=trembling[-100:].std(),
        )

    return update


def standard_noise() -> np.ndarray:
    """(STEPS, LARGEST): how far each value of each batch is from the true mean, in standard deviations."""
    generator = torch.Generator().manual_seed(3)
    return torch.randn(STEPS, LARGEST, generator=generator, dtype=torch.float64).numpy()


def follow(values: np.ndarray, momentum: float) -> np.ndarray:
    """The running mean after each value, from 0 on."""
    return np.array(list(accumulate(values, lambda old, new: old + momentum * (new - old), initial=0.0))[1:])


def after(values: np.ndarray, momentum: float) -> float:
    """The last that `follow` returns, without those before it."""
    return momentum * (1 - momentum) ** np.arange(len(values)) @ values[::-1]


def after_the_jump(momentum: float, batch_size: int = 8) -> tuple[float, int, float]:
    """The running mean before the jump, the steps until it has made half of it, and the noise in it at the end.

    The noise is a standard deviation over the last 100 steps, and without the lag.
    """
    truth = np.where(np.arange(1, STEPS + 1) <= JUMP, LOW, HIGH)
    errors = DEVIATION * standard_noise()[:, :batch_size].mean(1)
    running = follow(truth + errors, momentum)
    steps = np.argmax(running[JUMP:] >= (LOW + HIGH) / 2) + 1
    return running[JUMP - 1], int(steps), follow(errors, momentum)[-100:].std()


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    label = Text(en="momentum (PyTorch)", zh="动量（PyTorch）")
    controls = {
        "drift": Choice(DRIFTS, "jump", label=Text(en="true mean", zh="真实均值")),
        "momentum": Slider(0.001, 1.0, 10**0.1, value=0.1, label=label, log=True),
        "batch_size": Slider(2, LARGEST, 2, value=8, label=Text(en="batch size", zh="批量大小")),
    }
    return Panel(drifting_mean, **SIZES, **controls | own)


def still(momentum: float, beside: float) -> Panel:
    """The jump, followed with two momenta; nothing in it can be moved."""
    values = panel().values | {"momentum": momentum}
    return Panel(lambda figure: partial(drifting_mean(figure, beside), **values), **SIZES)
