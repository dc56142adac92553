"""One number called momentum, read as PyTorch does and as Keras does, and what eval() makes of each reading."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab.moving_average import ema_weights, from_keras
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET

MEAN, DEVIATION = 10.0, 2.0
BATCHES, SIZE = 500, 64  # training batches, and values of the channel in each
SHOWN = 60  # of the last batches' weights
START = 64  # where the bar of the start value stands
EPS = 1e-5
BINS = np.linspace(-5, 17, 89)
FRESH = 2000  # values that eval() is tried on, evenly spread over the channel's distribution
HIGHEST = FRESH * (BINS[1] - BINS[0]) / (2 * np.pi) ** 0.5  # count in the middle bin if all is right

GUESS = Prediction(
    {
        Text(en="both 0", zh="都是 0"): {"PyTorch", "Keras"},
        Text(en="PyTorch 0, Keras not", zh="PyTorch 是 0，Keras 不是"): {"PyTorch"},
        Text(en="Keras 0, PyTorch not", zh="Keras 是 0，PyTorch 不是"): {"Keras"},
        Text(en="neither 0", zh="都偏离 0"): set(),
    },
    right={"PyTorch"},
    question=Text(
        en="Both frameworks get momentum 0.99 and train for 20 steps. Where is the mean of the outputs in eval mode?",
        zh="两个框架的动量都设为 0.99，各训练 20 步。评估模式下，输出的均值在哪里？",
    ),
    explanation=Text(
        en="PyTorch's mean is near 0, but Keras's is not: set momentum to 0.99, and it is 6.56 in Keras.",
        zh="PyTorch 的均值在 0 附近，Keras 的不在：把“动量”调到 0.99，Keras 的是 6.56。",
    ),
)
"""In which framework the outputs of eval() are centred on 0, with momentum 0.99 after 20 steps."""

READINGS = (
    (Text(en="PyTorch: momentum is the weight of the new value", zh="PyTorch：动量是新值的权重"), lambda m: m, MOVED),
    (Text(en="Keras: momentum is the weight of the old value", zh="Keras：动量是旧值的权重"), from_keras, OTHER),
)
WEIGHT = Text(en="weight in the running mean", zh="在运行均值中的权重")
AGE = Text(en="how many batches ago", zh="多少个小批量之前")
START_VALUE = Text(en="start", zh="初值")
OUTPUT = Text(en="output of eval(), should be around 0", zh="评估模式下的输出，本应在 0 附近")
SHOULD_BE = Text(en="as it should be", zh="本应如此")
CENTRE = Text(en="mean {mean}", zh="均值 {mean}")
SEEN = Text(
    en="momentum {momentum:.2f}, after step {steps}: the outputs of eval() have mean {pytorch:.2f} in PyTorch, "
    "{keras:.2f} in Keras.",
    zh="动量取 {momentum:.2f}，训练 {steps} 步后，评估模式下输出的均值："
    "PyTorch 为 {pytorch:.2f}，Keras 为 {keras:.2f}。",
)


def two_readings(figure: Figure) -> Callable[..., str]:
    """Left the weights of the last batches, right the outputs of eval(), PyTorch's reading above Keras'.

    update(momentum, steps): the number as typed, and how many batches have been trained on.
    """
    narrow = is_narrow(figure)
    if narrow:  # both readings of the weights, then both of the outputs
        place = {"left": 0.15, "right": 0.97, "bottom": 0.07, "top": 0.95, "hspace": 0.5}
        grid = figure.subplots(4, 1, gridspec_kw=place).reshape(2, 2).T
    else:
        place = {"left": 0.08, "right": 0.985, "bottom": 0.13, "top": 0.92, "wspace": 0.12, "hspace": 0.3}
        grid = figure.subplots(2, 2, sharex="col", gridspec_kw=place)
    batches = channel(BATCHES * SIZE, seed=1).view(BATCHES, SIZE)
    means, variances = batches.mean(1), batches.var(1)
    fresh = MEAN + DEVIATION * torch.special.ndtri((torch.arange(FRESH, dtype=torch.float64) + 0.5) / FRESH)
    rows = []
    for (weights, outputs), (title, read, colour) in zip(grid, READINGS, strict=True):
        bars = weight_axes(weights, str(title), colour)
        rows.append((read, bars, *output_axes(outputs, colour)))
        draggable(bars[0], "momentum", lambda momentum, read=read: (0, read(momentum)))  # the newest weighs so much
    grid[1, 0].set_xlabel(str(AGE))
    grid[1, 1].set_xlabel(str(OUTPUT))
    figure.text(
        *((0.025, 0.75) if narrow else (0.012, 0.53)),
        str(WEIGHT),
        rotation=90,
        va="center",
        ha="center",
        size=10,
        color=INK,
    )

    def update(momentum: float, steps: int) -> str:
        centres = []
        for read, bars, steps_line, label in rows:
            weights = ema_weights(read(momentum), steps, dtype=torch.float64)  # the newest first
            start = 1 - weights.sum()
            mean = weights @ means[:steps].flip(0)
            variance = start + weights @ variances[:steps].flip(0)
            y = (fresh - mean) / (variance + EPS).sqrt()
            heights = np.zeros(SHOWN + 1)
            heights[: min(steps, SHOWN)] = weights[:SHOWN]
            heights[SHOWN] = start
            for bar, height in zip(bars, heights, strict=True):
                bar.set_height(max(float(height), 0.0))
            counts, _ = np.histogram(y.numpy(), BINS)
            steps_line.set_data(counts / HIGHEST, BINS)
            centres.append(float(y.mean()))
            label.set_text(CENTRE.format(mean=f"{centres[-1]:.2f}".replace("-", "−")))
        return SEEN.format(momentum=momentum, steps=steps, pytorch=centres[0], keras=centres[1])

    return update


def channel(count: int, seed: int) -> torch.Tensor:
    """Values of one channel, normally distributed with MEAN and DEVIATION, in float64."""
    generator = torch.Generator().manual_seed(seed)
    return MEAN + DEVIATION * torch.randn(count, generator=generator, dtype=torch.float64)


def weight_axes(axes: Axes, title: str, colour: str):
    """Empty bars for the weights, and one apart for the start value."""
    axes.set_title(title, size=10 if is_narrow(axes.figure) else 11)
    axes.set(ylim=(0, 1.05), xlim=(-1.5, START + 2.5), yticks=[0, 0.5, 1])
    axes.set_xticks([0, 20, 40, START], ["0", "20", "40", str(START_VALUE)])
    style_axes(axes, grid="y")
    bars = list(axes.bar(range(SHOWN), 0.0, 0.8, bottom=0, color=colour, animated=True))
    return bars + list(axes.bar([START], 0.0, 2.0, bottom=0, color=QUIET, animated=True))


def output_axes(axes: Axes, colour: str):
    """The outline of where the outputs should lie, the histogram of where they do, and a label for their mean."""
    middle = (BINS[:-1] + BINS[1:]) / 2
    axes.set(xlim=(BINS[0], BINS[-1]), ylim=(0, 1.15), xticks=[-5, 0, 5, 10, 15], yticks=[])
    style_axes(axes, edges=("bottom",))
    axes.plot(middle, np.exp(-(middle**2) / 2), color=QUIET, linestyle="--", linewidth=1.2)
    axes.text(-1.4, 0.75, str(SHOULD_BE), ha="right", va="center", size=9, color=QUIET)
    histogram = axes.stairs(np.zeros(len(middle)), BINS, fill=True, color=colour, alpha=0.75, animated=True, zorder=3)
    label = axes.text(0.98, 0.9, "", transform=axes.transAxes, ha="right", va="top", size=11, color=INK, animated=True)
    return histogram, label


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "momentum": Slider(0.01, 0.99, 0.01, value=0.5, label=Text(en="momentum", zh="动量")),
        "steps": Slider(1, BATCHES, 1, value=20, label=Text(en="steps", zh="步数")),
    }
    return Panel(two_readings, size=(10, 4.6), narrow=(4.6, 7.4), **controls | own)
