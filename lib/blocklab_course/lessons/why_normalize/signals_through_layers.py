"""A deep network as it is before training: its activations and the gradients of its weights, layer by layer."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from torch import Tensor

from blocklab.normalization import standardize
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import subplots
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, QUIET, TRUE

WIDTH, BATCH, DEEPEST = 128, 256, 40
COLUMNS, ROWS = 5, 4  # of small histograms; of a network deeper than 20 about every second layer is drawn
RANGES = {"tanh": (-1.0, 1.0), "relu": (0.0, 3.0)}  # of the values; what lies beyond counts at the edge
BINS = 41
FLOOR, CEILING = -12, 14  # decades of the sizes; what lies beyond is not drawn
SATURATED = 0.9  # |tanh| beyond which hardly any gradient passes

Function = Callable[[Tensor], Tensor]
Network = Callable[[Tensor, Tensor, Function, Function], list[Tensor]]
"""The lesson's own: network(x, weights, norm, activation) gives the activations of every layer, (N, d) each."""

ACTIVATIONS = {"tanh": "tanh", "ReLU": "relu"}
FUNCTIONS: dict[str, Function] = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "none": lambda x: x,
    "input": lambda x: x,
    "batch": lambda x: standardize(x, 0),
    "layer": lambda x: standardize(x, 1),
}
NORMS = {
    Text(en="none", zh="不归一化"): "none",
    Text(en="input only", zh="只归一化输入"): "input",
    Text(en="BatchNorm", zh="批量归一化"): "batch",
    Text(en="LayerNorm", zh="层归一化"): "layer",
}
GUESS = Prediction(
    {
        Text(en="it becomes 100 times as large", zh="变成 100 倍"): "larger",
        Text(en="it stays the same", zh="不变"): "same",
        Text(en="it falls to a hundredth", zh="只剩百分之一"): "smaller",
    },
    right="smaller",
    question=Text(
        en="With BatchNorm, all weights become 100 times as large. What happens to their gradient?",
        zh="用批量归一化，所有权重都变成 100 倍。权重的梯度会怎样？",
    ),
    explanation=Text(
        en="It falls to a hundredth. Drag the gain from 1 to 100: the histograms stay, and the gradient in layer 1 "
        "falls from 30 to 0.3.",
        zh="只剩百分之一。把“增益”从 1 拖到 100：直方图都不变，第 1 层的梯度却从 30 降到 0.3。",
    ),
)
"""What becomes of the gradient of the weights when all of them grow to 100 times, with BatchNorm after every matrix."""

LAYER = Text(en="layer (drag ▲: how many there are)", zh="第几层（拖动 ▲，改变层数）")
VALUES = {
    "tanh": Text(en="activations, from −1 to 1, layer by layer", zh="逐层的激活值，从 −1 到 1"),
    "relu": Text(en="positive activations (last bar: all above 3)", zh="逐层的正激活值（3 以上的归入最右一根）"),
}
SIZES = Text(en="activations and gradients, layer by layer", zh="逐层的激活值与梯度")
SPREAD = Text(en="standard deviation", zh="激活值的标准差")
GRADIENT = Text(en="gradient (L2 norm)", zh="权重梯度的 L2 范数")
SEEN_TANH = Text(
    en="Last layer: standard deviation {spread}, {saturated:.0f}% of the activations beyond ±0.9. Gradient of the "
    "weights: {first} in layer 1, {last} in the last.",
    zh="最后一层：标准差 {spread}，{saturated:.0f}% 的激活值超出 ±0.9。权重的梯度：第 1 层 {first}，最后一层 {last}。",
)
SEEN_RELU = Text(
    en="Last layer: standard deviation {spread}. Gradient of the weights: {first} in layer 1, {last} in the last.",
    zh="最后一层：标准差 {spread}。权重的梯度：第 1 层 {first}，最后一层 {last}。",
)


@cache
def draws() -> tuple[Tensor, Tensor, Tensor]:
    """The random numbers of the network, the same for every position of the sliders: input, weights, and loss."""
    generator = torch.Generator().manual_seed(0)
    x = 3 + 5 * torch.randn(BATCH, WIDTH, generator=generator)
    weights = torch.randn(DEEPEST, WIDTH, WIDTH, generator=generator)
    return x, weights, torch.randn(BATCH, WIDTH, generator=generator)


def signals(gain: float, depth: int, activation: str, norm: str, network: Network) -> tuple[list[Tensor], list[float]]:
    """The activations of every layer, (N, d) each, and the norm of the gradient of every layer's weights.

    The weights are normal with standard deviation gain / sqrt(d); the input has mean 3 and standard deviation 5. The
    gradient is that of a random weighted sum of the last activations, averaged over the batch.
    """
    x, weights, back = draws()
    x = standardize(x, 0) if norm == "input" else x
    weights = (weights[:depth] * (gain / WIDTH**0.5)).requires_grad_()
    layers = network(x, weights, FUNCTIONS[norm], FUNCTIONS[activation])
    (gradient,) = torch.autograd.grad((layers[-1] * back).sum() / BATCH, weights)
    return [x.detach() for x in layers], gradient.double().flatten(1).norm(dim=1).tolist()


def signals_through_layers(network: Network) -> Callable[[Figure], Callable[..., str]]:
    """The picture of a network: left a small histogram for each layer, right their spread and the weights' gradient.

    update(gain, depth, activation, norm): the weights' gain, the number of layers, "tanh" or "relu", and one of the
    values of NORMS.
    """

    def picture(figure: Figure) -> Callable[..., str]:
        values, sizes = subplots(
            figure,
            2,
            wide={"left": 0.06, "right": 0.985, "bottom": 0.24, "top": 0.9, "wspace": 0.18},
            narrow={"left": 0.13, "right": 0.97, "bottom": 0.15, "top": 0.94, "hspace": 0.2},
        )
        values.set(xlim=(0, COLUMNS), ylim=(ROWS, 0))
        values.set_axis_off()
        title = values.set_title("")
        corners = [(column, row + 1) for row in range(ROWS) for column in range(COLUMNS)]
        values.hlines(
            [y for _, y in corners], [x + 0.06 for x, _ in corners], [x + 0.94 for x, _ in corners], color=QUIET
        )
        histograms = PolyCollection([], facecolor=TRUE, edgecolor="none", animated=True, zorder=3)
        values.add_collection(histograms, autolim=False)
        numbers = [
            values.text(x + 0.06, y - 0.82, "", size=9, color=INK, animated=True, clip_on=True) for x, y in corners
        ]
        sizes.set(xlim=(0, DEEPEST + 1), yscale="log", xlabel=str(LAYER), title=str(SIZES))
        style_axes(sizes, grid="y")
        (spread,) = sizes.plot([], [], "s--", color=TRUE, markersize=3, label=str(SPREAD), animated=True, zorder=3)
        (gradient,) = sizes.plot([], [], "o-", color=MOVED, markersize=4, label=str(GRADIENT), animated=True, zorder=4)
        sizes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False, labelcolor=INK)
        (knob,) = sizes.plot([], [], "^", color=QUIET, markersize=10, markeredgecolor=INK, animated=True, zorder=5)
        knob.set_clip_on(False)
        draggable(knob, "depth", lambda depth: (depth, sizes.get_ylim()[0]))

        def update(gain: float, depth: int, activation: str, norm: str) -> str:
            layers, gradients = signals(gain, depth, activation, norm, network)
            places = np.arange(1, depth + 1)
            drawn = np.linspace(1, depth, min(depth, len(corners))).round().astype(int)
            histograms.set_verts(
                [
                    outline(layers[place - 1], corner, RANGES[activation])
                    for place, corner in zip(drawn, corners, strict=False)
                ]
            )
            for i, number in enumerate(numbers):
                number.set_text(str(drawn[i]) if i < len(drawn) else "")
            title.set_text(str(VALUES[activation]))
            deviations = [x.double().std().item() for x in layers]
            spread.set_data(places, deviations)
            gradient.set_data(places, gradients)
            show_decades(sizes, deviations + gradients)
            knob.set_data([depth], [sizes.get_ylim()[0]])
            seen = SEEN_TANH if activation == "tanh" else SEEN_RELU
            saturated = 100 * (layers[-1].abs() > SATURATED).double().mean().item()
            first, last = rounded(gradients[0]), rounded(gradients[-1])
            return seen.format(spread=rounded(deviations[-1]), saturated=saturated, first=first, last=last)

        return update

    return picture


def show_decades(axes: Axes, numbers: list[float]) -> None:
    """A logarithmic axis as high as the numbers want, in steps: then a factor of 1000 is steep."""
    exponents = [np.log10(number) for number in numbers if 0 < number < np.inf]
    low = max(FLOOR, min(-2, 2 * np.floor(min(exponents, default=0) / 2)))
    high = min(CEILING, max(4, 2 * np.ceil(max(exponents, default=0) / 2)))
    step = 1 if high - low <= 8 else 2
    axes.set(ylim=(10.0**low, 10.0**high), yticks=10.0 ** np.arange(low, high + 1, step))
    axes.minorticks_off()


def rounded(number: float) -> str:
    """A number with two digits: 1300, 0.84, 8 · 10⁻⁷."""
    return short_number(number, 2)


def outline(x: Tensor, corner: tuple[float, float], limits: tuple[float, float]) -> np.ndarray:
    """The histogram of a layer's values as a shape whose lower left corner is `corner`, one unit wide."""
    values = np.nan_to_num(x.numpy(), posinf=limits[1], neginf=limits[0])
    shown = values[values != 0] if limits[0] == 0 else values  # half of ReLU's are 0 and would dwarf the rest
    counts, _ = np.histogram(np.clip(shown, *limits), BINS, limits)
    heights = np.repeat(0.8 * counts / max(counts.max(), 1), 2)
    places = np.linspace(0.06, 0.94, BINS + 1)
    sides = np.stack([places[:-1], places[1:]], 1).ravel()
    shape = np.stack([corner[0] + sides, corner[1] - heights], 1)
    ends = [(corner[0] + 0.94, corner[1]), (corner[0] + 0.06, corner[1])]
    return np.concatenate([shape, ends])


def panel(network: Network, **own: Control) -> Panel:
    """The picture of the lesson's network with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "norm": Choice(NORMS, "batch", label=Text(en="normalization", zh="归一化")),
        "gain": Slider(0.1, 100, 10**0.1, value=1.0, label=Text(en="gain", zh="增益"), log=True),
        "depth": Slider(5, DEEPEST, 5, value=20, label=Text(en="layers", zh="层数")),
        "activation": Choice(ACTIVATIONS, "tanh", label=Text(en="activation", zh="激活函数")),
    }
    return Panel(signals_through_layers(network), size=(10, 4.4), narrow=(4.6, 6.4), **controls | own)
