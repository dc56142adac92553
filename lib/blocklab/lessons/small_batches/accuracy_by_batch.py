"""Accuracies of one network with different normalization layers, by batch size, with error bars over the starts."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from blocklab.language import Text
from blocklab.panel import Panel
from blocklab.panel.palette import INK, MOVED, OTHER, QUIET
from blocklab.panel.plain import plain

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

SIZE = Text(en="batch size", zh="批量大小")
ACCURACY = Text(en="test accuracy in %", zh="测试准确率（%）")
SEEN = Text(en="Batch size {size}, {results}.", zh="批量大小为 {size}，{results}。")
NET = Text(en="{net}: {means}", zh="{net}：{means}")
NEXT, NEXT_NET = Text(en=", ", zh="、"), Text(en="; ", zh="；")
HEAD = Text(en="Test accuracy with batch sizes {sizes}", zh="批量大小为 {sizes} 时的测试准确率")
ROW = Text(en="{net}, {norm}: {means}", zh="{net}，{norm}：{means}")

SUSPECTS = Text(
    en="trained on {}, start {}: stored {:.0f}%, recounted {:.0f}%, in pairs {:.0f}%",
    zh="训练时 {} 张，初值 {}：存下来的 {:.0f}%，重新统计 {:.0f}%，每次两张 {:.0f}%",
)

Scores = Mapping[str, Mapping[tuple[str, int], Sequence[float]]]
"""By network, and by (normalization, batch size): the accuracies in percent, one for each start."""


def table(scores: Scores) -> str:
    """A line for each network and normalization: its mean accuracies, by batch size, in whole percent."""
    sizes = sorted({size for found in scores.values() for _, size in found})
    lines = [HEAD.format(sizes=str(NEXT).join(map(str, sizes)))]
    for net, found in scores.items():
        for norm in dict.fromkeys(norm for norm, _ in found):
            means = str(NEXT).join(f"{np.mean(found[norm, size]):.0f}%" for size in sizes)
            lines.append(ROW.format(net=NETS[net], norm=NORMS[norm], means=means))
    return "\n".join(lines)


def show_suspects(size: int, start: int, stored: float, recounted: float, in_pairs: float) -> None:
    """Print the accuracies of one trained network, with its statistics stored, recounted and those of pairs."""
    print(SUSPECTS.format(size, start, stored, recounted, in_pairs))


def accuracy_by_batch(nets: Scores) -> Callable:
    """The picture of these results.

    Each dot is the mean over the starts, and its bar the standard deviation. There is nothing to move.
    """

    def picture(figure: Figure) -> Callable[[], str]:
        every = figure.subplots(
            1, len(nets), sharey=True, gridspec_kw={"left": 0.07, "right": 0.985, "bottom": 0.15, "top": 0.8}
        )
        every = np.atleast_1d(every)
        for axes, (net, scores) in zip(every, nets.items(), strict=True):
            sizes = sorted({size for _, size in scores})
            axes.set_title(str(NETS[net]), size=11)
            axes.set(xlabel=str(SIZE), ylim=(40, 102), xlim=(-0.5, len(sizes) - 0.5))
            axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
            plain(axes, grid="y")
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
    return Panel(accuracy_by_batch(nets), size=(10, 3.8))
