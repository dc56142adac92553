"""LayerNorm of s·[1, 2, 3, 4]: the slider on s does nothing, until s is so small that ε takes over."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.figure import Figure

from blocklab.normalization import layer_norm
from blocklab_course.i18n import Text
from blocklab_course.panel import Prediction
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import subplots
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, QUIET

ABOVE = 6  # times as high as its dot stands a number
ROW = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)

GUESS = Prediction(
    {
        Text(en="they grow", zh="变长"): "grow",
        Text(en="they shrink", zh="变短"): "shrink",
        Text(en="nothing", zh="不变"): "stay",
    },
    right="stay",
    question=Text(
        en="When s grows from 1 to 1000000, what happens to the orange bars?",
        zh="s 从 1 增大到 1000000，橙色的柱子会怎样？",
    ),
    explanation=Text(
        en="Nothing happens to them: drag s to 1000000, and the last output is still 1.342.",
        zh="柱子不变：把 s 拖到 1000000，最后一个输出仍然是 1.342。",
    ),
)
"""What the outputs do while s grows from 1 to 1000000."""

TITLE_IN = Text(en="in: s times 1, 2, 3, 4", zh="输入：s 乘以 1、2、3、4")
PLACE = Text(en="which of the four numbers", zh="第几个数")
TITLE_OUT = Text(en="out: LayerNorm", zh="输出：层归一化")
SEEN = Text(
    en="s = {scale}: the inputs are {scale} times 1, 2, 3, 4, the last output is {last:.3f}.",
    zh="s = {scale}：输入是 1、2、3、4 的 {scale} 倍，最后一个输出是 {last:.3f}。",
)


def idle_slider(figure: Figure) -> Callable[..., str]:
    """Left the inputs as dots on a logarithmic axis, right the outputs as bars, with dashes where they begin.

    update(scale): s.
    """
    inputs, outputs = subplots(
        figure,
        2,
        wide={"left": 0.08, "right": 0.98, "bottom": 0.17, "top": 0.88, "wspace": 0.2},
        narrow={"left": 0.14, "right": 0.98, "bottom": 0.1, "top": 0.94, "hspace": 0.45},
    )
    place = np.arange(1, 5)
    inputs.set(yscale="log", xlim=(0.4, 4.9), ylim=(3e-7, 5e8), xticks=place, title=str(TITLE_IN))
    outputs.set(ylim=(-1.6, 1.6), xticks=place, title=str(TITLE_OUT))
    for axes in (inputs, outputs):
        style_axes(axes, grid="y")
        axes.set_xlabel(str(PLACE))
    outputs.axhline(0, color=INK, linewidth=0.8)
    before = layer_norm(ROW, (4,)).numpy()
    outputs.hlines(before, place - 0.42, place + 0.42, color=QUIET, linestyle="--")
    given = [
        inputs.plot(x, 1.0, "o", color=QUIET, markersize=11, markeredgecolor=INK, animated=True, zorder=3)[0]
        for x in place
    ]
    sizes = [inputs.text(x, 1.0, "", ha="center", va="bottom", color=INK, animated=True) for x in place]
    made = outputs.bar(place, before, 0.6, color=MOVED, edgecolor=INK, linewidth=0.6, animated=True, zorder=3)
    for dot, x, number in zip(given, place, ROW.tolist(), strict=True):
        draggable(dot, "scale", lambda scale, x=x, number=number: (x, scale * number))

    def update(scale: float) -> str:
        y = layer_norm(scale * ROW, (4,))
        for dot, size, number in zip(given, sizes, (scale * ROW).tolist(), strict=True):
            dot.set_ydata([number])
            size.set_y(ABOVE * number)
            size.set_text(short_number(number))
        for bar, height in zip(made, y, strict=True):
            bar.set_height(float(height))
        return SEEN.format(scale=short_number(scale), last=float(y[-1]))

    return update
