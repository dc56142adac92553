"""LayerNorm and RMSNorm as the reads and writes they need, laid end to end."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from blocklab_course.benchmarking import traffic
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import add_axes
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET

LONGEST = {"forward": 12, "backward": 40}  # numbers that there is room for, each read or written once
MOST_BLOCKS, MOST_STEPS = 34, 21
HALF = 0.34  # of a bar's height

GUESS = Prediction(
    {
        Text(en="no faster", zh="一样快"): 1.0,
        Text(en="1.2 times", zh="1.2 倍"): 1.2,
        Text(en="1.43 times", zh="1.43 倍"): 1.43,
        Text(en="2 times", zh="2 倍"): 2.0,
    },
    right=1.0,
    question=Text(
        en="With one kernel for each, how much faster than LayerNorm is RMSNorm by bytes?",
        zh="各用一个核函数，按字节算，RMSNorm 比层归一化快多少？",
    ),
    explanation=Text(
        en="RMSNorm is no faster: switch to one kernel, and both bars are 4 bytes long.",
        zh="RMSNorm 一样快，并没有更快：切换到“一个核函数”，两根横条都是 4 字节。",
    ),
)
"""How many times as fast as LayerNorm RMSNorm is by bytes, each of them in one kernel."""

WAYS = {Text(en="step by step", zh="一步一步"): "eager", Text(en="one kernel", zh="一个核函数"): "fused"}
DIRECTIONS = {Text(en="forward", zh="前向"): "forward", Text(en="backward", zh="反向"): "backward"}
DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}
"""For a panel's choices: step by step or fused, which pass, and which numbers."""

NORMS = (("LayerNorm", "layer_norm", 1.4, MOVED), ("RMSNorm", "rms_norm", 0.0, OTHER))

BYTES = Text(en="bytes moved per number of the matrix", zh="矩阵里的每个数要传的字节数")
READ = Text(en="read", zh="读")
WRITTEN = Text(en="written", zh="写")
TOTAL = Text(en="{count} bytes", zh="{count} 字节")
SEEN = Text(
    en="LayerNorm {ln} bytes a number, RMSNorm {rms} ({way}, {direction}, {dtype}). By bytes RMSNorm is {ratio:.2f} "
    "times as fast.",
    zh="每个数，LayerNorm 传 {ln} 字节，RMSNorm 传 {rms} 字节（{way}，{direction}，{dtype}）。"
    "按字节算，RMSNorm 的速度是 LayerNorm 的 {ratio:.2f} 倍。",
)


def guess_then_bytes(figure: Figure) -> Callable[..., str]:
    """Two bars, one block for every read and every write of the matrix.

    update(way, direction, dtype): values of WAYS, DIRECTIONS and DTYPES.
    """
    axes = add_axes(figure, wide=(0.09, 0.15, 0.895, 0.75), narrow=(0.21, 0.15, 0.75, 0.72))
    axes.set(ylim=(-0.55, 2.15), xlabel=str(BYTES))
    axes.set_yticks([y for *_, y, _ in NORMS], [name for name, *_ in NORMS])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 4, 10]))
    style_axes(axes, edges=("bottom",), grid="x")
    looks = ({"facecolor": QUIET}, {"facecolor": "white", "edgecolor": QUIET, "hatch": "////"})
    handles = [Patch(label=str(label), **look) for label, look in zip((READ, WRITTEN), looks, strict=True)]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1, 0.98), ncols=2, frameon=False, labelcolor=INK)
    bars = [Bar(axes, op, y, colour) for _, op, y, colour in NORMS]

    def update(way: str, direction: str, dtype: str) -> str:
        longest = LONGEST[direction] * DTYPES[dtype].itemsize
        if axes.get_xlim()[1] != longest:
            axes.set_xlim(0, longest)
        ln, rms = (bar.show(way, direction, dtype) for bar in bars)
        said = {"way": name_of(way, WAYS), "direction": name_of(direction, DIRECTIONS), "dtype": dtype}
        return SEEN.format(ln=ln, rms=rms, ratio=ln / rms, **said)

    return update


def name_of(value: str, choices: dict[Text, str]) -> Text:
    """What a choice calls a value."""
    return next(name for name, each in choices.items() if each == value)


class Bar:
    """The reads and writes of one norm, end to end, and a dark line where a kernel begins."""

    def __init__(self, axes: Axes, op: str, y: float, colour: str):
        self.op, self.y = op, y
        read = {"facecolor": colour, "edgecolor": "white"}
        written = {"facecolor": "white", "edgecolor": colour, "hatch": "////"}
        self.blocks = {
            look is written: [
                axes.add_patch(Rectangle((0, y - HALF), 0, 2 * HALF, animated=True, visible=False, **look))
                for _ in range(MOST_BLOCKS)
            ]
            for look in (read, written)
        }
        (self.starts,) = axes.plot([], [], color=INK, linewidth=1.8, solid_capstyle="butt", animated=True)
        text = {"size": 10, "color": INK, "animated": True}
        self.labels = [axes.text(0, y + HALF + 0.07, "", ha="center", va="bottom", **text) for _ in range(MOST_STEPS)]
        self.total = axes.text(0, y, "", va="center", **text)

    def show(self, way: str, direction: str, dtype: str) -> int:
        """Draw one way, direction and type, and return how many bytes a number it moves."""
        size = DTYPES[dtype].itemsize
        steps = [step for step in traffic(self.op, direction, way) if "M" in step.reads + step.writes]
        used = {False: 0, True: 0}
        at, starts = 0, [0]
        for label in self.labels:
            label.set_text("")
        for step, label in zip(steps, self.labels, strict=False):
            for written, letters in ((False, step.reads), (True, step.writes)):
                for _ in range(letters.count("M")):
                    self.blocks[written][used[written]].set(x=at, width=size, visible=True)
                    used[written] += 1
                    at += size
            label.set(x=(starts[-1] + at) / 2, text=step.sign)
            starts.append(at)
        for written, blocks in self.blocks.items():
            for block in blocks[used[written] :]:
                block.set_visible(False)
        xs = np.repeat(np.array(starts, float), 3)
        ys = np.tile([self.y - HALF - 0.06, self.y + HALF + 0.06, np.nan], len(starts))
        self.starts.set_data(xs, ys)
        self.total.set(x=at + 0.012 * LONGEST[direction] * size, text=TOTAL.format(count=at))
        return at


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "way": Choice(WAYS, "eager", label=Text(en="kernels", zh="核函数")),
        "direction": Choice(DIRECTIONS, "forward", label=Text(en="pass", zh="方向")),
        "dtype": Choice({name: name for name in DTYPES}, "bfloat16", label=Text(en="numbers", zh="数据类型")),
    }
    return Panel(guess_then_bytes, size=(10, 3.0), narrow=(4.6, 3.4), **controls | own)
