"""LayerNorm and RMSNorm as the reads and writes they need, laid end to end, and beside them what was measured."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from blocklab.language import Text
from blocklab.pictures.guess import options, you_said
from blocklab.pictures.palette import INK, MOVED, OTHER, QUIET, STILL
from blocklab.timing import traffic
from blocklab.timing.measured_bytes import Measured

LONGEST = {"forward": 45, "backward": 150}  # bytes that there is room for
MOST_BLOCKS, MOST_STEPS = 34, 21
HALF = 0.34  # of a bar's height

GUESSES = options(
    Text(en="no faster", zh="一样快"),
    Text(en="1.2 times", zh="1.2 倍"),
    Text(en="1.43 times", zh="1.43 倍"),
    Text(en="2 times", zh="2 倍"),
)
"""For a panel's choice: how many times as fast as LayerNorm RMSNorm is, each of them in one kernel."""

WAYS = {Text(en="step by step", zh="一步一步"): "eager_", Text(en="one kernel", zh="一个核函数"): ""}
DIRECTIONS = {Text(en="forward", zh="前向"): "forward", Text(en="backward", zh="反向"): "backward"}
DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}
"""For a panel's choices: step by step or fused, which pass, and which numbers."""

NORMS = (("LayerNorm", "layer_norm", 2.0, MOVED), ("RMSNorm", "rms_norm", 0.0, OTHER))
SHORT = {  # for what a step of the forward pass computes
    "mean of x": "μ",
    "m = variance of x": "σ²",
    "c = x - mean": "− μ",
    "h weight": "× γ",
    "y = h weight + bias": "+ β",
    "x²": "x²",
    "m = mean of x²": "RMS²",
    "y = h weight": "× γ",
}
DIVIDED = {"layer_norm": "÷ σ", "rms_norm": "÷ RMS"}
ARMS = {"eager_": ("eager",), "": ("torch", "fused")}
ARM_NAMES = {"eager": "", "torch": "torch", "fused": "blocklab"}

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
RECORDED = Text(en=" Diamonds: measured on {device}.", zh="菱形：在 {device} 上测得。")
YOURS = Text(en=" Circles: your {device}.", zh="圆点：你的 {device}。")
UNMEASURED = Text(en=" Nothing here is measured.", zh="这里没有实测的数。")


def guess_then_bytes(recorded: Measured | None = None, yours: Measured | None = None) -> Callable:
    """A picture of the reads and writes per number of a matrix, with times from up to two devices as marks below."""

    def picture(figure: Figure) -> Callable[..., str]:
        """update(guess, way, direction, dtype): the prediction or None, and values of WAYS, DIRECTIONS and DTYPES."""
        axes = figure.add_axes((0.09, 0.15, 0.895, 0.75))
        axes.set(ylim=(-0.95, 2.75), xlabel=str(BYTES))
        axes.set_yticks([y for *_, y, _ in NORMS], [name for name, *_ in NORMS])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=STILL)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        looks = ({"facecolor": QUIET}, {"facecolor": "white", "edgecolor": QUIET, "hatch": "////"})
        handles = [Patch(label=str(label), **look) for label, look in zip((READ, WRITTEN), looks, strict=True)]
        axes.legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1, 0.98), ncols=2, frameon=False, labelcolor=INK
        )
        bars = [Bar(axes, op, y, colour, (recorded, yours)) for _, op, y, colour in NORMS]
        sources = "".join(
            sentence.format(device=each.device) for sentence, each in ((RECORDED, recorded), (YOURS, yours)) if each
        )

        def update(guess: Text | None, way: str, direction: str, dtype: str) -> str:
            if axes.get_xlim()[1] != LONGEST[direction]:
                axes.set_xlim(0, LONGEST[direction])
            ln, rms = (bar.show(way, direction, dtype) for bar in bars)
            said = {"way": name_of(way, WAYS), "direction": name_of(direction, DIRECTIONS), "dtype": dtype}
            seen = SEEN.format(ln=ln, rms=rms, ratio=ln / rms, **said)
            return seen + (sources or str(UNMEASURED)) + you_said(guess)

        return update

    return picture


def name_of(value: str, choices: dict[Text, str]) -> Text:
    """What a choice calls a value."""
    return next(name for name, each in choices.items() if each == value)


class Bar:
    """The reads and writes of one norm, end to end, a dark line where a kernel begins, and marks for measured times."""

    def __init__(self, axes: Axes, op: str, y: float, colour: str, measured: tuple[Measured | None, ...]):
        self.op, self.y, self.measured = op, y, measured
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
        self.marks = [
            [axes.plot([], [], mark, color=INK, markersize=8, clip_on=False, animated=True)[0] for mark in "Do"]
            for _ in range(2)
        ]
        self.arms = [axes.text(0, 0, "", size=9, color=INK, va="center", animated=True) for _ in range(2)]

    def show(self, way: str, direction: str, dtype: str) -> int:
        """Draw one way, direction and type, and return how many bytes a number it moves."""
        size = DTYPES[dtype].itemsize
        steps = [step for step in traffic(way + self.op, direction).steps if "M" in step.reads + step.writes]
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
            name = DIVIDED[self.op] if step.formula == "h = c / d" else SHORT.get(step.formula, "")
            label.set(x=(starts[-1] + at) / 2, text=name if direction == "forward" else "")
            starts.append(at)
        for written, blocks in self.blocks.items():
            for block in blocks[used[written] :]:
                block.set_visible(False)
        xs = np.repeat(np.array(starts, float), 3)
        ys = np.tile([self.y - HALF - 0.06, self.y + HALF + 0.06, np.nan], len(starts))
        self.starts.set_data(xs, ys)
        self.total.set(x=at + 0.012 * LONGEST[direction], text=TOTAL.format(count=at))
        self._mark(way, direction, dtype)
        return at

    def _mark(self, way: str, direction: str, dtype: str) -> None:
        for i, (marks, name) in enumerate(zip(self.marks, self.arms, strict=True)):
            arm = ARMS[way][i] if i < len(ARMS[way]) else None
            found = [measured and measured.bytes.get((self.op, arm, direction, dtype)) for measured in self.measured]
            ends = [None if bytes_ is None else min(bytes_, LONGEST[direction]) for bytes_ in found]
            y = self.y - HALF - 0.2 - 0.24 * i
            for mark, end in zip(marks, ends, strict=True):
                mark.set_data([end or 0], [y])
                mark.set_visible(end is not None)
            right = max((end for end in ends if end is not None), default=None)
            name.set_visible(right is not None)
            if right is not None:
                name.set(x=right + 0.012 * LONGEST[direction], y=y, text=ARM_NAMES[arm])
