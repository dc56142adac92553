"""How many numbers of a mini-batch share a mean: after a linear layer and after a convolution, on one GPU or on two."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text as Words

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import subplots
from blocklab_course.panel.palette import GROUPS, INK, PAPER, STILL

MOST = 6  # images
CHANNELS, SIDE = 3, 4  # of the tensors drawn; the maps are SIDE × SIDE
WIDE, HIGH = 1.3, 1.3  # from image to image and from channel to channel; a map is 1 × 1

LINEAR = Text(en="after a linear layer: (N, C)", zh="线性层之后：(N, C)")
CONVOLUTION = Text(en="after a convolution: (N, C, H, W)", zh="卷积之后：(N, C, H, W)")
IMAGE = Text(en="image {}", zh="图 {}")
CHANNEL = Text(en="channel {}", zh="通道 {}")
ONE = Text(
    en="Batch size {n}: in channel 1, m = {n} numbers share a mean after the linear layer, and m = {n} · 4 · 4 = {m} "
    "after the convolution.",
    zh="批量大小为 {n}：通道 1 里，线性层之后有 m = {n} 个数共用一个均值，卷积之后有 m = {n} × 4 × 4 = {m} 个。",
)
TWO = Text(
    en="Batch size {n} on two GPUs: each has {each} of the images, so m = {each} after the linear layer, and "
    "m = {each} · 4 · 4 = {m} after the convolution.",
    zh="批量大小为 {n}，两块 GPU：每块有 {each} 张图，所以线性层之后 m = {each}，卷积之后 m = {each} × 4 × 4 = {m}。",
)


def shared_mean(figure: Figure) -> Callable[..., str]:
    """A column for each image and a row for each channel; in the first channel, a colour for each group.

    update(images, two): how many images the mini-batch holds, and whether two GPUs share them.
    """
    left, right = subplots(
        figure,
        2,
        wide={"left": 0.08, "right": 0.995, "bottom": 0.1, "top": 0.88, "wspace": 0.14},
        narrow={"left": 0.18, "right": 0.99, "bottom": 0.06, "top": 0.93, "hspace": 0.4},
    )
    sides = [(1, *grid_axes(left, LINEAR)), (SIDE, *grid_axes(right, CONVOLUTION))]

    def update(images: int, two: bool) -> str:
        each = images // 2 if two else images
        for side, cells, names in sides:
            squares = [
                (square, GROUPS[image // each] if channel == 0 else STILL)
                for image in range(images)
                for channel in range(CHANNELS)
                for square in squares_of(image, channel, side)
            ]
            cells.set_verts([square for square, _ in squares])
            cells.set_facecolor([colour for _, colour in squares])
            for image, name in enumerate(names):
                name.set_text(f"GPU {image // each + 1}" if two else str(IMAGE.format(image + 1)))
                name.set_visible(image < images)
        return (TWO if two else ONE).format(n=images, each=each, m=each * SIDE**2)

    return update


def squares_of(image: int, channel: int, side: int) -> list[np.ndarray]:
    """The corners of the numbers that an image brings to a channel, side × side of them; one alone is drawn smaller."""
    size = 1 / max(side, 2)
    low = np.array([image * WIDE + (1 - side * size) / 2, -channel * HIGH + (1 - side * size) / 2])
    corners = size * np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    return [low + size * np.array([x, y]) + corners for y in range(side) for x in range(side)]


def grid_axes(axes: Axes, title: Text) -> tuple[PolyCollection, list[Words]]:
    """Axes for the squares, an empty collection of them, and the words under each image."""
    axes.set(xlim=(-0.15, MOST * WIDE - 0.15), ylim=(-(CHANNELS - 1) * HIGH - 0.75, 1.15), xticks=[])
    axes.set_yticks(
        [0.5 - channel * HIGH for channel in range(CHANNELS)],
        [str(CHANNEL.format(channel + 1)) for channel in range(CHANNELS)],
    )
    axes.tick_params(axis="y", length=0)
    axes.set_title(str(title), size=11)
    style_axes(axes, edges=())
    cells = axes.add_collection(PolyCollection([], edgecolor=PAPER, linewidth=1, animated=True, zorder=2))
    low = -(CHANNELS - 1) * HIGH - 0.2
    names = [
        axes.text(image * WIDE + 0.5, low, "", size=9.5, color=INK, ha="center", va="top", animated=True)
        for image in range(MOST)
    ]
    return cells, names


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "images": Slider(2, MOST, 2, value=2, label=Text(en="batch size N", zh="批量大小 N")),
        "two": Toggle(False, label=Text(en="two GPUs", zh="两块 GPU")),
    }
    return Panel(shared_mean, size=(10, 2.8), narrow=(4.6, 4.8), **controls | own)
