"""Accuracies of one network with different normalization layers, by batch size, with error bars over the starts."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.narrow import subplots
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET

from .networks import VALUES

STYLES = {"BatchNorm": (MOVED, "o", -0.16), "LayerNorm": (OTHER, "s", 0.0), "GroupNorm": (QUIET, "^", 0.16)}
"""Of each normalization: colour, marker, and how far to the side of its batch size it stands."""

NETS = {"mlp": Text(en="MLP", zh="MLP"), "convolutions": Text(en="convolutions", zh="卷积网络")}
"""How the lesson's networks are called, by the names of the functions that make them."""

NORMS = {
    "BatchNorm": Text(en="BatchNorm", zh="批量归一化"),
    "LayerNorm": Text(en="LayerNorm", zh="层归一化"),
    "GroupNorm": Text(en="GroupNorm", zh="组归一化"),
}
"""How the normalizations are called."""

SIZE = Text(en="batch size, and m of each BatchNorm", zh="批量大小，以及各个批量归一化的 m")
ACCURACY = Text(en="test accuracy in %", zh="测试准确率（%）")
SEEN = Text(en="Batch size {size}, {results}.", zh="批量大小为 {size}，{results}。")
NET = Text(en="{net}: {means}", zh="{net}：{means}")
NEXT, NEXT_NET = Text(en=", ", zh="、"), Text(en="; ", zh="；")
HEAD = Text(en="Test accuracy with batch sizes {sizes}", zh="批量大小为 {sizes} 时的测试准确率")
ROW = Text(en="{net}, {norm}: {means}", zh="{net}，{norm}：{means}")

SUSPECTS = Text(
    en="trained on {}, start {}: stored {:.0f}%, wiped {:.0f}%, recounted {:.0f}%; in train() 2 at a time {:.0f}%, 32 "
    "at a time {:.0f}%",
    zh="训练时 {} 张，初值 {}：存下来的 {:.0f}%，抹去 {:.0f}%，重新统计 {:.0f}%；"
    "用 train()，一次 2 张 {:.0f}%，一次 32 张 {:.0f}%",
)
SHARES = Text(en="{}: {} of the variance; test accuracy {:.0f}%", zh="{}：得到方差的 {}；测试准确率 {:.0f}%")
GRADIENTS = Text(
    en="m = {}: the whole gradient is {:.1f}; units with less than 0.001: {:.0%}",
    zh="m = {}：整层的梯度是 {:.1f}；梯度不到 0.001 的单元占 {:.0%}",
)
LITTLE = 1e-3  # a gradient that teaches a unit next to nothing

Scores = Mapping[str, Mapping[tuple[str, int], Sequence[float]]]
"""By network, and by (normalization, batch size): the accuracies in percent, one for each start."""


def by_network(accuracies: Mapping[tuple[Callable, str, int, int], float]) -> Scores:
    """Those of all starts together; each comes by network, normalization, batch size and start."""
    scores: dict[str, dict[tuple[str, int], list[float]]] = {}
    for (make, norm, size, _start), accuracy in accuracies.items():
        scores.setdefault(make.__name__, {}).setdefault((norm, size), []).append(accuracy)
    return scores


def table(scores: Scores) -> str:
    """A line for each network and normalization: its mean accuracies, by batch size, in whole percent."""
    sizes = sorted({size for found in scores.values() for _, size in found})
    lines = [HEAD.format(sizes=str(NEXT).join(map(str, sizes)))]
    for net, found in scores.items():
        for norm in dict.fromkeys(norm for norm, _ in found):
            means = str(NEXT).join(f"{np.mean(found[norm, size]):.0f}%" for size in sizes)
            lines.append(ROW.format(net=NETS[net], norm=NORMS[norm], means=means))
    return "\n".join(lines)


def show_suspects(
    size: int, start: int, stored: float, wiped: float, recounted: float, pairs: float, parts_of_32: float
) -> None:
    """Print the accuracies of one trained network.

    On the test digits with its statistics stored, wiped and recounted, and in train() on the training digits.
    """
    print(SUSPECTS.format(size, start, stored, wiped, recounted, pairs, parts_of_32))


def show_shares(name: str, shares: Sequence[float], accuracy: float) -> None:
    """Print which share of the variance a way of merging finds in each BatchNorm, and how many digits are then read."""
    print(SHARES.format(name, str(NEXT).join(f"{share:.0%}" for share in shares), accuracy))


def show_gradients(m: int, units: Tensor) -> None:
    """Print how large the gradient of a layer is in the median, and how many of its units get next to none.

    units: (starts, units), the norm of each unit's gradient.
    """
    print(GRADIENTS.format(m, units.norm(dim=1).median(), (units < LITTLE).float().mean()))


def marks(net: str, sizes: Sequence[int]) -> list[str]:
    """Under each batch size, the m of the network's BatchNorms."""
    ms = [dict.fromkeys(f"{size * values}" for values in VALUES[net]) for size in sizes]
    return [f"{size}\nm = {str(NEXT).join(each)}" for size, each in zip(sizes, ms, strict=True)]


def accuracy_by_batch(nets: Scores) -> Callable:
    """The picture of these results.

    Each dot is the mean over the starts, and its bar the standard deviation. There is nothing to move.
    """

    def picture(figure: Figure) -> Callable[[], str]:
        wide = {"left": 0.07, "right": 0.985, "bottom": 0.2, "top": 0.8}
        narrow = {"left": 0.15, "right": 0.97, "bottom": 0.14, "top": 0.87, "hspace": 0.6}
        every = subplots(figure, len(nets), wide, narrow, sharey=True)
        every = np.atleast_1d(every)
        for axes, (net, scores) in zip(every, nets.items(), strict=True):
            sizes = sorted({size for _, size in scores})
            axes.set_title(str(NETS[net]), size=11)
            axes.set(xlabel=str(SIZE), ylim=(40, 102), xlim=(-0.5, len(sizes) - 0.5))
            axes.set_xticks(range(len(sizes)), marks(net, sizes))
            style_axes(axes, grid="y")
            for norm in dict.fromkeys(norm for norm, _ in scores):
                colour, marker, aside = STYLES[norm]
                axes.errorbar(
                    [place + aside for place in range(len(sizes))],
                    [np.mean(scores[norm, size]) for size in sizes],
                    [np.std(scores[norm, size], ddof=1) for size in sizes],
                    fmt=marker,
                    color=colour,
                    markersize=7,
                    capsize=4,
                    label=str(NORMS[norm]),
                )
        every[0].set_ylabel(str(ACCURACY))
        handles, labels = every[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False, labelcolor=INK)
        smallest = min(size for scores in nets.values() for _, size in scores)

        def update() -> str:
            results = []
            for net, scores in nets.items():
                means = {norm: np.mean(values) for (norm, size), values in scores.items() if size == smallest}
                shown = str(NEXT).join(f"{NORMS[norm]} {mean:.0f}%" for norm, mean in means.items())
                results.append(NET.format(net=NETS[net], means=shown))
            return SEEN.format(size=smallest, results=str(NEXT_NET).join(results))

        return update

    return picture


def panel(nets: Scores) -> Panel:
    """The picture of these results; nothing in it can be moved."""
    return Panel(accuracy_by_batch(nets), size=(10, 4), narrow=(4.6, 5.6))
