"""Five places for the norms of a layer, one at a time: likeness of tokens, size and gradients, by depth."""

from collections.abc import Callable

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow, subplots
from blocklab_course.panel.palette import INK, MOVED, OTHER

from .random_stacks import DEEPEST, DEPTHS
from .recorded_stacks import KINDS, recorded
from .two_paths import paths_and_parts

OPENING = 12
BESIDE = "pre"  # always drawn, to compare with

NAMES = {
    "post": Text(en="post-norm", zh="后置归一化"),
    "pre": Text(en="pre-norm", zh="前置归一化"),
    "output": Text(en="output norm", zh="输出归一化"),
    "sandwich": Text(en="sandwich", zh="夹心式"),
    "parallel": Text(en="parallel", zh="并列式"),
}
EQUATIONS = {
    "post": "N(x + f(x))",
    "pre": "x + f(N(x))",
    "output": "x + N(f(x))",
    "sandwich": "x + N(f(N(x)))",
    "parallel": "x + f₁(N(x)) + f₂(N(x))",
}
GUESS = Prediction(
    {
        Text(en="post-norm's", zh="后置归一化"): "post",
        Text(en="pre-norm's", zh="前置归一化"): "pre",
        Text(en="output norm's", zh="输出归一化"): "output",
        Text(en="the sandwich's", zh="夹心式"): "sandwich",
        Text(en="the parallel layers'", zh="并列式"): "parallel",
    },
    right="output",
    question=Text(
        en="Of 48 layers, the first gets the largest gradient in which order?",
        zh="一共 48 层，哪种顺序的第一层梯度最大？",
    ),
    explanation=Text(
        en="Output norm's: choose output and drag depth to 48. It is 7.0, and pre-norm's 0.88; with QK-norm it is 1.1.",
        zh="是输出归一化：选“输出归一化”，把“深度”拖到 48，梯度是 7.0，前置归一化的是 0.88；"
        "再勾选“注意力里加 QK-norm”，就只有 1.1。",
    ),
)
"""Whose first layer gets the largest gradient in a stack of 48."""

LAYER = Text(en="layer", zh="第几层")
TITLES = {
    "cosine": Text(en="mean cosine after each layer", zh="各层之后词元间余弦的均值"),
    "rms": Text(en="RMS of the tokens after each layer", zh="各层之后词元的均方根"),
    "gradient": Text(en="size of W₂'s gradient in each layer", zh="各层 W₂ 梯度的大小"),
}
CHOSEN = Text(en="the order chosen", zh="选中的顺序")
COMPARED = Text(en="pre-norm, to compare", zh="前置归一化，用来比较")
HEADING = Text(en="{name}:  {equation}", zh="{name}：{equation}")
WITH_QK = Text(en="{heading}, QK-norm inside", zh="{heading}，注意力里加 QK-norm")

SEEN = Text(
    en="{depth} layers, {name}: after the last RMS {rms:.1f}, mean cosine {cosine:.2f}; gradient in the first layer "
    "{first:.2f}, in the last {last:.2f}. {so}",
    zh="{depth} 层，{name}：最后一层之后，均方根为 {rms:.1f}，余弦的均值为 {cosine:.2f}；"
    "梯度在第一层为 {first:.2f}，在最后一层为 {last:.2f}。{so}",
)
ALIKE = Text(en="The tokens have become nearly the same.", zh="词元变得几乎一样了。")
STEEP = Text(
    en="The first layer's gradient is {times:.0f} times pre-norm's.", zh="第一层的梯度是前置归一化的 {times:.0f} 倍。"
)
GROWN = Text(
    en="The stream has grown, and the last layer's gradient has shrunk.",
    zh="残差流变大了，最后一层的梯度变小了。",
)
MILD = Text(en="Go deeper.", zh="还可以再深一些。")


def conclusion(rms: float, cosine: float, first: float, compared: float) -> str:
    """What stands out most: alike tokens, then a first gradient beyond that of pre-norm, then a stream that grew."""
    if cosine > 0.99:
        return str(ALIKE)
    if first > 2 * compared:
        return STEEP.format(times=first / compared)
    return str(GROWN if rms > 3 else MILD)


def where_norms_go(figure: Figure) -> Callable[..., str]:
    """Layer by layer: the cosine, the stream's RMS, the gradient of W2; a line is the mean of the seeds, a band all.

    update(place, depth, qk_norm): a place of the norms, one of DEPTHS, and whether queries and keys have one as well.
    """
    grid = subplots(
        figure,
        3,
        wide={"left": 0.05, "right": 0.99, "bottom": 0.12, "top": 0.66, "wspace": 0.18},
        narrow={"left": 0.12, "right": 0.97, "bottom": 0.06, "top": 0.76, "hspace": 0.5},
    )
    for axes, title in zip(grid, TITLES.values(), strict=True):
        axes.set(xlim=(0, DEEPEST + 2), xticks=[1, *DEPTHS[1:]], xlabel=str(LAYER))
        axes.set_title(str(title), size=11, color=INK)
        style_axes(axes, grid="both")
    likeness, size, slope = grid
    likeness.set(ylim=(0, 1.03))
    size.set(ylim=(0, 11))
    slope.set(yscale="log", ylim=(0.08, 15))
    slope.set_yticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
    slope.minorticks_off()
    table, stands = recorded(), {}
    compared = [Curve(axes, COMPARED, OTHER, "s--") for axes in grid]
    chosen = [Curve(axes, CHOSEN, MOVED, "o-") for axes in grid]
    for curve, kind in zip(chosen, KINDS, strict=True):
        draggable(curve.dot, "depth", lambda depth, kind=kind: (depth, table[*stands["order"], depth][kind][0, -1]))
    narrow = is_narrow(figure)
    place, size = ((0.03, 0.85), 11) if narrow else ((0.42, 0.92), 13)
    heading = figure.text(*place, "", size=size, color=INK, animated=True)
    draw = paths_and_parts(add_axes(figure, wide=(0.03, 0.77, 0.36, 0.22), narrow=(0.1, 0.88, 0.8, 0.12)))
    handles, where = [compared[0].dot, chosen[0].dot], (0.01, 0.8) if narrow else (0.41, 0.79)
    legend = figure.legend(handles=handles, loc=where, ncols=2, frameon=False, labelcolor=INK)
    to_compare = legend.legend_handles[0], legend.get_texts()[0]
    for artist in to_compare:
        artist.set_animated(True)

    def update(place: str, depth: int, qk_norm: bool) -> str:
        stands["order"] = place, qk_norm
        seen, beside = table[place, qk_norm, depth], table[BESIDE, False, depth]
        another = (place, qk_norm) != (BESIDE, False)  # pre-norm itself is not drawn twice
        for kind, curve, other in zip(KINDS, chosen, compared, strict=True):
            curve.show(*seen[kind])
            other.show(*beside[kind])
            for artist in other.artists:
                artist.set_visible(another)
        for artist in to_compare:
            artist.set_visible(another)
        draw(place)
        text = HEADING.format(name=NAMES[place], equation=EQUATIONS[place])
        heading.set_text(WITH_QK.format(heading=text) if qk_norm else text)
        [first, *_, last], rms, cosine = seen["gradient"][0], seen["rms"][0, -1], seen["cosine"][0, -1]
        so = conclusion(rms, cosine, first, beside["gradient"][0, 0])
        return SEEN.format(depth=depth, name=NAMES[place], rms=rms, cosine=cosine, first=first, last=last, so=so)

    return update


class Curve:
    """The mean over the seeds as a line, all of them as a band, and a large dot at the last layer."""

    def __init__(self, axes: Axes, name: Text, colour: str, form: str):
        self.band = axes.fill_between([1, 2], [1, 1], [1, 1], color=colour, alpha=0.25, linewidth=0, animated=True)
        (self.line,) = axes.plot([], [], form[1:], color=colour, linewidth=2, animated=True, zorder=3)
        (self.dot,) = axes.plot([], [], form, color=colour, ms=9, label=str(name), animated=True, zorder=4)

    @property
    def artists(self) -> tuple[Artist, ...]:
        return self.band, self.line, self.dot

    def show(self, mean: np.ndarray, below: np.ndarray, above: np.ndarray) -> None:
        layers = np.arange(1, len(mean) + 1)
        self.band.set_verts([np.column_stack([[*layers, *layers[::-1]], [*above, *below[::-1]]])])
        self.line.set_data(layers, mean)
        self.dot.set_data([layers[-1]], [mean[-1]])


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "place": Choice({name: place for place, name in NAMES.items()}, "pre", label=Text(en="order", zh="顺序")),
        "depth": Slider(DEPTHS[0], DEEPEST, 2, value=OPENING, label=Text(en="depth", zh="深度"), log=True),
        "qk_norm": Toggle(False, label=Text(en="QK-norm inside attention", zh="注意力里加 QK-norm")),
    }
    return Panel(where_norms_go, size=(10, 4.9), narrow=(4.6, 8.6), **controls | own)
