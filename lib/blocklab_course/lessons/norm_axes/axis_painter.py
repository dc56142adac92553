"""Choose a layout and any set of axes: the values that share a mean get one colour, the means are counted, and
where torch has a layer for it the call is written out."""

from collections.abc import Callable
from itertools import zip_longest

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blocklab_course.i18n import Text
from blocklab_course.lessons.norm_axes.blocks import Blocks
from blocklab_course.panel import Choice, Panel, Toggle
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import GROUPS, INK, QUIET

SIZES = {"N": 2, "C": 4, "d": 4, "L": 3, "H": 3, "W": 3}

LAYOUTS = ("N d", "N d L", "N L d", "N C H W", "N H W C")
LAYOUT_CHOICES = {f"({layout.replace(' ', ', ')})": layout for layout in LAYOUTS}

CALLS = {
    ("N d", "N"): "F.batch_norm(x, None, None, training=True)",
    ("N d", "d"): "F.layer_norm(x, (4,))",
    ("N d", "N d"): "F.layer_norm(x, (2, 4))",
    ("N d L", "N L"): "F.batch_norm(x, None, None, training=True)",
    ("N d L", "d"): "F.layer_norm(x.mT, (4,)).mT",
    ("N d L", "L"): "F.instance_norm(x)",
    ("N d L", "d L"): "F.group_norm(x, 1)",
    ("N d L", "N d L"): "F.layer_norm(x, (2, 4, 3))",
    ("N L d", "N L"): "F.batch_norm(x.mT, None, None, training=True).mT",
    ("N L d", "d"): "F.layer_norm(x, (4,))",
    ("N L d", "L"): "F.instance_norm(x.mT).mT",
    ("N L d", "L d"): "F.layer_norm(x, (3, 4))",
    ("N L d", "N L d"): "F.layer_norm(x, (2, 3, 4))",
    ("N C H W", "N H W"): "F.batch_norm(x, None, None, training=True)",
    ("N C H W", "C"): "F.layer_norm(x.movedim(1, -1), (4,)).movedim(-1, 1)",
    ("N C H W", "H W"): "F.instance_norm(x)",
    ("N C H W", "W"): "F.layer_norm(x, (3,))",
    ("N C H W", "C H W"): "F.group_norm(x, 1)",
    ("N C H W", "N C H W"): "F.layer_norm(x, (2, 4, 3, 3))",
    ("N H W C", "N H W"): "F.batch_norm(x.movedim(-1, 1), None, None, training=True).movedim(1, -1)",
    ("N H W C", "C"): "F.layer_norm(x, (4,))",
    ("N H W C", "H W"): "F.instance_norm(x.movedim(-1, 1)).movedim(1, -1)",
    ("N H W C", "W C"): "F.layer_norm(x, (3, 4))",
    ("N H W C", "H W C"): "F.layer_norm(x, (3, 3, 4))",
    ("N H W C", "N H W C"): "F.layer_norm(x, (2, 3, 3, 4))",
}
"""By layout and the axes averaged over, in the layout's order: what one would type with torch."""

COUNTED = Text(
    en="Averaging {layout} {over}. Means: {means}, numbers in each: {each}. In torch: {call}",
    zh="{layout}，{over}：共 {means} 个均值，每个由 {each} 个数得到。对应的 torch 写法：{call}",
)
OVER = Text(en="over {axes}", zh="沿 {axes} 求均值")
OVER_NONE = Text(en="over no axis", zh="不沿任何轴求均值")
LEGENDS = {
    2: Text(en="N: rows · d: columns", zh="N：行 · d：列"),
    3: Text(en="N: side by side · L: rows · d: columns", zh="N：左右并排 · L：行 · d：列"),
    4: Text(en="N: side by side · C: stacked · H: rows · W: columns", zh="N：左右并排 · C：上下叠放 · H：行 · W：列"),
}
NO_LAYER = Text(en="no layer of its own", zh="没有")


def axis_painter(figure: Figure) -> Callable[..., str]:
    """The tensor as blocks, coloured and numbered by the mean that each value belongs to.

    update(layout, axis_0, axis_1, axis_2, axis_3): one of LAYOUTS, and which axes to average over; an axis that the
    layout does not have is ignored.
    """
    axes = add_axes(figure, wide=(0.0, 0.0, 1.0, 0.88), narrow=(0.0, 0.0, 1.0, 0.7))
    call = figure.text(0.02, 0.94, "", family="monospace", size=11, color=INK, va="center", animated=True)
    place = {"size": 10, "ha": "right", "va": "center", "animated": True}
    top = 0.88 if is_narrow(figure) else 0.94
    legend = [figure.text(0.98, top - 0.06 * i, "", **place) for i in range(4)]
    drawn: list[tuple[str, Blocks]] = []

    def update(layout: str, axis_0: bool, axis_1: bool, axis_2: bool, axis_3: bool) -> str:
        letters = layout.split()
        if not drawn or drawn[0][0] != layout:
            drawn[:] = [(layout, fresh_blocks(axes, letters))]
        chosen = [axis for axis, on in enumerate((axis_0, axis_1, axis_2, axis_3)) if on and axis < len(letters)]
        words = str(LEGENDS[len(letters)]).split(" · ")
        for text, word in zip_longest(legend, words):
            text.set_visible(word is not None)
            if word is not None:
                axis = letters.index(word[0])
                text.set(text=word, color=INK if axis in chosen else QUIET)
                pickable(text, f"axis_{axis}", [axis not in chosen])
        groups = group_numbers([SIZES[letter] for letter in letters], chosen)
        shown = np.transpose(groups, [letters.index(letter) for letter in drawing_order(letters)]).ravel()
        drawn[0][1].paint([GROUPS[g % len(GROUPS)] for g in shown], None, [str(g) for g in shown])

        averaged = " ".join(letters[axis] for axis in chosen)
        typed = CALLS.get((layout, averaged), f"standardize(x, {tuple(chosen)})") if chosen else ""
        call.set_text(typed)
        return COUNTED.format(
            layout=f"({', '.join(letters)})",
            over=OVER.format(axes=", ".join(letters[axis] for axis in chosen)) if chosen else OVER_NONE,
            means=groups.max() + 1,
            each=groups.size // (groups.max() + 1),
            call=typed if (layout, averaged) in CALLS else NO_LAYER,
        )

    return update


def group_numbers(shape: list[int], axes: list[int]) -> np.ndarray:
    """For each value of a tensor the number of its mean, when the mean is taken over `axes`."""
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    return np.broadcast_to(np.arange(np.prod(kept)).reshape(kept), shape)


def drawing_order(letters: list[str]) -> list[str]:
    """The letters as the blocks show them: samples, then channels as plates; for texts and tables a row per token."""
    return [letter for letter in ("NCHW" if "H" in letters else "NLd") if letter in letters]


def fresh_blocks(axes: Axes, letters: list[str]) -> Blocks:
    """Blocks for a layout: its last letters are the rows and columns of a plate."""
    axes.clear()
    order = drawing_order(letters)
    sizes = [SIZES[letter] for letter in order]
    shape = {2: [1, 1, *sizes], 3: [sizes[0], 1, *sizes[1:]], 4: sizes}[len(sizes)]
    blocks = Blocks(axes, shape)
    left, low, right, high = blocks.extent
    axes.set(xlim=(left - 1.6, right + 0.6), ylim=(low - 0.9, high + 0.3))
    return blocks


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "layout": Choice(LAYOUT_CHOICES, "N C H W", label=Text(en="layout", zh="布局")),
        "axis_0": Toggle(True, label=Text(en="axis 0", zh="轴 0")),
        "axis_1": Toggle(False, label=Text(en="axis 1", zh="轴 1")),
        "axis_2": Toggle(True, label=Text(en="axis 2", zh="轴 2")),
        "axis_3": Toggle(True, label=Text(en="axis 3", zh="轴 3")),
    }
    return Panel(axis_painter, size=(10, 4.6), narrow=(4.6, 4.6), **controls | own)
