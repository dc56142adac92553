"""A running mean behind the mean that it follows: a small momentum is calm and late, a large one is quick and noisy."""

from collections.abc import Callable
from itertools import accumulate

import numpy as np
import torch
from matplotlib.figure import Figure

from blocklab.language import Text
from blocklab.moving_average import half_life
from blocklab.pictures.palette import INK, MOVED, QUIET, STILL, TRUE

STEPS = 300
JUMP = 100  # the step at which the data change
LOW, HIGH = 2.0, 8.0
LARGEST = 128

DRIFTS = {
    Text(en="jump", zh="突变"): "jump",
    Text(en="slope", zh="渐变"): "slope",
    Text(en="none", zh="不变"): "none",
}
"""For a panel's choice: what the true mean does."""

STEP = Text(en="training step", zh="训练步数")
TRUTH = Text(en="true mean", zh="真实均值")
BATCH = Text(en="mean of a mini-batch", zh="小批量的均值")
RUNNING = Text(en="running mean", zh="移动均值")
SEEN = Text(
    en="momentum {momentum:.3f}: half-life {half_life:.1f} steps. At the end the running mean is {end:.2f} and the "
    "true one {truth:.2f}; over the last 100 steps it wavers by {spread:.2f}.",
    zh="momentum = {momentum:.3f}：半衰期 {half_life:.1f} 步。结束时移动均值为 {end:.2f}，真实均值为 {truth:.2f}；"
    "最后 100 步里的波动为 {spread:.2f}。",
)


def drifting_mean(figure: Figure) -> Callable[..., str]:
    """Batch means as dots, the true mean dashed, the running mean as a line.

    update(momentum, batch_size, drift): PyTorch's momentum, the size of a mini-batch, "jump", "slope" or "none".
    """
    axes = figure.add_axes((0.06, 0.15, 0.925, 0.76))
    axes.set(xlim=(0, STEPS), ylim=(-1.5, 12.5), xlabel=str(STEP))
    axes.grid(color=STILL)
    axes.spines[["top", "right"]].set_visible(False)
    time = np.arange(1, STEPS + 1)
    generator = torch.Generator().manual_seed(3)
    noise = torch.randn(STEPS, LARGEST, generator=generator, dtype=torch.float64).numpy()
    (dots,) = axes.plot(time, time, ".", color=QUIET, markersize=3.5, alpha=0.6, label=str(BATCH), animated=True)
    (dashes,) = axes.plot(time, time, "--", color=TRUE, linewidth=1.6, label=str(TRUTH), animated=True)
    (line,) = axes.plot(time, time, color=MOVED, linewidth=2.4, label=str(RUNNING), animated=True)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 0.995), ncols=3, frameon=False, labelcolor=INK)

    def update(momentum: float, batch_size: int, drift: str) -> str:
        truth = {
            "jump": np.where(time <= JUMP, LOW, HIGH),
            "slope": LOW + (HIGH - LOW) * (time - 1) / (STEPS - 1),
            "none": np.full(STEPS, HIGH),
        }[drift]
        means = truth + noise[:, :batch_size].mean(1) * 2
        running = np.array(list(accumulate(means, lambda old, new: old + momentum * (new - old), initial=0.0))[1:])
        dots.set_ydata(means)
        dashes.set_ydata(truth)
        line.set_ydata(running)
        return SEEN.format(
            momentum=momentum,
            half_life=half_life(momentum),
            end=running[-1],
            truth=truth[-1],
            spread=(running - truth)[-100:].std(),
        )

    return update
