"""Push one number of a tensor and see which outputs move: the layer shows by itself which numbers share a mean."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from blocklab_course.i18n import Text
from blocklab_course.lessons.norm_axes.blocks import Blocks
from blocklab_course.lessons.norm_axes.norm_layers import CHOICES, LAYERS
from blocklab_course.panel import Choice, Panel, Prediction, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable, pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import GROUPS, INK, MOVED, POKED, QUIET, STILL

CHANNELS, HEIGHT, WIDTH = 4, 3, 3
PLATE = HEIGHT * WIDTH
PUSHES = 1, 2, 3, 4, 6, 8, 11, 15  # an output moves most with the first of them

GUESS = Prediction(
    {"1": 1, "9": 9, "18": 18, "72": 72},
    right=18,
    question=Text(
        en="The layer is BatchNorm, and one of 72 numbers is pushed. How many outputs change?",
        zh="这一层是批量归一化。推 72 个数中的一个，会有多少个输出改变？",
    ),
    explanation=Text(
        en="18 change: drag push to 10, and the whole channel is raised, in every sample.",
        zh="有 18 个改变：把“推多少”拖到 10，整个通道的方块都会升起来，每个样本里都是这样。",
    ),
)
"""How many of BatchNorm's 72 outputs move when one number is pushed."""

SEEN = Text(
    en="{name}: {moved} of {total} outputs change{by}.",
    zh="{name}：{total} 个输出中有 {moved} 个改变{by}。",
)
BY = Text(en=", by {step:.2f} at most", zh="，变化最大的改变了 {step:.2f}")
MEANS = Text(
    en=" Groups: {means}, each of {each} numbers that share a mean.",
    zh="共有 {means} 组，每组 {each} 个数共用一个均值。",
)
OUTPUTS = Text(en="Outputs before (○) and after (●)", zh="各个输出：推之前（○）与推之后（●）")
NUMBER = Text(en="number of the output, sample by sample", zh="输出的编号（逐个样本排列）")


def drawn_tensor(samples: int) -> torch.Tensor:
    """The tensor of the picture, (N, 4, 3, 3): a sine whose size and offset grow with the channel."""
    wave = torch.sin(0.37 * torch.arange(1, samples * CHANNELS * PLATE + 1, dtype=torch.float64))
    channel = torch.arange(CHANNELS, dtype=torch.float64).view(-1, 1, 1)
    return wave.view(samples, CHANNELS, HEIGHT, WIDTH) * (channel + 1) + channel


def poke_one_number(figure: Figure) -> Callable[..., str]:
    """Left the tensor as blocks, right every output before and after the push.

    update(layer, samples, cell, push, paint): a key of LAYERS; N; which number of sample 0 is pushed, and by how much;
    whether the blocks show the groups by formula.
    """
    # Drawn last: the pin may stand anywhere, and a frame draws again all that comes after it.
    left = add_axes(figure, wide=(0.0, 0.0, 0.63, 0.93), narrow=(0.0, 0.36, 1.0, 0.59))
    left.set_zorder(1)
    right = add_axes(figure, wide=(0.69, 0.15, 0.29, 0.68), narrow=(0.12, 0.08, 0.85, 0.23))
    top, size = (0.97, 10) if is_narrow(figure) else (0.95, 11)
    call = figure.text(0.02, top, "", family="monospace", size=size, color=INK, va="center", animated=True)
    before = right.plot([], [], "o", mfc="white", mec=QUIET, ms=4, zorder=3, animated=True)[0]
    after = right.plot([], [], "o", color=MOVED, mec=INK, mew=0.4, ms=4.5, zorder=5, animated=True)[0]
    poked = right.plot([], [], "o", color=POKED, mec=INK, mew=0.4, ms=6, zorder=6, animated=True)[0]
    way = LineCollection([], colors=MOVED, linewidths=0.8, zorder=4, animated=True)
    right.add_collection(way, autolim=False)
    right.set(ylim=(-6.3, 6.3), xlabel=str(NUMBER))
    right.set_title(str(OUTPUTS), size=11, color=INK)
    style_axes(right, grid="y")
    right.tick_params(axis="x", which="minor", length=0)
    right.grid(axis="x", which="both", color=QUIET, alpha=0.25, linewidth=0.6)  # a channel from line to line
    drawn: list[Blocks] = []

    def update(layer: str, samples: int, cell: int, push: float, paint: bool) -> str:
        if not drawn or drawn[0].shape[0] != samples:
            drawn[:] = [tower_of_channels(left, samples)]
            right.set_xlim(-1, samples * CHANNELS * PLATE)
            right.set_xticks(range(0, samples * CHANNELS * PLATE + 1, CHANNELS * PLATE))
            right.set_xticks(range(0, samples * CHANNELS * PLATE, PLATE), minor=True)
        chosen, x = LAYERS[layer], drawn_tensor(samples)
        pushed = x.clone()
        pushed.view(-1)[cell] += push
        old, new = (chosen.apply(t).flatten().numpy() for t in (x, pushed))
        moved = old != new
        groups = chosen.groups(tuple(x.shape)).ravel()

        tints = [GROUPS[g % len(GROUPS)] for g in groups] if paint else np.where(moved, MOVED, STILL)
        tints[cell] = tints[cell] if paint else POKED
        drawn[0].paint(tints, moved, *([str(g) for g in groups], moved) if paint else ())
        pickable(drawn[0].artist, "cell", [block if block < CHANNELS * PLATE else None for block in drawn[0].owners])
        point_at(drawn[0], cell, moved[cell], push)

        number = np.arange(len(old))
        before.set_data(number, old)
        after.set_data(number[moved], new[moved])
        poked.set_data([cell], [new[cell]])
        draggable(poked, "push", lambda push: (cell, own_output(layer, samples, cell, push)), PUSHES)
        way.set_segments(np.stack([number, old, number, new], -1).reshape(-1, 2, 2)[moved])
        call.set_text(chosen.call)
        by = BY.format(step=np.abs(new - old).max()) if moved.any() else ""
        seen = SEEN.format(name=chosen.name, moved=moved.sum(), total=moved.size, by=by)
        if push or paint:  # before that, it would answer the question
            seen += MEANS.format(means=groups.max() + 1, each=int((groups == groups[cell]).sum()))
        return seen

    return update


@lru_cache(4096)
def own_output(layer: str, samples: int, cell: int, push: float) -> float:
    """The output of the number that is pushed."""
    pushed = drawn_tensor(samples)
    pushed.view(-1)[cell] += push
    return LAYERS[layer].apply(pushed).flatten()[cell].item()


def tower_of_channels(axes: Axes, samples: int) -> Blocks:
    """A fresh drawing of (samples, 4, 3, 3): a tower per sample, a plate per channel, with the axes named."""
    axes.clear()
    blocks = Blocks(axes, (samples, CHANNELS, HEIGHT, WIDTH))
    blocks.pin = axes.annotate(
        "", (0, 0), (0, 0), size=11, color=POKED, ha="center", va="bottom", annotation_clip=False,
        arrowprops={"arrowstyle": "-|>", "color": POKED, "linewidth": 1.6, "shrinkB": 2}, zorder=4, animated=True,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip
    left, low, right, high = blocks.extent
    axes.set(xlim=(left - 1.4, right + 0.4), ylim=(low - 1.6, high + 0.9))
    for channel in range(CHANNELS):
        corner = channel * PLATE + PLATE - WIDTH
        x, y = blocks.top(corner)
        axes.text(x - 0.75, y, f"c = {channel}", ha="right", va="center", size=10, color=INK)
    for sample in range(samples):
        middle = (blocks.top(sample * CHANNELS * PLATE) + blocks.top(sample * CHANNELS * PLATE + WIDTH - 1)) / 2
        axes.text(middle[0], low - 0.9, f"n = {sample}", ha="center", va="top", size=10, color=INK)
    name_plate_axes(axes, blocks)
    return blocks


def name_plate_axes(axes: Axes, blocks: Blocks) -> None:
    """Arrows along height and width at the lowest plate of the first tower."""
    last = CHANNELS * PLATE
    front_left, front_right, back_right = (blocks.top(last - back) for back in (WIDTH, 1, PLATE - WIDTH + 1))
    style = {"arrowstyle": "->", "color": QUIET, "linewidth": 1.2}
    for name, start, end, off in (
        ("w", front_left, front_right, np.array([-0.1, -0.85])),
        ("h", back_right, front_right, np.array([0.85, -0.05])),
    ):
        axes.annotate("", end + off, start + off, arrowprops=style)
        axes.text(*((start + end) / 2 + off * 1.3), name, ha="center", va="center", size=10, color=QUIET)


def point_at(blocks: Blocks, cell: int, raised: bool, push: float) -> None:
    """Move the pin to the pushed block and write the push above it."""
    x, y = blocks.top(cell, raised)
    blocks.pin.xy = (x, y)
    blocks.pin.set_position((x, y + 0.85))
    blocks.pin.set_text(f"+{push:g}")


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "layer": Choice(CHOICES, "batch", label=Text(en="layer", zh="层")),
        "push": Slider(0, 20, 1, value=0, label=Text(en="push", zh="推多少")),
        "cell": Slider(0, CHANNELS * PLATE - 1, 1, value=13, label=Text(en="pushed number", zh="推哪个数")),
        "samples": Slider(1, 3, 1, value=2, label=Text(en="samples", zh="样本数 N")),
        "paint": Toggle(False, label=Text(en="paint the groups by formula", zh="按公式给各组涂色")),
    }
    return Panel(poke_one_number, size=(10, 5), narrow=(4.6, 6.4), **controls | own)
