"""What `BatchNorm1d` does with an (N, L, d) tensor: refuse it, or, when L = d, quietly average over the wrong axis."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import nn

from blocklab_course.i18n import Text
from blocklab_course.lessons.norm_axes.blocks import Blocks
from blocklab_course.panel import Panel, Prediction, Slider, Toggle
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, POKED, QUIET, STILL

SAMPLES = 2
PUSH = 10.0

REFUSED = Text(
    en="L = {length}, d = {width}: torch refuses. “{error}”",
    zh="L = {length}，d = {width}：torch 报错：“{error}”。",
)
MIXED = Text(
    en="L = {length}, d = {width}: no error, yet the {moved} outputs that change belong to {features} features.",
    zh="L = {length}，d = {width}：没有报错，但改变的 {moved} 个输出分属 {features} 个特征。",
)
RIGHT = Text(
    en="L = {length}, d = {width}: {moved} outputs change, all of one feature, at every position of both samples.",
    zh="L = {length}，d = {width}：{moved} 个输出改变，都属于同一个特征，遍及两个样本的所有位置。",
)
GUESS = Prediction(
    {
        Text(en="feature 1 of all tokens", zh="所有词元的特征 1"): "feature",
        Text(en="token 1 of that sentence", zh="这个句子的词元 1"): "token",
        Text(en="token 1 of both sentences", zh="两个句子的词元 1"): "position",
        Text(en="all blocks", zh="所有方块"): "all",
    },
    right="position",
    question=Text(
        en="Feature 1 of token 1 is pushed, and L and d are both 4. Which blocks rise with it?",
        zh="推一下词元 1 的特征 1，L 和 d 都是 4。哪些方块会跟着升起来？",
    ),
    explanation=Text(
        en="the layer treats positions as features: set L to 4, and the row of token 1 rises in both sentences.",
        zh="这一层把位置当成了特征：把 L 调到 4，两个句子里词元 1 的那一行都会升起来。",
    ),
)
"""Which blocks rise with the pushed one, where L = d = 4 and nothing is refused."""

NO_OUTPUT = Text(en="error: no output", zh="报错，没有输出")
READING = Text(en="the number on a block says which feature it is", zh="方块上的数字是它的特征编号")


def layout_trap(figure: Figure) -> Callable[..., str]:
    """The tokens of two sentences as rows of blocks, one of whose numbers is pushed by 10.

    update(length, width, transpose): L, d, and whether (N, L, d) is turned into (N, d, L) for the layer and back.
    """
    axes = add_axes(figure, wide=(0.0, 0.0, 1.0, 0.86), narrow=(0.0, 0.0, 1.0, 0.75))
    call = figure.text(0.02, 0.94, "", family="monospace", size=11, color=INK, va="center", animated=True)
    error = figure.text(
        0.02, 0.78 if is_narrow(figure) else 0.82, str(NO_OUTPUT), size=13, color=POKED, va="center", animated=True
    )
    below = {"x": 0.02, "y": 0.87, "ha": "left"} if is_narrow(figure) else {"x": 0.98, "y": 0.94, "ha": "right"}
    figure.text(**below, s=str(READING), size=10, color=QUIET, va="center")
    drawn: list[Blocks] = []

    def update(length: int, width: int, transpose: bool) -> str:
        shape = (SAMPLES, 1, length, width)
        if not drawn or drawn[0].shape != shape:
            drawn[:] = [two_sentences(axes, shape)]
        x = torch.sin(0.37 * torch.arange(SAMPLES * length * width, dtype=torch.float64))
        x = x.view(SAMPLES, length, width)
        pushed = x.clone()
        cell = width + 1  # feature 1 of token 1
        pushed.view(-1)[cell] += PUSH
        call.set_text("BatchNorm1d(d)(x.mT).mT" if transpose else "BatchNorm1d(d)(x)")
        pickable(call, "transpose", [not transpose])

        layer = nn.BatchNorm1d(width, dtype=torch.float64)
        sizes = {"length": length, "width": width}
        feature = np.arange(x.numel()) % width
        try:
            old, new = ((layer(t.mT).mT if transpose else layer(t)).detach().flatten() for t in (x, pushed))
        except RuntimeError as refused:
            error.set_visible(True)
            paint(drawn[0], np.zeros(x.numel(), bool), cell, feature)
            return REFUSED.format(error=refused, **sizes)
        error.set_visible(False)
        moved = (old != new).numpy()
        paint(drawn[0], moved, cell, feature)
        features = len(set(feature[moved]))
        return (RIGHT if features == 1 else MIXED).format(moved=moved.sum(), features=features, **sizes)

    return update


def two_sentences(axes: Axes, shape: tuple[int, int, int, int]) -> Blocks:
    """Fresh blocks, a tower per sentence and a row per token, with the axes named."""
    axes.clear()
    blocks = Blocks(axes, shape)
    left, low, right, high = blocks.extent
    # The picture is far wider than high: let the height decide the scale, whatever L and d are.
    axes.set(xlim=(left - 1.6, right + 0.6), ylim=(low - 0.9, high + 0.3))
    _, _, length, width = shape
    for row in range(length):
        x, y = blocks.top(row * width)
        axes.text(x - 0.75, y, f"l = {row}", ha="right", va="center", size=10, color=INK)
    for sample in range(SAMPLES):
        first = sample * length * width
        middle = (blocks.top(first) + blocks.top(first + width - 1)) / 2
        axes.text(middle[0], low - 0.3, f"n = {sample}", ha="center", va="top", size=10, color=INK)
    return blocks


def paint(blocks: Blocks, moved: np.ndarray, cell: int, feature: np.ndarray) -> None:
    """Raise and colour what moved, mark the pushed block, print each block's feature on it."""
    tints = np.where(moved, MOVED, STILL)
    tints[cell] = POKED
    blocks.paint(tints, moved, [str(c) for c in feature])


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "length": Slider(2, 5, 1, value=3, label=Text(en="length L", zh="长度 L")),
        "width": Slider(2, 5, 1, value=4, label=Text(en="features d", zh="特征数 d")),
        "transpose": Toggle(False, label=Text(en="transpose first", zh="先转置")),
    }
    return Panel(layout_trap, size=(10, 3.6), narrow=(4.6, 3.8), **controls | own)
